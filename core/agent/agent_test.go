package agent_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
	"foible.dev/foible/internal/chance"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(chance.Seed(seed), 2)) }

func newAgent(t testing.TB, task *ground.Task, corrupt [][]int, p agent.Parameters) *agent.Agent {
	t.Helper()
	goals := &agent.Goals{Corrupt: corrupt}
	for range task.Goals {
		goals.Heuristic = append(goals.Heuristic, heuristic.Zero())
	}
	a, err := agent.New(task, goals, search.New(task), p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestValidate(t *testing.T) {
	good := agent.Parameters{BudgetR: 2, BudgetQ: 0.9, SearchNoise: 0.1, ActionNoise: 0.1, GoalNoise: 0.1, Kind: agent.Total}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(p *agent.Parameters){
		"goal_noise":        func(p *agent.Parameters) { p.GoalNoise = 1.1 },
		"action_noise":      func(p *agent.Parameters) { p.ActionNoise = math.NaN() },
		"action_noise_kind": func(p *agent.Parameters) { p.Kind = "odds" },
		"budget_r":          func(p *agent.Parameters) { p.BudgetR = 0 },
		"budget_q":          func(p *agent.Parameters) { p.BudgetQ = 1 },
		"search_noise":      func(p *agent.Parameters) { p.SearchNoise = math.Inf(1) },
	} {
		p := good
		change(&p)
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), name+" ") {
			t.Errorf("%s: %v", name, err)
		}
		p.Unlimited = true
		if err := p.Validate(); (err == nil) != strings.HasPrefix(name, "budget") {
			t.Errorf("%s, unlimited: %v", name, err)
		}
	}
}

// MODEL: with probability epsilon_g the original goal becomes a corruption, itself
// perhaps, and another one becomes the original.
func TestGoalTransition(t *testing.T) { chance.Repeat(t, goalTransition) }

func goalTransition(t *testing.T) {
	task := tiny.Graph(t, "a", []string{"ab"}, "a", "b", "c")
	a := newAgent(t, task, [][]int{{0, 1, 2}, {}, nil}, agent.Parameters{GoalNoise: 0.3, BudgetR: 1})
	const n = 60_000
	rng := seeded(1)
	count := func(m agent.Mind) (goals [3]float64) {
		for range n {
			m := m
			must(a.Think(context.Background(), &m, task.Initial(), rng))
			goals[m.Goal] += 1. / n
		}
		return goals
	}
	for _, c := range []struct {
		original, goal int32
		want           [3]float64
	}{
		{0, 0, [3]float64{0.8, 0.1, 0.1}},
		{0, 2, [3]float64{0.3, 0, 0.7}},
		{0, 1, [3]float64{0.3, 0.7, 0}},
		{1, 1, [3]float64{0, 1, 0}}, // never confused
		{2, 2, [3]float64{0, 0, 1}},
	} {
		got := count(agent.Mind{Original: c.original, Goal: c.goal})
		for g := range got {
			if sd := math.Sqrt(c.want[g] * (1 - c.want[g]) / n); math.Abs(got[g]-c.want[g]) > chance.Bound(15, chance.Known)*sd+1e-9 {
				t.Errorf("%d of %d becomes %v, want %v", c.goal, c.original, got, c.want)
			}
		}
	}
}

