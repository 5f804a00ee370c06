package fit

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	data "foible.dev/foible/core/published"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// steady is the time that this process uses of cores, in seconds in which they do a fixed
// loop a fixed number of times: other processes that share a core's caches and units slow
// both down.
type steady struct {
	used, value float64
	loop        float64 // seconds that the loop takes
	since       float64 // it was last timed
	memory      []uint32
}

func newSteady() *steady {
	s := &steady{memory: make([]uint32, 1<<18)}
	s.loop = s.spin()
	s.used = serve.CPUTime().Seconds()
	s.since = s.used
	return s
}

// usual is what the loop takes when nothing disturbs, about.
const usual = 1e-3

func (s *steady) spin() float64 {
	began := serve.CPUTime()
	x := uint32(1)
	for range 150_000 {
		x = x*1664525 + 1013904223
		s.memory[x>>14] += x
	}
	return (serve.CPUTime() - began).Seconds()
}

func (s *steady) now() float64 {
	used := serve.CPUTime().Seconds()
	loop := s.loop
	if used-s.since > 0.02 {
		s.loop = s.spin()
		loop = (loop + s.loop) / 2
		s.since = serve.CPUTime().Seconds()
	}
	s.value += (used - s.used) * usual / loop
	s.used = max(used, s.since)
	return s.value
}

