package fit

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	data "foible.dev/foible/core/published"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
)

// BenchmarkPublishedSweep runs the published sweep of each domain, all models,
// both stages: through coordinator, queue and workers, and the same computation
// without them. What the services cost is the difference in processor time.
func BenchmarkPublishedSweep(b *testing.B) {
	for _, domain := range []string{"block-words", "doors-keys-gems"} {
		dir := filepath.Join(data.Dir(b), "mistakes-2021", domain)
		choice := input.SweepChoice{Preset: "published"}
		b.Run(domain+"/services", func(b *testing.B) {
			measure(b, func() {
				e := &terminal.Terminal{Out: io.Discard, Err: io.Discard, Logger: hclog.NewNullLogger()}
				if err := Fit(b.Context(), e, Options{Study: dir, Sweep: choice, Out: b.TempDir()}); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(domain+"/compute", func(b *testing.B) {
			measure(b, func() { compute(b, dir, choice) })
		})
	}
}

// measure reports wall and processor time of a run.
func measure(b *testing.B, run func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	for range b.N {
		run()
	}
	b.ReportMetric((used()-began).Seconds()/float64(b.N), "cpu-s/op")
}

// compute is a sweep without services: each stimulus goes through the fit
// stage, the winners are chosen, and go through the report stage; two at once.
func compute(b *testing.B, dir string, choice input.SweepChoice) {
	fsys := os.DirFS(dir)
	s, found := domains.Load(fsys)
	if err := found.Err(); err != nil {
		b.Fatal(err)
	}
	m, err := choice.Config(fsys, s.Domain)
	if err != nil {
		b.Fatal(err)
	}
	config, err := codec.Config(m)
	if err != nil {
		b.Fatal(err)
	}
	sets, err := config.ParameterSets()
	if err != nil {
		b.Fatal(err)
	}
	scorer, err := score.NewScorer(s.Study, config.Bootstrap, config.Seed)
	if err != nil {
		b.Fatal(err)
	}
	shapes := codec.Shapes(s.Shapes())
	plan, err := sweep.NewPlan(sets, shapes, 1, true)
	if err != nil {
		b.Fatal(err)
	}
	ready := make([]*inference.Stimulus, len(s.Stimuli))
	for i := range ready {
		if ready[i], err = s.Ready(s.Stimuli[i].ID); err != nil {
			b.Fatal(err)
		}
	}
	stage := func(name string, sets []model.ParameterSet) []result.Fit {
		predictions := make([][]result.Prediction, len(sets))
		for i := range predictions {
			predictions[i] = make([]result.Prediction, len(ready))
		}
		next := make(chan int, len(ready))
		for i := range ready {
			next <- i
		}
		close(next)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for i := range next {
					for j := range sets {
						cell, err := ready[i].Infer(context.Background(), &sets[j], config.Procedure(name), config.Seed)
						if err != nil {
							b.Error(err)
							return
						}
						predictions[j][i] = shapes[i].Predict(&cell)
					}
				}
			})
		}
		wg.Wait()
		fits := make([]result.Fit, len(sets))
		for j := range sets {
			if fits[j], err = scorer.Score(predictions[j]); err != nil {
				b.Fatal(err)
			}
		}
		return fits
	}
	fits := stage(sweep.FitStage, sets)
	standing := sweep.NewStanding(0)
	for i := range fits {
		standing.Add(sets[i].Model, i, 0, &fits[i])
	}
	plan.Choose(standing)
	var chosen []model.ParameterSet
	for _, i := range plan.Chosen() {
		chosen = append(chosen, sets[i])
	}
	stage(sweep.ReportStage, chosen)
}