func TestPlanUpdate(t *testing.T) {
	task := tiny.Graph(t, "a", []string{"ab", "bc", "cd", "be", "ec"}, "d", "a", "z")
	a := newAgent(t, task, nil, agent.Parameters{Unlimited: true})
	rng := seeded(1)
	at := map[string]ground.StateID{}
	must(task.Enumerate(context.Background(), 0))
	for s := range ground.StateID(task.Len()) {
		at[tiny.Node(task, s)] = s
	}
	nodes := func(m *agent.Mind) (s string) {
		for _, step := range m.Plan {
			s += tiny.Node(task, step.State)
		}
		return s
	}
	m := agent.Begin(0)
	if m.Intended() != agent.Noop {
		t.Error("a mind that has not thought intends something")
	}
	for i, c := range []struct{ at, plan string }{
		{"a", "bcd"},
		{"b", "cd"},  // goes on
		{"e", "cd"},  // not where the plan led: a new one, of two steps too
		{"c", "d"},   // goes on
		{"d", ""},    // the goal holds: nothing to do
		{"d", ""},    // looks again
		{"b", "cd"},  // pushed away
		{"a", "bcd"}, // pushed again
	} {
		planned := must(a.Think(context.Background(), &m, at[c.at], rng))
		if goesOn := i == 1 || i == 3; planned == goesOn {
			t.Errorf("thought %d: a new plan: %v", i, planned)
		}
		if nodes(&m) != c.plan {
			t.Errorf("thought %d, at %s: plan %q, want %q", i, c.at, nodes(&m), c.plan)
		}
	}
	// The last step of a plan: replaced even where there is nothing else to do.
	partial := agent.Mind{Plan: []search.Step{{Operator: 0, State: at["b"]}}}
	must(a.Think(context.Background(), &partial, at["b"], rng))
	if nodes(&partial) != "cd" {
		t.Errorf("after the last step: %q", nodes(&partial))
	}
	// A change of the goal alone does not end a plan.
	changed := agent.Mind{Original: 0, Goal: 1, Plan: []search.Step{{Operator: 0, State: at["b"]}, {Operator: 1, State: at["c"]}}}
	must(a.Think(context.Background(), &changed, at["b"], rng))
	if nodes(&changed) != "c" || changed.Goal != 1 {
		t.Errorf("%+v", changed)
	}
	// No way to the goal: stay put.
	for _, goal := range []int{1, 2} {
		m := agent.Begin(goal)
		must(a.Think(context.Background(), &m, at["b"], rng))
		if m.Intended() != agent.Noop {
			t.Errorf("goal %d: %v", goal, m)
		}
	}
}

// The tables are those of MODEL.md §2, action selection.
func TestChances(t *testing.T) {
	const e = 0.2
	for _, c := range []struct {
		kind agent.NoiseKind
		e    float64
		n    int
		noop bool
		want agent.Chances
	}{
		{agent.Total, e, 4, false, agent.Chances{Intended: 0.8, Other: 0.2 / 3}},
		{agent.Total, e, 4, true, agent.Chances{Intended: 0.8, Other: 0.05}},
		{agent.Total, e, 1, false, agent.Chances{Intended: 1}}, // no other action to slip to
		{agent.Total, e, 1, true, agent.Chances{Intended: 0.8, Other: 0.2}},
		{agent.Total, e, 0, true, agent.Chances{Intended: 1}},
		{agent.Total, 0, 3, false, agent.Chances{Intended: 1}},
		{agent.Total, 1, 3, false, agent.Chances{Other: 0.5}},
		{"", e, 4, true, agent.Chances{Intended: 0.8, Other: 0.05}},
		{agent.PerActionOdds, e, 4, false, agent.Chances{Intended: 0.8 / 1.6, Other: 0.2 / 1.6, Noop: 0.2 / 1.6}},
		{agent.PerActionOdds, e, 4, true, agent.Chances{Intended: 0.8 / 1.6, Other: 0.2 / 1.6}},
		{agent.PerActionOdds, e, 1, false, agent.Chances{Intended: 0.8, Other: 0.2, Noop: 0.2}}, // there is no other
		{agent.PerActionOdds, e, 0, true, agent.Chances{Intended: 1}},
		{agent.PerActionOdds, 1, 0, true, agent.Chances{Intended: 1}},
		{agent.PerActionOdds, 1, 2, false, agent.Chances{Other: 0.5, Noop: 0.5}},
		{agent.PerActionOdds, 0, 2, false, agent.Chances{Intended: 1}},
	} {
		p := agent.Parameters{ActionNoise: c.e, Kind: c.kind}
		got := p.Chances(c.n, c.noop)
		if c.noop {
			got.Noop = 0 // it is the intended one
		}
		for _, d := range []float64{got.Intended - c.want.Intended, got.Other - c.want.Other, got.Noop - c.want.Noop} {
			if !(math.Abs(d) < 1e-15) {
				t.Errorf("%s, noise %v, %d actions, noop %v: %+v, want %+v", c.kind, c.e, c.n, c.noop, got, c.want)
			}
		}
		others := float64(c.n)
		if !c.noop {
			others--
		}
		if sum := got.Intended + others*got.Other + got.Noop; math.Abs(sum-1) > 1e-15 {
			t.Errorf("%s, noise %v, %d actions, noop %v: probabilities sum to %v", c.kind, c.e, c.n, c.noop, sum)
		}
	}
}

