package doorskeysgems

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/published"
	"foible.dev/foible/domains/internal/domaintest"
)

func value(t *ground.Task, goal int) (func(ground.StateID) float64, error) {
	h, err := Heuristic(t, goal)
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

func TestHeuristic(t *testing.T) {
	task, states := walk(t, tour)
	inf := math.Inf(1)
	for goal, want := range map[int][]float64{
		0: {6, 5, 4, 4, 3, 3, 2, 1, 0}, // gem1, through the door
		1: {inf, inf, inf, inf, inf, inf, inf, inf, inf},
		2: {3, 2, 3, 3, 2, 2, 3, 4, 4},
	} {
		h, err := Heuristic(task, goal)
		if err != nil {
			t.Fatal(err)
		}
		for k, s := range states {
			if got := h.Value(s); got != want[k] {
				t.Errorf("goal %d, step %d: %v, want %v", goal, k, got, want[k])
			}
		}
	}
	h, err := Manhattan(task, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Value(states[0]); got != 5 {
		t.Errorf("manhattan %v, want 5", got)
	}
}

func TestHeuristicNeverOverestimates(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", Name)
	for _, s := range domaintest.Read(t, dir, nil, Goal)[:4] {
		must(s.Task.Enumerate(context.Background(), 0))
		for goal := range s.Goals {
			h, err := Heuristic(s.Task, goal)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Manhattan(s.Task, goal)
			if err != nil {
				t.Fatal(err)
			}
			for state := ground.StateID(0); int(state) < s.Task.Len(); state += 37 {
				n := domaintest.Distance(s.Task, state, goal)
				if got := h.Value(state); n >= 0 && got > float64(n) || m.Value(state) > got {
					t.Fatalf("%s, %s, state %d: %v and %v, the distance is %d", s.ID, s.Goals[goal], state, got, m.Value(state), n)
				}
			}
		}
	}
}

func TestHeuristicRefuses(t *testing.T) {
	task, _ := walk(t, "")
	f, err := pddl.ParseGoal("goal", []byte("(and (has gem1) (has ruby))"), task.Problem)
	if err != nil {
		t.Fatal(err)
	}
	task, err = ground.New(task.Problem, []pddl.Formula{f})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := Heuristic(task, 0); err == nil || !strings.Contains(err.Error(), "needs a goal (has gem), not (and") {
		t.Errorf("%v, %v", h, err)
	}
}

func TestStateCounts(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", Name)
	least, most := math.MaxInt, 0
	for _, s := range domaintest.Read(t, dir, PDDL, Goal) {
		must(s.Task.Enumerate(context.Background(), 0))
		least, most = min(least, s.Task.Len()), max(most, s.Task.Len())
	}
	if least != 851 || most != 1760 {
		t.Errorf("%d to %d states, want 851 to 1,760", least, most)
	}
}

func BenchmarkHeuristicCold(b *testing.B) {
	task, _ := walk(b, tour)
	must(task.Enumerate(context.Background(), 0))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		h, err := Heuristic(task, 0)
		if err != nil {
			b.Fatal(err)
		}
		for s := range ground.StateID(task.Len()) {
			h.Value(s)
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
