package marginal

import (
	"math"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/inference/sips"
)

// The example that goes with the derivation in doc.go, recomputed by hand. An agent
// stands at a, between x and y:
//
//	x – a – y
//
// The goals are x and y, and each is taken for the other with goal noise .1. The
// budget is geometric, P(η ≥ n) = .5^n; heuristic values are 0; the action noise is .2.
// The agent goes to x and back to a.
func TestDerivation(t *testing.T) {
	s := worlds.Graph(t, []string{"ax", "ay", "xa", "ya"}, []string{"x", "y"}, "(go a x)", "(go x a)")
	s.Goals.Corrupt = [][]int{{1}, {0}}
	p := agent.Parameters{GoalNoise: 0.1, BudgetR: 1, BudgetQ: 0.5, SearchNoise: 1, ActionNoise: 0.2, Kind: agent.Total}

	// Plans from a for x. The first draw is a itself. Budgets of 0 and 1 leave no plan. The second
	// draw is x or y, equally probable: x ends the search; y does so if the budget is 2, and else
	// the third draw is x. Plans for y are their mirror image.
	const (
		atLeast2, atLeast3 = 0.25, 0.125
		just2              = atLeast2 - atLeast3
		none               = 1 - atLeast2                              // E(0): the plan is empty
		towards            = 0.5*atLeast2 + 0.5*atLeast3               // to the goal
		away               = 0.5 * just2                               // to the other place
		matchA, otherA     = 0.8, 0.2                                  // two actions are available at a
		stayA              = 0.1                                       // a slip of who means to stay: one of two
		toX                = towards*matchA + away*otherA + none*stayA // N(0) at step 0 for x: E(1) match + D(0) other + E(0) stay
		toXForY            = away*matchA + towards*otherA + none*stayA
	)
	// At x one action is available, so who means to take it cannot slip. Plans for x are empty; plans
	// for y go back to a if the budget is 2 or more.
	const (
		backForX = 0.2 // a slip of who means to stay
		backForY = atLeast2*1 + none*0.2
	)
	// Every plan is over after one action, so the agent plans at step 1, and the evidence is a sum
	// over goals. The goal changes before it plans, at step 0 and again at step 1.
	const keep, change = 0.9, 0.1
	z := func(own, other, backOwn, backOther float64) (one, two float64) {
		f0, f0Other := keep, change
		w, wOther := f0*own, f0Other*other
		f1, f1Other := w*keep+wOther*change, w*change+wOther*keep
		return f1 + f1Other, f1*backOwn + f1Other*backOther
	}
	x1, x2 := z(toX, toXForY, backForX, backForY)
	y1, y2 := z(toXForY, toX, backForY, backForX)
	equal := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %.15f, want %.15f", name, got, want)
		}
	}
	// The numbers of the text, to be checked with a pocket calculator.
	equal("Z_1(x)", x1, 0.23)
	equal("Z_1(y)", y1, 0.17)
	equal("Z_2(x)", x2, 0.0532)
	equal("Z_2(y)", y2, 0.0608)

	// The recursion, with tables that are enumerated in place of sampled.
	r := enumeratedResult(t, marginalOf(s), &p)
	for step, want := range [][]float64{{1, 1}, {x1, y1}, {x2, y2}} {
		for goal, z := range want {
			equal("the evidence", r.evidence[step][goal][0]*math.Exp(r.shift[step]), z)
		}
	}
	// All that the agent may have had in mind, enumerated.
	exact, err := sips.New(s).Exact(p, sips.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	equal("P(x) after one step", exact.Posterior[1][0], 0.575)
	equal("P(x) after two steps", exact.Posterior[2][0], 7.0/15)
}
