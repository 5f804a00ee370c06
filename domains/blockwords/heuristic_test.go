package blockwords

import (
	"context"
	"path/filepath"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/published"
	"foible.dev/foible/domains/internal/domaintest"
)

func value(t *ground.Task, goal int) (func(ground.StateID) float64, error) {
	of, err := Heuristics(t)
	if err != nil {
		return nil, err
	}
	h, err := of(goal)
	if err != nil {
		return nil, err
	}
	return h.Value, nil
}

func TestHeuristicAgainstGolden(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", Name)
	for name, domain := range map[string][]byte{"published PDDL": nil, "our PDDL": PDDL} {
		gap, n, where := domaintest.Gap(t, Name, domaintest.Read(t, dir, domain, Goal), value)
		t.Logf("%s: %d posteriors, largest gap %.3g at %+v", name, n, gap, where)
		if n == 0 {
			t.Errorf("%s: nothing compared", name)
		}
		if gap > 1e-9 {
			t.Errorf("%s: gap %v at %+v", name, gap, where)
		}
	}
}

func TestHeuristicCountsARelaxedPlan(t *testing.T) {
	task, plan := towers(t)
	f, err := pddl.ParseGoal("goal", []byte("(and (clear s) (on s m) (on m p) (ontable p))"), task.Problem)
	if err != nil {
		t.Fatal(err)
	}
	task, err = ground.New(task.Problem, []pddl.Formula{f})
	if err != nil {
		t.Fatal(err)
	}
	states, _, err := task.Validate(plan)
	if err != nil {
		t.Fatal(err)
	}
	h, err := value(task, 0)
	if err != nil {
		t.Fatal(err)
	}
	// At first s is clear: it is taken and put on m. In the hand it is not: the first
	// operator that makes it clear is putting it down, and (on s m) needs another.
	for k, want := range []float64{2, 2, 0} {
		if got := h(states[k]); got != want {
			t.Errorf("step %d: %v, want %v", k, got, want)
		}
	}
}

func TestStateCounts(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", Name)
	for _, s := range domaintest.Read(t, dir, PDDL, Goal)[:4] {
		must(s.Task.Enumerate(context.Background(), 0))
		if n := s.Task.Len(); n != 7057 {
			t.Errorf("%s: %d states, want 7,057", s.ID, n)
		}
	}
}

func BenchmarkHeuristicCold(b *testing.B) {
	dir := filepath.Join(published.Dir(b), "mistakes-2021", Name)
	task := domaintest.Read(b, dir, PDDL, Goal)[0].Task
	must(task.Enumerate(context.Background(), 0))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		h, err := value(task, 0)
		if err != nil {
			b.Fatal(err)
		}
		for s := range ground.StateID(task.Len()) {
			h(s)
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "evaluations/s")
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