// Actions that are taken, where they lead, and the probabilities of that agree.
// Two actions lead from a to a, so that outcomes of one state add up.
func TestAct(t *testing.T) {
	task := tiny.Task(t, `(define (domain d) (:requirements :strips) (:predicates (a) (b) (c))
(:action wait1 :parameters () :precondition (a) :effect (a))
(:action to-b :parameters () :precondition (a) :effect (and (b) (not (a))))
(:action to-c :parameters () :precondition (a) :effect (and (c) (not (a))))
(:action also-c :parameters () :precondition (a) :effect (and (c) (not (a)))))`, "(define (problem p) (:domain d) (:init (a)))", "(b)")
	a, b, c := task.Initial(), task.Successors(task.Initial())[1].State, task.Successors(task.Initial())[2].State
	for _, kind := range []agent.NoiseKind{agent.Total, agent.PerActionOdds} {
		g := newAgent(t, task, nil, agent.Parameters{Unlimited: true, ActionNoise: 0.3, Kind: kind})
		for intended := agent.Noop; intended < 4; intended++ {
			m := agent.Mind{}
			if intended != agent.Noop {
				m.Plan = []search.Step{{Operator: intended, State: task.Successors(a)[intended].State}}
			}
			const n = 40_000
			rng := seeded(uint64(intended + 1))
			actions, states := map[ground.OperatorID]float64{}, map[ground.StateID]float64{}
			for range n {
				action, to := g.Act(&m, a, rng)
				if want, ok := task.Apply(a, action); action == agent.Noop && to != a || action != agent.Noop && (!ok || to != want) {
					t.Fatalf("action %d leads to %d", action, to)
				}
				actions[action] += 1. / n
				states[to] += 1. / n
			}
			check := func(what string, got, want float64) {
				if math.Abs(got-want) > chance.Bound(100, chance.Known)*math.Sqrt(want*(1-want)/n) {
					t.Errorf("%s, intended %d: %s: %v, want %v", kind, intended, what, got, want)
				}
			}
			chances := g.Chances(4, intended == agent.Noop)
			check("intended", actions[intended], chances.Intended)
			for other := range ground.OperatorID(4) {
				if other != intended {
					check("other", actions[other], chances.Other)
				}
			}
			if intended != agent.Noop {
				check("noop", actions[agent.Noop], chances.Noop)
			}
			var sum float64
			for i, to := range []ground.StateID{a, b, c} {
				p := g.Leading(&m, a, to)
				check("state "+string("abc"[i]), states[to], p)
				sum += p
			}
			if math.Abs(sum-1) > 1e-15 {
				t.Errorf("%s, intended %d: states have %v", kind, intended, sum)
			}
		}
	}
}

func TestSimulate(t *testing.T) {
	task := tiny.Blocks(t, "abc", "abc", "cab")
	a := newAgent(t, task, [][]int{{0, 1}, {1}}, agent.Parameters{GoalNoise: 0.3, BudgetR: 2, BudgetQ: 0.8, SearchNoise: 0.3, ActionNoise: 0.2, Kind: agent.PerActionOdds})
	rng := seeded(1)
	slips, confused, done := 0, 0, 0
	for range 500 {
		events := must(a.Simulate(context.Background(), 0, 40, rng))
		at := task.Initial()
		for i := range events {
			e := &events[i]
			to, ok := task.Apply(at, e.Taken)
			if e.At != at || e.Taken == agent.Noop && e.State != at || e.Taken != agent.Noop && (!ok || to != e.State) {
				t.Fatalf("step %d of %+v", i, events)
			}
			if at = e.State; e.Slip() {
				slips++
			}
			if e.Confused() {
				confused++
			}
		}
		if task.Satisfies(at, 0) {
			done++
		}
	}
	if slips == 0 || confused == 0 || done < 100 {
		t.Errorf("%d slips, %d confused, %d of 500 reached the goal", slips, confused, done)
	}
	if events := must(newAgent(t, tiny.Graph(t, "a", nil, "a"), nil, agent.Parameters{Unlimited: true}).Simulate(context.Background(), 0, 5, rng)); events != nil {
		t.Errorf("the goal holds, and yet %v", events)
	}
	// Nothing can be done: it stays put.
	idle := newAgent(t, tiny.Graph(t, "a", nil, "b"), nil, agent.Parameters{Unlimited: true, ActionNoise: 1, Kind: agent.PerActionOdds})
	if events := must(idle.Simulate(context.Background(), 0, 5, rng)); len(events) != 5 || slices.ContainsFunc(events, func(e agent.Action) bool { return e.Taken != agent.Noop || e.Slip() }) {
		t.Errorf("%+v", events)
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
