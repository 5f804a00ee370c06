package sips

import (
	"errors"
	"maps"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/search"
)

// What is said of the support of a plan is true by the enumeration of all that an agent may
// have in mind, for plans that are walked at random.
func TestSupport(t *testing.T) {
	agents := worlds.EveryAgent()
	for name, p := range maps.Clone(agents) {
		p.ActionNoise = 0
		agents[name+" without slips"] = p
		p.GoalNoise = 1
		agents[name+" without slips, always confused"] = p
	}
	agents["greedy"] = agent.Parameters{BudgetR: 1, BudgetQ: 0.5, Kind: agent.Total}
	var said [3]int
	for _, w := range all(t) {
		for seed := range uint64(4) {
			s := walked(t, w.sips, 3, seed)
			for name, p := range agents {
				exact, err := s.Exact(p, Options{Exact: true})
				if errors.Is(err, search.ErrTooLarge) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for k := 1; k < len(s.States); k++ {
					positive := k < len(exact.Posterior)
					of := s.Support(k, &p)
					said[of]++
					if of == observed.SomeSupport && !positive || of == observed.NoSupport && positive {
						t.Errorf("%s, %s, seed %d, step %d: support %v, above zero by enumeration: %v", w.name, name, seed, k, of, positive)
					}
				}
			}
		}
	}
	if said[observed.NoSupport] < 3 || said[observed.SomeSupport] < 200 || said[observed.UnknownSupport] > said[observed.SomeSupport] {
		t.Errorf("unknown %d times, none %d, some %d", said[observed.UnknownSupport], said[observed.NoSupport], said[observed.SomeSupport])
	}
}

// walked is a stimulus with a plan of so many actions drawn at random.
func walked(t *testing.T, s *Filter, actions int, seed uint64) *Filter {
	t.Helper()
	rng := seeded(seed)
	var plan []pddl.Step
	at := s.Task.Initial()
	for range actions {
		successors := s.Task.Successors(at)
		if len(successors) == 0 {
			break
		}
		next := successors[rng.IntN(len(successors))]
		op := &s.Task.Operators[next.Operator]
		plan = append(plan, pddl.Step{Name: op.Name, Args: op.Args})
		at = next.State
	}
	return New(observed.Follow(s.Task, s.Goals, s.Candidates, plan))
}

// Particles that run out are not said to have met a probability of zero.
func TestParticlesThatRunOut(t *testing.T) {
	s := graph(t, []string{"ab", "ac", "ad", "ae", "bf", "cg"}, []string{"f"}, "(go a e)")
	p := agent.Parameters{BudgetR: 2, BudgetQ: 0.5, SearchNoise: 0.1, Kind: agent.Total} // seldom plans to e
	o := DefaultOptions()
	o.Exact, o.ParticlesPerGoal = true, 1
	ran, zero := 0, 0
	for seed := range uint64(20) {
		r, err := s.Run(t.Context(), p, o, seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		if r.Undefined == nil {
			continue
		}
		ran++
		want := "no particle is left at step 1, action (go a e); its probability is above zero: more particles or marginal inference may find it"
		if r.Undefined.Reason != want {
			t.Errorf("got %q, want %q", r.Undefined.Reason, want)
		}
	}
	// At its goal the agent stays put, and never slips.
	s = graph(t, []string{"ab", "bc"}, []string{"a"}, "(go a b)")
	for seed := range uint64(3) {
		r, err := s.Run(t.Context(), p, o, seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		if u := r.Undefined; u == nil || u.Reason != "zero probability at step 1, action (go a b)" {
			t.Errorf("%+v", u)
		}
		zero++
	}
	if ran < 5 || zero != 3 {
		t.Errorf("ran out in %d of 20 runs; zero in %d", ran, zero)
	}
}
