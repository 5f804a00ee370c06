package sips

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
)

// graph is a task of walking, with blind heuristics.
func graph(t testing.TB, edges, goals []string, steps ...string) *Filter {
	t.Helper()
	return New(worlds.Graph(t, edges, goals, steps...))
}

func finite(t *testing.T, r *Run) {
	t.Helper()
	for k := range r.Posterior {
		sum := 0.0
		for _, p := range r.Posterior[k] {
			sum += p
		}
		if !(math.Abs(sum-1) < 1e-9) || math.IsNaN(r.Evidence[k]) || math.IsInf(r.Evidence[k], 0) || r.Alive[k] < 1 || r.ESS != nil && !(r.ESS[k] > 0) {
			t.Fatalf("step %d: %+v", k, r)
		}
	}
	if len(r.Evidence) != len(r.Posterior) || len(r.Alive) != len(r.Posterior) || r.ESS != nil && len(r.ESS) != len(r.Posterior) {
		t.Fatalf("lengths differ: %+v", r)
	}
}

// everyWay runs filters with all options that matter to degenerate cases, and the
// enumeration, and checks that none gives NaN.
func everyWay(t *testing.T, s *Filter, p agent.Parameters, o Options, check func(*Run)) {
	t.Helper()
	o.ParticlesPerGoal, o.Threshold, o.Kind = 8, 0.5, Residual
	for _, o.PerGoal = range []bool{false, true} {
		for _, o.Resample = range []Occasion{ESS, Always, Never} {
			for _, o.Rejuvenate = range []Move{NoMove, Mixed} {
				r, err := s.Run(context.Background(), p, o, seeded(1))
				if err != nil {
					t.Fatal(err)
				}
				finite(t, r)
				check(r)
			}
		}
	}
	r, err := s.Exact(p, o)
	if err != nil {
		t.Fatal(err)
	}
	finite(t, r)
	check(r)
}

func TestZeroProbabilityIsNamed(t *testing.T) {
	s := graph(t, []string{"ab", "bc", "bd", "da"}, []string{"c", "b"}, "(go a b)", "(go b d)", "(go d a)")
	for _, exact := range []bool{true, false} {
		everyWay(t, s, worlds.Perfect, Options{Exact: exact}, func(r *Run) {
			want := observed.Undefined{Step: 2, Reason: "no particle is left at step 2, action (go b d)"}
			if r.ESS == nil { // the enumeration knows
				want.Reason = "zero probability at step 2, action (go b d)"
			}
			if r.Undefined == nil || *r.Undefined != want || len(r.Posterior) != 2 {
				t.Errorf("%+v, %+v", r, r.Undefined)
			}
		})
	}
	// With the least of noise it is improbable, as two facts are flipped. (The enumeration does
	// not work in logarithms.)
	everyWay(t, s, worlds.Perfect, Options{PredicateNoise: 1e-300}, func(r *Run) {
		if r.ESS != nil && (r.Undefined != nil || !(r.Evidence[2] < -1300)) {
			t.Errorf("%+v", r)
		}
	})
}