// wholeSweep computes every cell and score of a sweep as a worker of one slot does, and
// returns the work of the cells, the fits of the first stage, and what all of it took.
func wholeSweep(t *testing.T, s *domains.Study, config *foiblev1.SweepConfig, clock func() float64) (work, seconds float64, plan *sweep.Plan, fits []*result.Fit) {
	t.Helper()
	p, err := newPilot(s, config, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, plan := p.Config, p.Plan
	began := clock()
	fits = make([]*result.Fit, len(plan.Sets))
	kept := make([]*inference.Stimulus, len(plan.Stimuli))
	stage := func(name string, sets []int, procedure sweep.Procedure) {
		scorer, err := score.NewScorer(s.Study, plan.BootstrapOf(c, name), c.Seed)
		if err != nil {
			t.Fatal(err)
		}
		predictions := make([][]result.Prediction, len(sets))
		for i := range plan.Stimuli {
			if kept[i] == nil {
				if kept[i], err = s.Ready(plan.Stimuli[i].Stimulus); err != nil {
					t.Fatal(err)
				}
			}
			of := make([]model.ParameterSet, len(sets))
			for k, set := range sets {
				of[k] = plan.Sets[set]
			}
			k := 0
			for cell, err := range kept[i].InferAll(context.Background(), of, procedure, c.Seed) {
				if err != nil {
					t.Fatal(err)
				}
				predictions[k] = append(predictions[k], plan.Stimuli[i].Predict(&cell))
				k++
				clock()
			}
		}
		for k, set := range sets {
			fit, err := scorer.Score(predictions[k])
			if err != nil {
				t.Fatal(err)
			}
			clock()
			if name == sweep.FitStage {
				fits[set] = &fit
			}
		}
	}
	all := make([]int, len(plan.Sets))
	for i := range all {
		all[i] = i
	}
	stage(sweep.FitStage, all, plan.Procedure(c, sweep.FitStage))
	if plan.Report {
		standing := sweep.NewStanding(0)
		for i, fit := range fits {
			standing.Add(plan.Sets[i].Model, i, 0, fit)
		}
		plan.Choose(standing)
		stage(sweep.ReportStage, plan.Chosen(), plan.Procedure(c, sweep.ReportStage))
	}
	for _, stimulus := range kept {
		all, _ := stimulus.Work()
		work += all
	}
	return work, clock() - began, plan, fits
}

// typicalErrors are the root mean squares of the Monte-Carlo errors of r, by model.
func typicalErrors(plan *sweep.Plan, fits []*result.Fit) map[string]float64 {
	all := map[string]float64{}
	for _, m := range plan.Models() {
		for _, f := range fits[m.First:m.End] {
			all[m.Name] += f.MCSE * f.MCSE / float64(m.End-m.First)
		}
		all[m.Name] = math.Sqrt(all[m.Name])
	}
	return all
}

// sized makes a pilot of so much work, whatever the time.
func sized(t *testing.T, s *domains.Study, config *foiblev1.SweepConfig, size float64, clock func() float64) *cost.Pilot {
	t.Helper()
	p, err := newPilot(s, config, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.CPU, p.Used = clock, func(work float64) float64 { return work / size }
	return p
}

// estimated are sweeps whose pilots are tried.
var estimated = []struct {
	name, study string // of the published ones, or a sample
	choice      input.SweepChoice
	size        float64 // of the pilot, as work
}{
	{"marginal, published blocks", "mistakes-2021/block-words", input.SweepChoice{Models: []string{"full"}, Set: []string{"search_noise=0.5", "goal_noise=0.2", "budget_r=2"}, PosteriorSE: 0.05, MCSE: 0.02}, 1},
	{"marginal, published doors", "mistakes-2021/doors-keys-gems", input.SweepChoice{}, 0.9},
	{"sips, published doors", "mistakes-2021/doors-keys-gems", input.SweepChoice{Models: []string{"full", "plan-lesioned"}, Method: "sips", Particles: 20, Runs: 4}, 0.4},
	{"a finer grid, marginal, doors", "doors-keys-gems", input.SweepChoice{Models: []string{"full"}, Set: []string{"action_noise=0.01,0.02,0.04,0.06,0.08,0.1,0.12,0.14,0.16,0.2,0.3", "budget_q=0.8,0.9,0.95", "budget_r=1,2,4"}}, 0.9},
	{"sips, blocks", "block-words", input.SweepChoice{Models: []string{"full", "boltzmann"}, Method: "sips", Particles: 10, Runs: 3}, 0.5},
	{"exact, blocks", "block-words", input.SweepChoice{Models: []string{"boltzmann"}, Set: []string{"value=optimal,on_policy,heuristic", "alpha=0.5,1,2,4,8"}}, 0.4},
}

// prepared is a sweep to estimate.
func prepared(t *testing.T, study string, choice input.SweepChoice) (*domains.Study, *foiblev1.SweepConfig) {
	t.Helper()
	if strings.Contains(study, "/") {
		study = filepath.Join(data.Dir(t), study)
	}
	e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	s, config, err := input.Prepare(t.Context(), e, study, choice)
	if err != nil {
		t.Fatal(err)
	}
	return s, config
}

// The work of the cells of a whole sweep is within 30 % of what a pilot of a part of it
// expects, on any machine. Of the errors of r, those of the particle filter, of three
// runs of a few cells each, are within a factor of four.
func TestEstimate(t *testing.T) {
	for _, c := range estimated {
		t.Run(c.name, func(t *testing.T) {
			s, config := prepared(t, c.study, c.choice)
			clock := func() float64 { return serve.CPUTime().Seconds() }
			p := sized(t, s, config, c.size, clock)
			x, err := p.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			work, _, plan, fits := wholeSweep(t, s, config, clock)
			t.Logf("expected %.3f, is %.3f: %+.0f %%; by a pilot of %.2f: %d cells of %d, on %d stimuli of %d, all kinds on %d",
				x.Work, work, 100*(x.Work/work-1), c.size, x.Measured, x.Cells, x.Seen, x.Stimuli, x.Full)
			if off := x.Work / work; !(off >= 0.7 && off <= 1.3) {
				t.Errorf("expected %.3f, is %.3f", x.Work, work)
			}
			errors := typicalErrors(plan, fits)
			for _, m := range x.Errors {
				t.Logf("error of r, %s: expected %.2g, is %.2g", m.Model, m.Fit, errors[m.Model])
				if ratio := m.Fit / errors[m.Model]; p.Config.Inference.Method == sweep.SIPS && (ratio < .25 || ratio > 4) {
					t.Errorf("error of r, %s: expected %.2g, is %.2g", m.Model, m.Fit, errors[m.Model])
				}
			}
		})
	}
}

// A pilot of a given size is the same whenever it is run, but for the time it takes.
func TestEstimateAgain(t *testing.T) {
	s, config := prepared(t, "doors-keys-gems", input.SweepChoice{})
	var before *cost.Estimate
	for range 2 {
		x, err := sized(t, s, config, 0.1, func() float64 { return serve.CPUTime().Seconds() }).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && (x.Work != before.Work || x.Measured != before.Measured || x.Spread != before.Spread) {
			t.Errorf("%d cells, %v (%v); before %d cells, %v (%v)", x.Measured, x.Work, x.Spread, before.Measured, before.Work, before.Spread)
		}
		before = x
	}
}

// What a whole sweep takes, all cells and scores one after the other, against what a pilot
// of a part of that expects, both in CPU seconds of this process at a steady speed: within
// 30 % in one of four attempts, and as a rule in the first.
func TestEstimateSeconds(t *testing.T) {
	if os.Getenv(slowEnv) == "" {
		t.Skip(slowEnv + " is not set: processor time varies with what else runs")
	}
	for _, c := range estimated {
		t.Run(c.name, func(t *testing.T) {
			s, config := prepared(t, c.study, c.choice)
			for range 4 {
				clock := newSteady().now
				began := clock()
				x, err := sized(t, s, config, c.size, clock).Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				spent := clock() - began
				_, truth, _, _ := wholeSweep(t, s, config, clock)
				low, high := x.Range()
				t.Logf("expected %.2f s (%.2f to %.2f; fit %.2f, of it shared %.2f, report %.2f, score %.2f), took %.2f s: %+.0f %%; the pilot took %.2f s",
					x.Seconds(), low, high, x.Fit, x.Tables, x.Report, x.Score, truth, 100*(x.Seconds()/truth-1), spent)
				if x.Seconds() > truth/1.3 && x.Seconds() < 1.3*truth {
					return
				}
			}
			t.Error("off by more than 30 % four times")
		})
	}
}

// The command says what a sweep takes, with a range, and refuses a pilot of no time.
// slowEnv asks for what takes minutes, and a machine of its own.
const slowEnv = "FOIBLE_SLOW"

func TestEstimateCommand(t *testing.T) {
	var out bytes.Buffer
	e := &terminal.Terminal{Out: &out, Err: &bytes.Buffer{}}
	o := EstimateOptions{Workers: 4, Pilot: 100 * time.Millisecond, Sweep: input.SweepChoice{Models: []string{"plan-lesioned", "boltzmann"}}}
	if err := Estimate(t.Context(), e, o); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`^doors-keys-gems-sample: marginal inference`, `(?m)^Cells +96$`, `(?m)^Jobs +\d+$`,
		`(?m)^Core time +[\d.]+ (s|min) \(.+ to .+\), [\d.e-]+ core-hours$`, `(?m)^  shared +`, `(?m)^Time +.+ with 4 worker slots`,
		`(?m)^By a pilot of \d+ cells on \d of 8 stimuli`,
	} {
		if !regexp.MustCompile(line).Match(out.Bytes()) {
			t.Errorf("no %s in\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "topping up") {
		t.Errorf("nothing is topped up in\n%s", out.String())
	}
	out.Reset()
	o.Sweep.TopUp = 8
	if err := Estimate(t.Context(), e, o); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`(?m)^Cells +96, and up to 72 of contenders, with more runs$`, // three settings on eight stimuli, three times
		`(?m)^  topping up +up to .+ more, counted only at the upper ends$`,
	} {
		if !regexp.MustCompile(line).Match(out.Bytes()) {
			t.Errorf("no %s in\n%s", line, out.String())
		}
	}
	o.Pilot = 0
	if usage := (*cli.UsageError)(nil); !errors.As(Estimate(t.Context(), e, o), &usage) {
		t.Error("a pilot of no time is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Pilot = time.Second
	if err := Estimate(ctx, e, o); !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
}
