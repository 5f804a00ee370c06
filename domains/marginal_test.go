package domains_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/inference/sips"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/published"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
)

// posteriors are those of one stimulus and parameter set, computed by an
// independent implementation without particles: by step, then goal.
type posteriors struct {
	domain, stimulus string
	set              model.ParameterSet
	kind             string // of action noise
	mean, se         []map[string]float64
}

func (p *posteriors) String() string {
	return fmt.Sprintf("%s %s, %s, %s", p.domain, p.stimulus, &p.set, p.kind)
}

func readPosteriors(t *testing.T) []*posteriors {
	t.Helper()
	path := filepath.Join(published.Dir(t), "golden", "marginal.csv")
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var all []*posteriors
	for _, row := range rows[1:] {
		p := &posteriors{domain: row[0], stimulus: row[1], set: model.ParameterSet{Model: row[2]}, kind: row[8]}
		for i, axis := range rows[0][3:8] {
			if text := row[i+3]; text != "" {
				p.set.Set(axis, model.Setting{Number: number(text)})
			}
		}
		if n := len(all); n > 0 && all[n-1].String() == p.String() {
			p = all[n-1]
		} else {
			all = append(all, p)
		}
		step := int(number(row[9]))
		for len(p.mean) <= step {
			p.mean, p.se = append(p.mean, map[string]float64{}), append(p.se, map[string]float64{})
		}
		p.mean[step][row[10]], p.se[step][row[10]] = number(row[11]), number(row[12])
	}
	if len(all) != 40 {
		t.Fatalf("%d posteriors, want 8 stimuli of 5 parameter sets", len(all))
	}
	return all
}

// goalsOf are the names of a stimulus's goals.
func goalsOf(s *domains.Study, id string) []string {
	var names []string
	for i := range s.Stimuli {
		if s.Stimuli[i].ID == id {
			for _, g := range s.Stimuli[i].Goals {
				names = append(names, g.Name)
			}
		}
	}
	return names
}

// eachDomain tests both published domains, side by side.
func eachDomain(t *testing.T, test func(t *testing.T, name string, s *domains.Study)) {
	t.Helper()
	var wg sync.WaitGroup
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		s := loadPublished(t, name)
		wg.Go(func() { test(t, name, s) })
	}
	wg.Wait()
}

// marginalOf is marginal inference with so many batches, sampled until every
// probability at a judgement step has this standard error.
func marginalOf(batches int, se float64, kind string) sweep.Procedure {
	in := sweep.MarginalInference
	in.PosteriorSE, in.ActionNoiseKind = se, kind
	return sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: batches}, Inference: in, Detail: sweep.DetailSteps}
}

// rounded is what the last digit of a probability in the file may be off by.
const rounded = 5e-9

// The posterior agrees at every step with that of an independent implementation:
// within 4 standard errors of both together.
func TestMarginal(t *testing.T) {
	all := readPosteriors(t)
	eachDomain(t, func(t *testing.T, domain string, s *domains.Study) {
		worst, squares, cells, most := 0.0, 0.0, 0, 0.0
		batches := map[string]int{"block-words": 16, "doors-keys-gems": 32}[domain]
		for _, want := range all {
			if want.domain != domain {
				continue
			}
			ready, err := s.Ready(want.stimulus)
			if err != nil {
				t.Error(err)
				return
			}
			cell, err := ready.Infer(context.Background(), &want.set, marginalOf(batches, 0.01, want.kind), 1)
			if err != nil {
				t.Error(err)
				return
			}
			if len(cell.Posterior) != len(want.mean) {
				t.Errorf("%s: %d steps, want %d: %v", want, len(cell.Posterior), len(want.mean), cell.Undefined)
				continue
			}
			for step := range want.mean {
				for goal, name := range goalsOf(s, want.stimulus) {
					d := math.Abs(cell.Posterior[step][goal] - want.mean[step][name])
					z := max(0, d-rounded) / (math.Hypot(cell.SE[step][goal], want.se[step][name]) + 1e-12)
					worst, squares, cells, most = max(worst, z), squares+z*z, cells+1, max(most, cell.SE[step][goal])
					if !(z < 4) {
						t.Errorf("%s, step %d, %s: %.4f +- %.4f, want %.4f +- %.4f", want, step, name,
							cell.Posterior[step][goal], cell.SE[step][goal], want.mean[step][name], want.se[step][name])
					}
				}
			}
		}
		t.Logf("%s: %d probabilities, off by %.1f standard errors at worst and %.2f in the mean square; the largest of ours is %.4f", domain, cells, worst, squares/float64(cells), most)
	})
}

