package policy_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/policy"
)

// From a, the goal d is one action away by b, two by c, and out of reach by e:
// V(b) = -1, V(c) = -2, V(e) = -9, so that pi ~ exp(-alpha), exp(-2 alpha),
// exp(-9 alpha). In 40,000 draws the standard error of a share is at most .0025.
func TestAgentActsByThePolicy(t *testing.T) {
	task, plan := walk(t, "ab ac ae bd cb", "d", "ab")
	o, err := policy.NewObserver(task, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	const alpha, draws = 0.5, 40_000
	agent, err := o.Agent(context.Background(), 0, policy.Parameters{Alpha: alpha, Value: policy.Optimal, Unreachable: -9})
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]float64{"(go a b)": math.Exp(-alpha), "(go a c)": math.Exp(-2 * alpha), "(go a e)": math.Exp(-9 * alpha)}
	var sum float64
	for _, name := range []string{"(go a b)", "(go a c)", "(go a e)"} {
		sum += weights[name]
	}
	rng := rand.New(rand.NewPCG(1, 1))
	count := map[string]int{}
	for range draws {
		act, ok, _ := agent.Act(context.Background(), task.Initial(), rng)
		name := agent.Operator(act.Taken)
		count[name]++
		if want := weights[name] / sum; !ok || math.Abs(act.Probability-want) > 1e-12 {
			t.Fatalf("%s has probability %v, want %v", name, act.Probability, want)
		}
		if len(act.Best) != 1 || agent.Operator(act.Best[0]) != "(go a b)" || math.Abs(act.Highest-weights["(go a b)"]/sum) > 1e-12 {
			t.Fatalf("best %v, %v", act.Best, act.Highest)
		}
	}
	for name, w := range weights {
		if share := float64(count[name]) / draws; math.Abs(share-w/sum) > 4*0.0025 {
			t.Errorf("%s: %.4f of the draws, want %.4f", name, share, w/sum)
		}
	}
}

// Every way of valuing states agrees with the observer: the posterior of one
// action is the ratio of the agents' probabilities of it.
func TestAgentAgreesWithTheObserver(t *testing.T) {
	task, plan := walk(t, "ab ac ba bd ce ec cd! db", "d e", "ab")
	h := func(*ground.Task, int) (func(ground.StateID) float64, error) {
		return func(s ground.StateID) float64 {
			if task.Holds(s, "at", "c") {
				return math.Inf(1)
			}
			return float64(s % 3)
		}, nil
	}
	o, err := policy.NewObserver(task, plan, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []policy.Value{policy.Optimal, policy.OnPolicy, policy.Heuristic} {
		p := policy.Parameters{Alpha: 0.7, Value: value, Unreachable: -5}
		post, err := o.Posterior(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		var likelihood [2]float64
		for goal := range likelihood {
			agent, err := o.Agent(context.Background(), goal, p)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for likelihood[goal] == 0 { // until it does what was observed
				if act, _, _ := agent.Act(context.Background(), task.Initial(), rng); agent.Operator(act.Taken) == "(go a b)" {
					likelihood[goal] = act.Probability
				}
			}
		}
		if got := likelihood[0] / (likelihood[0] + likelihood[1]); math.Abs(got-post.Goals[1][0]) > 1e-12 {
			t.Errorf("%s: %v, the observer has %v", value, got, post.Goals[1][0])
		}
	}
}

func TestSimulatedAgentStops(t *testing.T) {
	for _, c := range []struct {
		doors, goal string
		steps       int
		actions     int
		reached     bool
	}{
		{"ab bc", "c", 10, 2, true},
		{"ab bc", "c", 1, 1, false},
		{"ab ba", "c", 7, 7, false},
		{"ab", "c", 10, 1, false}, // nothing can be done in b
		{"ab", "a", 10, 0, true},
	} {
		task, plan := walk(t, c.doors, c.goal, "ab")
		o, err := policy.NewObserver(task, plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		agent, err := o.Agent(context.Background(), 0, policy.Parameters{Alpha: 1, Value: policy.Optimal, Unreachable: -5})
		if err != nil {
			t.Fatal(err)
		}
		actions, reached, _ := agent.Simulate(context.Background(), c.steps, rand.New(rand.NewPCG(1, 3)))
		if len(actions) != c.actions || reached != c.reached {
			t.Errorf("%v: %d actions, reached %v", c, len(actions), reached)
		}
	}
}

func TestAgentsThatThereAreNot(t *testing.T) {
	task, plan := walk(t, "ab", "b", "ab")
	o, err := policy.NewObserver(task, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]policy.Parameters{
		"not a Boltzmann agent":        {Alpha: 0, Value: policy.Optimal},
		`unknown value "best"`:         {Alpha: 1, Value: "best"},
		"the domain has no heuristic;": {Alpha: 1, Value: policy.Heuristic},
	} {
		if _, err := o.Agent(context.Background(), 0, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestDistances(t *testing.T) {
	task, _ := walk(t, "ab bc cd da de", "d a", "ab")
	if _, err := policy.NewDistances(t.Context(), task, 3); !errors.Is(err, policy.ErrTooLarge) {
		t.Errorf("more than 3 states: error %v", err)
	}
	d, err := policy.NewDistances(t.Context(), task, 5)
	if err != nil {
		t.Fatal(err)
	}
	var to [2]func(ground.StateID) int
	for goal := range to {
		if to[goal], err = d.To(t.Context(), goal); err != nil {
			t.Fatal(err)
		}
	}
	for s := range ground.StateID(task.Len()) {
		for room, want := range map[string][2]int{"a": {3, 0}, "b": {2, 3}, "c": {1, 2}, "d": {0, 1}, "e": {-1, -1}} {
			if !task.Holds(s, "at", room) {
				continue
			}
			if got := [2]int{to[0](s), to[1](s)}; got != want {
				t.Errorf("from %s: %v, want %v", room, got, want)
			}
		}
	}
}
