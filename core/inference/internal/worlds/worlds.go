// Package worlds has tiny tasks with plans full of mistakes, for tests of inference. All
// that agents may have in mind in them can be enumerated.
package worlds

import (
	"maps"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/pddl"
)

// World is a tiny task with a plan, and how its states are observed by a particle filter.
type World struct {
	Name           string
	Path           *observed.Path
	PredicateNoise float64
	FluentNoise    float64
}

// All are the worlds in which every agent of Every can be enumerated.
func All(t testing.TB) []World {
	return []World{ThreeBlocks(t), Maze(t), Through(t), Room(t), Trap(t)}
}

// Plan is a plan of steps in PDDL.
func Plan(t testing.TB, steps ...string) []pddl.Step {
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

// Graph is a task of walking from a, with blind heuristics.
func Graph(t testing.TB, edges, goals []string, steps ...string) *observed.Path {
	t.Helper()
	task := tiny.Graph(t, "a", edges, goals...)
	g := agent.Goals{Corrupt: make([][]int, len(goals))}
	for range goals {
		g.Heuristic = append(g.Heuristic, heuristic.Zero())
	}
	return observed.Follow(task, g, len(goals), Plan(t, steps...))
}

// ThreeBlocks: is the word "abc" or "cab"? Each can be confused with any order of its letters.
func ThreeBlocks(t testing.TB) World {
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
	steps := Plan(t, "(pick-up a)", "(stack a b)", "(unstack a b)", "(put-down a)", "(pick-up b)")
	return World{Name: "blocks", Path: observed.Follow(task, goals, 2, steps), PredicateNoise: 0.1}
}

// FiveBlocks: searches without a heuristic that go on for hundreds of draws.
func FiveBlocks(t testing.TB) World {
	words := []string{"abc", "bcd", "acb"}
	goals := agent.Goals{Corrupt: [][]int{{0, 2}, {1}, nil}}
	for range words {
		goals.Heuristic = append(goals.Heuristic, heuristic.Zero())
	}
	steps := Plan(t, "(pick-up b)", "(stack b c)", "(pick-up a)")
	return World{Name: "five blocks", Path: observed.Follow(tiny.Blocks(t, "abcde", words...), goals, 2, steps)}
}

// Maze: is it the near gem, or that behind the door? The agent fetches the key, and has second thoughts.
func Maze(t testing.TB) World {
	task := tiny.Maze(t)
	goals := agent.Goals{Corrupt: make([][]int, 2)}
	for i := range 2 {
		goals.Heuristic = append(goals.Heuristic, heuristic.NewTable(tiny.Manhattan(task, i, 0)))
	}
	steps := Plan(t, "(west)", "(north)", "(take key)", "(south)", "(south)", "(north)", "(east)")
	return World{Name: "maze", Path: observed.Follow(task, goals, 2, steps), PredicateNoise: 0.05, FluentNoise: 0.3}
}

// Through has goals b, c and d along a path; the agent passes through b, reaches c, goes on
// to d and turns back. Each goal can be confused with the next one, or itself.
func Through(t testing.TB) World {
	p := Graph(t, []string{"ab", "bc", "cd", "cb", "dc", "be", "ec"}, []string{"b", "c", "d"},
		"(go a b)", "(go b c)", "(go c d)", "(go d c)", "(go c b)", "(go b e)")
	for goal := range 3 {
		p.Goals.Corrupt[goal] = []int{goal, (goal + 1) % 3, (goal + 1) % 3}
	}
	return World{Name: "through", Path: p}
}

// Room: one may wait, which changes nothing, and there are two ways to each place.
func Room(t testing.TB) World {
	task := tiny.Task(t, `(define (domain d) (:requirements :strips) (:predicates (a) (b) (c))
(:action wait :parameters () :precondition (a) :effect (a))
(:action walk-b :parameters () :precondition (a) :effect (and (b) (not (a))))
(:action run-b :parameters () :precondition (a) :effect (and (b) (not (a))))
(:action walk-c :parameters () :precondition (b) :effect (and (c) (not (b))))
(:action back :parameters () :precondition (b) :effect (and (a) (not (b))))
(:action home :parameters () :precondition (c) :effect (and (a) (not (c)))))`,
		"(define (problem p) (:domain d) (:init (a)))", "(b)", "(c)", "(a)")
	goals := agent.Goals{Corrupt: [][]int{{1, 2}, {0, 1, 2}, nil}}
	for range 3 {
		goals.Heuristic = append(goals.Heuristic, heuristic.Zero())
	}
	steps := Plan(t, "(wait)", "(walk-b)", "(back)", "(wait)", "(run-b)", "(walk-c)", "(home)")
	return World{Name: "room", Path: observed.Follow(task, goals, 2, steps)}
}

// Trap: no way back; the second action cannot be intended by who wants c, nor the third by anybody.
func Trap(t testing.TB) World {
	p := Graph(t, []string{"ab", "bc", "bd", "de", "df"}, []string{"c", "d", "e"}, "(go a b)", "(go b d)", "(go d f)")
	p.Goals.Corrupt = [][]int{{0, 1}, {1}, nil}
	return World{Name: "trap", Path: p}
}

// Chains: two long ways that meet at times, so that searches take many draws and can go in
// few ways. Goal 2 is what goal 0 can be confused with, and out of reach in part.
func Chains(t testing.TB) World {
	p := Graph(t, []string{"ab", "bc", "cd", "de", "ef", "fg", "gh", "hi", "ij", "ak", "kl", "lm", "mn", "no", "op", "pq", "qr", "rs", "ck", "md", "ba"}, []string{"j", "p", "s"},
		"(go a b)", "(go b c)", "(go c d)", "(go d e)")
	p.Candidates = 2
	p.Goals.Corrupt = [][]int{{0, 2}, {1}, nil}
	return World{Name: "chains", Path: p}
}

// Agents are parameter sets whose searches are few enough to enumerate.
var Agents = map[string]agent.Parameters{
	"full":            {GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.4, ActionNoise: 0.2, Kind: agent.PerActionOdds},
	"total":           {GoalNoise: 0.3, BudgetR: 1, BudgetQ: 0.7, SearchNoise: 0.2, ActionNoise: 0.3, Kind: agent.Total},
	"goal-lesioned":   {BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.4, ActionNoise: 0.2, Kind: agent.PerActionOdds},
	"plan-lesioned":   {GoalNoise: 0.2, Unlimited: true, ActionNoise: 0.3, Kind: agent.Total},
	"action-lesioned": {GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.4, Kind: agent.PerActionOdds},
}

// Perfect is an agent that never errs.
var Perfect = agent.Parameters{Unlimited: true, Kind: agent.Total}

// EveryAgent are Agents, and some that never err or only forget.
func EveryAgent() map[string]agent.Parameters {
	all := maps.Clone(Agents)
	all["perfect"] = Perfect
	all["forgetful"] = agent.Parameters{Unlimited: true, GoalNoise: 0.3, Kind: agent.Total}
	return all
}