// pairs are a stimulus and a parameter set each.
var pairs = []struct {
	domain, stimulus string
	set              model.ParameterSet
}{
	{"block-words", "1-1", parameters("full", .2, 2, .9, .5, .05)},
	{"block-words", "2-2", parameters("plan-lesioned", .2, 0, 0, 0, .2)},
	{"block-words", "4-1", parameters("full", .1, 4, .95, .02, .2)},
	{"doors-keys-gems", "1-1", parameters("full", 0, 2, .9, .5, .05)},
	{"doors-keys-gems", "2-2", parameters("plan-lesioned", 0, 0, 0, 0, .1)},
	{"doors-keys-gems", "4-1", parameters("full", 0, 4, .9, .02, .2)},
}

func parameters(name string, goalNoise, r, q, searchNoise, actionNoise float64) model.ParameterSet {
	set := model.ParameterSet{Model: name}
	for axis, x := range map[string]float64{"goal_noise": goalNoise, "budget_r": r, "budget_q": q, "search_noise": searchNoise, "action_noise": actionNoise} {
		set.Set(axis, model.Setting{Number: x})
	}
	return set
}

// With one filter for each goal and observed states, 20,000 particles a goal come
// to the same posterior at every step: within 4.5 standard errors of 100 runs of 200
// particles, weighted by their evidence, and of marginal inference together.
func TestMarginalIsTheFilterWithoutNoise(t *testing.T) {
	runs, limit := 100, 4.5
	if testing.Short() {
		runs, limit = 20, 6.1 // as improbable, by Student's t with 19 degrees of freedom
	}
	const kind = "per_action_odds"
	eachDomain(t, func(t *testing.T, domain string, s *domains.Study) {
		for i, pair := range pairs {
			if pair.domain != domain {
				continue
			}
			ready, err := s.Ready(pair.stimulus)
			if err != nil {
				t.Error(err)
				return
			}
			cell, err := ready.Infer(context.Background(), &pair.set, marginalOf(16, 0.01, kind), 2)
			if err != nil {
				t.Error(err)
				return
			}
			filter, err := filtered(ready, &pair.set, kind, runs, uint64(i))
			if err != nil {
				t.Error(err)
				return
			}
			worst, most := 0.0, 0.0
			for step := range cell.Posterior {
				for goal, name := range goalsOf(s, pair.stimulus) {
					got, se := filter.at(step, goal)
					z := math.Abs(got-cell.Posterior[step][goal]) / (math.Hypot(se, cell.SE[step][goal]) + 1e-9)
					worst, most = max(worst, z), max(most, se)
					if !(z < limit) {
						t.Errorf("%s %s, %s, step %d, %s: %.4f +- %.4f, the filter %.4f +- %.4f", domain, pair.stimulus, &pair.set, step, name,
							cell.Posterior[step][goal], cell.SE[step][goal], got, se)
					}
				}
			}
			t.Logf("%s %s, %s: off by %.1f standard errors at worst; the filter's largest is %.4f", domain, pair.stimulus, &pair.set, worst, most)
		}
	})
}

// runs of filters, with the evidence up to each step relative to the best run's.
type filterRuns struct {
	runs   []*sips.Run
	weight [][]float64 // [step][run]
}

func filtered(ready *inference.Stimulus, set *model.ParameterSet, kind string, runs int, seed uint64) (*filterRuns, error) {
	filter, err := ready.Filter(context.Background())
	if err != nil {
		return nil, err
	}
	p, err := inference.Agent(set, sweep.Inference{ActionNoiseKind: kind})
	if err != nil {
		return nil, err
	}
	o := sips.DefaultOptions()
	o.Exact, o.PerGoal, o.ParticlesPerGoal = true, true, 200
	f := &filterRuns{}
	for r := range runs {
		run, err := filter.Run(context.Background(), p, o, random.RunStream(seed, "filter", set, "", r))
		if err != nil {
			return nil, err
		}
		f.runs = append(f.runs, run)
		log := 0.0
		for step, evidence := range run.Evidence {
			if log += evidence; len(f.weight) <= step {
				f.weight = append(f.weight, make([]float64, runs))
				for i := range runs {
					f.weight[step][i] = math.Inf(-1)
				}
			}
			f.weight[step][r] = log
		}
	}
	for _, row := range f.weight {
		top := math.Inf(-1)
		for _, log := range row {
			top = max(top, log)
		}
		for r, log := range row {
			row[r] = math.Exp(log - top)
		}
	}
	return f, nil
}

// at is a goal's probability at a step and its standard error: a ratio of means.
func (f *filterRuns) at(step, goal int) (mean, se float64) {
	var sum, both, squares float64
	for r, w := range f.weight[step] {
		if w > 0 {
			sum += w
			both += w * f.runs[r].Posterior[step][goal]
		}
	}
	mean = both / sum
	for r, w := range f.weight[step] {
		if w > 0 {
			d := w * (f.runs[r].Posterior[step][goal] - mean)
			squares += d * d
		}
	}
	n := float64(len(f.runs))
	return mean, math.Sqrt(squares*n/(n-1)) / sum
}
