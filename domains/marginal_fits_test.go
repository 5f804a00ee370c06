package domains_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"foible/core/published"
	"foible/core/sweep"
	"foible/domains"
)

// noiseFree is a parameter set and its r as an independent implementation found it.
type noiseFree struct {
	domain     string
	set        sweep.ParameterSet
	r, sd      float64
	byCategory []float64
}

func readNoiseFree(t *testing.T) []noiseFree {
	t.Helper()
	file, err := os.Open(filepath.Join(published.Dir(t), "golden", "marginal_fits.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []noiseFree
	for _, row := range rows[1:] {
		n := noiseFree{domain: row[0], set: sweep.ParameterSet{Model: row[1]}}
		number := func(text string) float64 {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		for i, axis := range rows[0][2:7] {
			if text := row[i+2]; text != "" {
				n.set.Set(axis, sweep.Setting{Number: number(text)})
			}
		}
		n.r, n.sd = number(row[7]), number(row[8])
		for _, text := range row[9:] {
			n.byCategory = append(n.byCategory, number(text))
		}
		all = append(all, n)
	}
	return all
}

// scoreAll scores parameter sets with marginal inference, stimuli side by side.
func scoreAll(t *testing.T, s *domains.Study, sets []sweep.ParameterSet, seed uint64) ([]sweep.Fit, []int) {
	t.Helper()
	scorer, err := sweep.NewScorer(s.Study, sweep.Bootstrap{}, seed)
	if err != nil {
		t.Fatal(err)
	}
	in, fit, report := sweep.DefaultsOf(sweep.Marginal)
	in.ActionNoiseKind = "per_action_odds"
	config := sweep.Config{Inference: in, Fit: fit, Report: report, Seed: seed}
	predictions := make([][]sweep.Prediction, len(sets))
	for i := range predictions {
		predictions[i] = make([]sweep.Prediction, len(s.Stimuli))
	}
	samples := make([]int, len(sets))
	shapes := shapesOf(s)
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i := range s.Stimuli {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ready, err := s.Ready(s.Stimuli[i].ID)
			if err != nil {
				t.Error(err)
				return
			}
			for j := range sets {
				cell, err := ready.Infer(&sets[j], config.Procedure(sweep.FitStage), seed)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				predictions[j][i] = shapes[i].Predict(&cell)
				samples[j] = max(samples[j], cell.Samples)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	fits := make([]sweep.Fit, len(sets))
	for j := range sets {
		if fits[j], err = scorer.Score(predictions[j]); err != nil {
			t.Fatal(err)
		}
	}
	return fits, samples
}

// Marginal inference meets the r without particle noise of every parameter set of
// the paper's grids.
func TestMarginalFits(t *testing.T) {
	all := readNoiseFree(t)
	for _, domain := range []string{"block-words", "doors-keys-gems"} {
		s := loadPublished(t, domain)
		var sets []sweep.ParameterSet
		var want []noiseFree
		for _, n := range all {
			if n.domain == domain {
				sets, want = append(sets, n.set), append(want, n)
			}
		}
		began := time.Now()
		fits, samples := scoreAll(t, s, sets, 2021)
		took := time.Since(began)
		worst, error := map[string]float64{}, map[string]float64{}
		most := map[string]int{}
		for i, fit := range fits {
			tolerance := .004
			if sets[i].Model == "action-lesioned" {
				tolerance = .02
			}
			off := fit.Overall.PearsonR - want[i].r
			model := sets[i].Model
			worst[model] = max(worst[model], math.Abs(off))
			error[model] = max(error[model], fit.MCSE)
			most[model] = max(most[model], samples[i])
			if !(math.Abs(off) < tolerance) {
				t.Errorf("%s, %s: r is %.4f +- %.4f, want %.4f", domain, &sets[i], fit.Overall.PearsonR, fit.MCSE, want[i].r)
			}
		}
		t.Logf("%s: %d parameter sets in %.2f s; off by %s, standard errors of %s, samples %v", domain, len(sets), took.Seconds(), fmt.Sprint(worst), fmt.Sprint(error), most)
	}
}
