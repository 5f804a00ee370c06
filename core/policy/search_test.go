package policy

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
)

// Distances that are searched for, in any order, are those of breadth-first search.
func TestSearchedDistances(t *testing.T) {
	blind := func(*ground.Task) (func(int) (*heuristic.Table, error), error) {
		return func(int) (*heuristic.Table, error) { return heuristic.Zero(), nil }, nil
	}
	for name, c := range map[string]struct {
		task  *ground.Task
		bound BoundFunc
	}{
		"blocks": {tiny.Blocks(t, "abcde", "abc", "edcba", "aa", "be"), nil}, // nothing stands on itself
		"graph":  {tiny.Graph(t, "a", []string{"ab", "bc", "ca", "cd", "de", "ed", "df"}, "a", "c", "f", "z"), nil},
		"maze":   {tiny.Maze(t), blind},
		"manhattan": {tiny.Maze(t), func(task *ground.Task) (func(int) (*heuristic.Table, error), error) {
			return func(goal int) (*heuristic.Table, error) {
				return heuristic.NewTable(tiny.Manhattan(task, goal, 0)), nil
			}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.task.Enumerate(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			g, err := taskGraph(t.Context(), c.task)
			if err != nil {
				t.Fatal(err)
			}
			of, err := bounded(c.task, c.bound)
			if err != nil || of == nil {
				t.Fatalf("no heuristics, error %v", err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for goal := range c.task.Goals {
				want, _, err := distances(t.Context(), g.reverse(), satisfying(c.task, goal, g.n()))
				if err != nil {
					t.Fatal(err)
				}
				for range 4 { // orders
					s, err := newSearched(c.task, of)
					if err != nil {
						t.Fatal(err)
					}
					for _, from := range rng.Perm(g.n())[:min(g.n(), 300)] {
						got, err := s.distance(t.Context(), goal, ground.StateID(from))
						if err != nil || got != want[from] {
							t.Fatalf("goal %d from state %d: %d, error %v, want %d", goal, from, got, err, want[from])
						}
					}
				}
			}
		})
	}
}

// Beyond its bounds a search says so, and its context ends it.
func TestSearchedDistancesAreBounded(t *testing.T) {
	task := tiny.Blocks(t, "abcdef", "fabedc")
	s, err := newSearched(task, func(int) (*heuristic.Table, error) { return heuristic.Zero(), nil })
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.distance(ended, 0, task.Initial()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a context that has ended", err)
	}
	s.goals[0].expanded, s.goals[0].known = expansions, map[ground.StateID]int32{}
	if _, err := s.distance(t.Context(), 0, task.Initial()); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v after too many expansions", err)
	}
}

// Ten blocks have far more states than can be enumerated, and yet exact distances.
func TestDistancesOfManyStates(t *testing.T) {
	task := tiny.Blocks(t, "abcdefghij", "cab", "jihgfedcba", "bed")
	o, err := NewObserver(task, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for goal, want := range []int32{4, 18, 4} { // every block but the lowest is picked up and stacked
		if got, err := o.distance(t.Context(), goal, task.Initial()); err != nil || got != want {
			t.Errorf("goal %d: %d, error %v, want %d", goal, got, err, want)
		}
	}
	if n := task.Len(); n > FewStates+100_000 {
		t.Errorf("%d states were found", n)
	}
	if _, err := o.Posterior(t.Context(), Parameters{Alpha: 1, Value: Optimal, Unreachable: -9}); err != nil {
		t.Error(err)
	}
}
