package inference

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"foible/core/agent"
	"foible/core/heuristic"
	"foible/core/internal/tiny"
	"foible/core/pddl"
	"foible/core/search"
	"foible/internal/chance"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(chance.Seed(seed), 3)) }

func plan(t testing.TB, steps ...string) []pddl.Step {
	t.Helper()
	var all []pddl.Step
	for _, s := range steps {
		p, err := pddl.ParsePlan("plan", []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p...)
	}
	return all
}

// world is a tiny task with a plan that is full of mistakes.
type world struct {
	name string
	sips *SIPS
	o    Options // of the observation
}

// threeBlocks: is the word "abc" or "cab"? Each may be taken for any order of its letters.
func threeBlocks(t testing.TB) world {
	words := []string{"abc", "cab", "acb", "bac", "bca", "cba"}
	task := tiny.Blocks(t, "abc", words...)
	p, err := task.Propositional()
	if err != nil {
		t.Fatal(err)
	}
	r := heuristic.NewRelaxation(p)
	goals := agent.Goals{Corrupt: make([][]int, len(words))}
	for i := range words {
		goals.Heuristic = append(goals.Heuristic, r.FF(i))
		goals.Corrupt[i] = []int{0, 1, 2, 3, 4, 5}
	}
	steps := plan(t, "(pick-up a)", "(stack a b)", "(unstack a b)", "(put-down a)", "(pick-up b)")
	return world{"blocks", NewSIPS(task, goals, 2, steps), Options{PredicateNoise: 0.1}}
}

// maze3: is it the near gem, or that behind the door? The agent fetches the key, and has second thoughts.
func maze3(t testing.TB) world {
	task := tiny.Maze(t)
	goals := agent.Goals{Corrupt: make([][]int, 2)}
	for i := range 2 {
		goals.Heuristic = append(goals.Heuristic, heuristic.NewTable(tiny.Manhattan(task, i, 0)))
	}
	steps := plan(t, "(west)", "(north)", "(take key)", "(south)", "(south)", "(north)", "(east)")
	return world{"maze", NewSIPS(task, goals, 2, steps), Options{PredicateNoise: 0.05, FluentNoise: 0.3}}
}

// agents are parameter sets whose searches are few enough to enumerate.
var agents = map[string]agent.Parameters{
	"full":            {GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.4, ActionNoise: 0.2, Kind: agent.PerActionOdds},
	"total":           {GoalNoise: 0.3, BudgetR: 1, BudgetQ: 0.7, SearchNoise: 0.2, ActionNoise: 0.3, Kind: agent.Total},
	"goal-lesioned":   {BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.4, ActionNoise: 0.2, Kind: agent.PerActionOdds},
	"plan-lesioned":   {GoalNoise: 0.2, Unlimited: true, ActionNoise: 0.3, Kind: agent.Total},
	"action-lesioned": {GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.4, Kind: agent.PerActionOdds},
}

// The forward recursion sums over what agents do; agents that do it are counted here.
// They agree at every step within [chance.Bound].
func TestExactIsWhatAgentsDo(t *testing.T) { chance.Repeat(t, exactIsWhatAgentsDo) }

func exactIsWhatAgentsDo(t *testing.T) {
	n := 40_000
	if testing.Short() {
		n = 4000
	}
	for _, w := range []world{threeBlocks(t), maze3(t)} {
		for name, p := range agents {
			a, err := agent.New(w.sips.task, &w.sips.goals, w.sips.search, p)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := w.sips.Exact(p, Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			rng := seeded(1)
			followed := make([][]int, len(w.sips.states)) // [step][goal]
			for k := range followed {
				followed[k] = make([]int, 2)
			}
			for i := range n {
				goal := i % 2
				m, at := agent.Begin(goal), w.sips.states[0]
				for k := 1; k < len(w.sips.states) && at == w.sips.states[k-1]; k++ {
					must(a.Think(context.Background(), &m, at, rng))
					if _, at = a.Act(&m, at, rng); at == w.sips.states[k] {
						followed[k][goal]++
					}
				}
			}
			logP := 0.0
			for k := 1; k < len(followed); k++ {
				logP += exact.Evidence[k]
				for goal := range 2 {
					want := min(math.Exp(logP)*exact.Posterior[k][goal]*2, 1)
					got := float64(followed[k][goal]) / float64(n/2)
					if z := (got - want) / math.Sqrt(want*(1-want)/float64(n/2)); !(math.Abs(z) < chance.Bound(200, chance.Known)) && got != want {
						t.Errorf("%s, %s, goal %d: %v of the agents come to step %d, want %v (z %.1f)", w.name, name, goal, got, k, want, z)
					}
				}
			}
		}
	}
}

// What can be worked out by hand: one state, one way.
func TestExactByHand(t *testing.T) {
	// From a to b; goal c is never reached from there, goal a holds.
	task := tiny.Graph(t, "a", []string{"ab", "ba"}, "b", "a")
	goals := agent.Goals{Corrupt: make([][]int, 2), Heuristic: []search.Heuristic{heuristic.Zero(), heuristic.Zero()}}
	s := NewSIPS(task, goals, 2, plan(t, "(go a b)", "(go b a)"))
	run, err := s.Exact(agent.Parameters{Unlimited: true, ActionNoise: 0.1, Kind: agent.PerActionOdds}, Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	// One action and staying put: .9 for what is intended, .1 for the other. Goal
	// b goes and then stays; goal a stays, and comes back when it has slipped.
	want := [][]float64{{0.5, 0.5}, {0.9, 0.1}, {0.5, 0.5}}
	evidence := []float64{0, math.Log(0.5), math.Log(0.9*0.1 + 0.1*0.9)}
	for k := range want {
		for g := range want[k] {
			if math.Abs(run.Posterior[k][g]-want[k][g]) > 1e-12 || math.Abs(run.Evidence[k]-evidence[k]) > 1e-12 {
				t.Errorf("step %d: %v %v, want %v %v", k, run.Posterior[k], run.Evidence[k], want[k], evidence[k])
			}
		}
	}
}
