package domains_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/looks"
)

// cutAfter has so many looks. It measures the most work that the stimulus does between
// two of them, in seconds on an idle machine; Work counts and does not clock.
func cutAfter(n int, ready *inference.Stimulus) (ctx *looks.Context, most func() float64) {
	var last, gap float64
	work := func() {
		now, _ := ready.Work()
		gap, last = max(gap, now-last), now
	}
	return looks.New(n, work), func() float64 { work(); return gap }
}

// However a cell is computed, it looks at its context several times a second and ends with
// its error; the same stimulus then computes the same cell as one that was never interrupted.
func TestInferIsInterrupted(t *testing.T) {
	judgements, steps := marginalOf(4, 0.02, "total"), marginalOf(4, 0.02, "total")
	mistakes := judgements
	judgements.Detail, mistakes.Detail = sweep.DetailJudged, sweep.DetailMistakes
	filter := sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: 2, ParticlesPerGoal: 40}, Inference: sweep.PaperInference}
	moving := filter
	moving.Rejuvenate, moving.Resample = "mixed", "always"
	for _, s := range samples(t) {
		full, _ := model.ByName("full")
		bounded := typical(s.Domain, &full)
		for name, c := range map[string]struct {
			set *model.ParameterSet
			p   sweep.Procedure
		}{
			"marginal, judgements": {bounded, judgements},
			"marginal, steps":      {bounded, steps},
			"marginal, mistakes":   {bounded, mistakes},
			"sips":                 {bounded, filter},
			"sips, rejuvenated":    {bounded, moving},
		} {
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				fresh := func() *inference.Stimulus {
					ready, err := s.Ready(s.Stimuli[0].ID)
					if err != nil {
						t.Fatal(err)
					}
					ready.Remember(1 << 24)
					return ready
				}
				ready := fresh()
				ctx, gap := cutAfter(-1, ready)
				want, err := ready.Infer(ctx, c.set, c.p, 1)
				if err != nil {
					t.Fatal(err)
				}
				if gap() > 0.1 {
					t.Errorf("%.2g s of work without a look at the context", gap())
				}
				whole := ctx.Looks()
				for _, n := range []int{0, 1, whole / 3, whole / 2, whole - 1} {
					ready := fresh()
					ctx, _ := cutAfter(n, ready)
					if _, err := ready.Infer(ctx, c.set, c.p, 1); !errors.Is(err, context.Canceled) {
						t.Fatalf("after %d of %d looks: error %v", n, whole, err)
					}
					got, err := ready.Infer(context.Background(), c.set, c.p, 1)
					if err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("interrupted after %d of %d looks, the same cell is another then; error %v", n, whole, err)
					}
				}
			})
		}
	}
}
