package domains_test

import (
	"context"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
)

// On the published judgements of Block Words the report says that full is better
// than a Boltzmann agent with optimal values, each at the best of its grid, by
// participants, by stimuli and by both: r higher by .15, the intervals above 0. The
// crossed interval of r is the widest, contains that by participants, and reaches as
// far down as that by stimuli; not as far up, since resampled participants lower r.
func TestPublishedDifferences(t *testing.T) {
	s := loadPublished(t, "block-words")
	best := []model.ParameterSet{parameters("full", .2, 2, .95, .5, .1), boltzmann(.5, "optimal")}
	in, stage, _ := sweep.DefaultsOf(sweep.Marginal)
	in.ActionNoiseKind = "per_action_odds"
	config := sweep.Config{Inference: in, Fit: stage, Bootstrap: sweep.DefaultBootstrap, Seed: 2021}
	plan, err := sweep.NewPlan(best, shapesOf(s), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	cells := publishedCells(t, s, best, &config)
	scorer, err := score.NewScorer(s.Study, config.Bootstrap, config.Seed)
	if err != nil {
		t.Fatal(err)
	}
	out := tables{}
	r, err := fit.New(out, s.Study, plan, config, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	for k := range best {
		g := &sweep.Gathered{Stage: sweep.FitStage, Index: k, Set: best[k], Cells: cells[k]}
		predictions, _ := plan.Predictions(g)
		scored, err := scorer.Score(predictions)
		if err != nil {
			t.Fatal(err)
		}
		g.Fit = &scored
		if err := r.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	checkDifferences(t, out["differences.csv"].String())
	for _, b := range r.Best() {
		width, low, high := map[string]float64{}, map[string]float64{}, map[string]float64{}
		for _, interval := range b.Fit.Intervals {
			t.Logf("%s, r %.3f, by %s: [%.3f, %.3f]", b.Set.Model, b.Fit.Overall.PearsonR, interval.Unit, interval.Low, interval.High)
			width[interval.Unit], low[interval.Unit], high[interval.Unit] = interval.High-interval.Low, interval.Low, interval.High
		}
		if len(width) != 3 || low["both"] > low["participants"] || high["both"] < high["participants"] || low["both"] > low["stimuli"] ||
			width["both"] < .95*width["stimuli"] { // 500 resamples
			t.Errorf("%s: intervals %+v", b.Set.Model, b.Fit.Intervals)
		}
	}
	page := out["report.html"].String()
	if !strings.Contains(page, "full − boltzmann") || !strings.Contains(page, "Models compared") {
		t.Error("the page does not compare full with boltzmann")
	}
}

// publishedCells are the cells of parameter sets on all stimuli of a study, [set][stimulus].
func publishedCells(t *testing.T, s *domains.Study, sets []model.ParameterSet, config *sweep.Config) [][]*result.Cell {
	t.Helper()
	cells := make([][]*result.Cell, len(sets))
	for k := range cells {
		cells[k] = make([]*result.Cell, len(s.Stimuli))
	}
	var wg sync.WaitGroup
	for half := range 2 {
		wg.Go(func() {
			for i := half; i < len(s.Stimuli); i += 2 {
				ready, err := s.Ready(s.Stimuli[i].ID)
				if err != nil {
					t.Error(err)
					return
				}
				for k := range sets {
					cell, err := ready.Infer(context.Background(), &sets[k], config.Procedure(sweep.FitStage), config.Seed)
					if err != nil {
						t.Error(err)
						return
					}
					cells[k][i] = &cell
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return cells
}

// checkDifferences compares a table of differences with what the published judgements say.
func checkDifferences(t *testing.T, table string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string][2]float64{}
	for _, row := range rows[1:] {
		number := func(column string) float64 {
			i := slices.Index(rows[0], column)
			if i < 0 {
				t.Fatalf("no column %s", column)
			}
			x, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		measure, unit := row[6], row[9]
		d, low, high := number("difference"), number("ci_low"), number("ci_high")
		t.Logf("%s of full - boltzmann, by %s: %+.3f [%+.3f, %+.3f]", measure, unit, d, low, high)
		bounds[measure+" "+unit] = [2]float64{low, high}
		if measure == "pearson_r" && !(d > .14 && d < .17 && low > 0 && high < .35) || measure == "rmse" && !(d < -.05) {
			t.Errorf("%s by %s: %v [%v, %v]", measure, unit, d, low, high)
		}
	}
	if len(bounds) != 6 {
		t.Errorf("intervals %v", bounds)
	}
}

// tables keeps what a report writes.
type tables map[string]*strings.Builder

func (f tables) Create(name string) (io.WriteCloser, error) {
	f[name] = &strings.Builder{}
	return closing{f[name]}, nil
}