func TestOneGoalDies(t *testing.T) {
	s := graph(t, []string{"ab", "ac", "ba", "ca"}, []string{"b", "c"}, "(go a b)", "(go b a)")
	p := agent.Parameters{Unlimited: true, ActionNoise: 0.5, Kind: agent.PerActionOdds}
	everyWay(t, s, p, Options{Exact: true}, func(r *Run) {
		if r.Undefined != nil {
			t.Errorf("%+v", r)
		}
	})
	s = graph(t, []string{"ab", "ac", "bd"}, []string{"d", "c"}, "(go a b)", "(go b d)")
	everyWay(t, s, worlds.Perfect, Options{Exact: true}, func(r *Run) {
		if r.Undefined != nil || r.Posterior[1][1] != 0 || r.Posterior[2][0] != 1 || r.Alive[2] != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestPlanThatCannotBeFollowed(t *testing.T) {
	s := graph(t, []string{"ab", "bc"}, []string{"c", "b"}, "(go a b)", "(go a b)", "(go b c)")
	everyWay(t, s, worlds.Perfect, Options{Exact: true}, func(r *Run) {
		want := observed.Undefined{Step: 2, Reason: "impossible at step 2, action (go a b)"}
		if r.Undefined == nil || *r.Undefined != want || len(r.Posterior) != 2 {
			t.Errorf("%+v, %+v", r, r.Undefined)
		}
	})
}

func TestNoPlanAtAll(t *testing.T) {
	s := graph(t, []string{"ab"}, []string{"b", "a"})
	everyWay(t, s, worlds.Perfect, Options{}, func(r *Run) {
		if r.Undefined != nil || len(r.Posterior) != 1 || r.Posterior[0][0] != 0.5 || r.Evidence[0] != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// An agent whose goal holds stays put and looks again at each step; so does one
// whose goal cannot be reached. Neither can do what is seen but by a slip.
func TestGoalThatHoldsAndGoalOutOfReach(t *testing.T) {
	s := graph(t, []string{"ab", "bc"}, []string{"c", "a", "z"}, "(go a b)", "(go b c)")
	p := agent.Parameters{Unlimited: true, ActionNoise: 0.2, Kind: agent.Total}
	everyWay(t, s, p, Options{Exact: true}, func(r *Run) {
		// There is one action: it is no slip for goal c, and one of .2 for the others.
		want := [][]float64{{1. / 3, 1. / 3, 1. / 3}, {1 / 1.4, 0.2 / 1.4, 0.2 / 1.4}, {1 / 1.08, 0.04 / 1.08, 0.04 / 1.08}}
		for k := range want {
			for g := range want[k] {
				if math.Abs(r.Posterior[k][g]-want[k][g]) > 1e-9 && r.ESS == nil {
					t.Errorf("step %d: %v, want %v", k, r.Posterior[k], want[k])
				}
			}
		}
	})
}

// Facts that differ count by odds of a flip, fluents by their squared difference.
func TestLikelihood(t *testing.T) {
	w := of(worlds.Maze(t))
	task := w.sips.Task
	to := func(steps ...string) ground.StateID {
		states, _, err := task.Validate(worlds.Plan(t, steps...))
		if err != nil {
			t.Fatal(err)
		}
		return states[len(states)-1]
	}
	start, west := task.Initial(), to("(west)")
	key := to("(west)", "(north)", "(take key)", "(south)", "(east)")
	o := Options{PredicateNoise: 0.1, FluentNoise: 0.5}
	for _, c := range []struct {
		name string
		a, b ground.StateID
		o    Options
		want float64
	}{
		{"same", start, start, o, 0},
		{"one step", start, west, o, -1 / (2 * 0.25)},
		{"key taken: it lies no more, it is had", start, key, o, 2 * math.Log(0.1/0.9)},
		{"both", west, key, o, 2*math.Log(0.1/0.9) - 2},
		{"no noise of facts", start, key, Options{FluentNoise: 1}, math.Inf(-1)},
		{"no noise of fluents", start, west, Options{PredicateNoise: 0.1}, math.Inf(-1)},
		{"coin", start, key, Options{PredicateNoise: 0.5}, 0},
	} {
		for _, pair := range [][2]ground.StateID{{c.a, c.b}, {c.b, c.a}} {
			if got := w.sips.likelihood(pair[0], pair[1], &c.o); !(math.Abs(got-c.want) < 1e-12) && got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

func TestRunIsDetermined(t *testing.T) {
	for _, w := range []world{of(worlds.ThreeBlocks(t)), of(worlds.Maze(t))} {
		o := DefaultOptions()
		o.PredicateNoise, o.FluentNoise, o.Rejuvenate = w.o.PredicateNoise, w.o.FluentNoise, Mixed
		first, err := w.sips.Run(context.Background(), worlds.Agents["full"], o, seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.sips.Run(context.Background(), worlds.Agents["plan-lesioned"], o, seeded(6)); err != nil {
			t.Fatal(err)
		}
		again, err := w.sips.Run(context.Background(), worlds.Agents["full"], o, seeded(5))
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("%s: %+v, then %+v", w.name, first, again)
		}
	}
	// States are numbered in the order in which they are met; nothing depends on that.
	met := of(worlds.ThreeBlocks(t))
	must(met.sips.Task.Enumerate(context.Background(), 0))
	a, err := met.sips.Run(context.Background(), worlds.Agents["full"], DefaultOptions(), seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	b, err := of(worlds.ThreeBlocks(t)).sips.Run(context.Background(), worlds.Agents["full"], DefaultOptions(), seeded(5))
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v, then %+v", a, b)
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	s := graph(t, []string{"ab"}, []string{"b"}, "(go a b)")
	for name, change := range map[string]func(o *Options){
		"particles_per_goal": func(o *Options) { o.ParticlesPerGoal = 0 },
		"resample":           func(o *Options) { o.Resample = "often" },
		"resample kind":      func(o *Options) { o.Kind = "" },
		"threshold":          func(o *Options) { o.Threshold = math.NaN() },
		"rejuvenate":         func(o *Options) { o.Rejuvenate = "all" },
		"predicate_noise":    func(o *Options) { o.PredicateNoise = 1 },
		"fluent_noise":       func(o *Options) { o.FluentNoise = math.Inf(1) },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := s.Run(context.Background(), worlds.Perfect, o, seeded(1)); err == nil || !strings.HasPrefix(err.Error(), name+" ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Run(context.Background(), agent.Parameters{}, DefaultOptions(), seeded(1)); err == nil {
		t.Error("no budget and no error")
	}
	if _, err := s.Exact(agent.Parameters{}, Options{}); err == nil {
		t.Error("no budget and no error")
	}
	large := tiny.Blocks(t, "abcdefg", "abcdefg")
	goals := agent.Goals{Corrupt: make([][]int, 1), Heuristic: []search.Heuristic{heuristic.Zero()}}
	if _, err := New(observed.Follow(large, goals, 1, worlds.Plan(t, "(pick-up a)"))).Exact(agent.Parameters{BudgetR: 2, BudgetQ: 0.95, SearchNoise: 10}, Options{}); err == nil {
		t.Error("seven blocks were enumerated")
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
