package policy_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/policy"
)

// rooms is a maze of rooms and one-way doors; one walks from room to room.
const rooms = `(define (domain rooms)
  (:requirements :strips :typing)
  (:types room)
  (:predicates (at ?r - room) (door ?from ?to - room) (window ?from ?to - room))
  (:action go
   :parameters (?from ?to - room)
   :precondition (and (at ?from) (door ?from ?to))
   :effect (and (not (at ?from)) (at ?to)))
  (:action climb
   :parameters (?from ?to - room)
   :precondition (and (at ?from) (window ?from ?to))
   :effect (and (not (at ?from)) (at ?to))))`

// walk is a task in rooms: doors are "ab" for one from a to b, "ab!" where
// there is a window too; the goals are rooms; the path goes through doors and
// starts in its first room.
func walk(t testing.TB, doors, goals, path string) (*ground.Task, []pddl.Step) {
	t.Helper()
	d, err := pddl.ParseDomain("rooms.pddl", []byte(rooms))
	if err != nil {
		t.Fatal(err)
	}
	var init, plan strings.Builder
	for _, door := range strings.Fields(doors) {
		fmt.Fprintf(&init, " (door %c %c)", door[0], door[1])
		if strings.HasSuffix(door, "!") {
			fmt.Fprintf(&init, " (window %c %c)", door[0], door[1])
		}
	}
	for i := range len(path) - 1 {
		fmt.Fprintf(&plan, "(go %c %c)\n", path[i], path[i+1])
	}
	p, err := pddl.ParseProblem("problem.pddl", fmt.Appendf(nil,
		"(define (problem p) (:domain rooms) (:objects a b c d e f - room) (:init (at %c)%s))", path[0], init.String()), d)
	if err != nil {
		t.Fatal(err)
	}
	var formulas []pddl.Formula
	for _, goal := range strings.Fields(goals) {
		f, err := pddl.ParseGoal("goal", []byte("(at "+goal+")"), p)
		if err != nil {
			t.Fatal(err)
		}
		formulas = append(formulas, f)
	}
	task, err := ground.New(p, formulas)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := pddl.ParsePlan("plan", []byte(plan.String()))
	if err != nil {
		t.Fatal(err)
	}
	return task, steps
}

const corridor = "ab ba bc cb cd dc de ed" // a - b - c - d - e

func observe(t testing.TB, doors, goals, path string, h policy.HeuristicFunc) *policy.Observer {
	t.Helper()
	task, plan := walk(t, doors, goals, path)
	o, err := policy.NewObserver(task, plan, h)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// along is a heuristic of the corridor: the cost of each room by goal.
func along(costs ...map[string]float64) policy.HeuristicFunc {
	return func(task *ground.Task, goal int) (func(ground.StateID) float64, error) {
		return func(s ground.StateID) float64 {
			for room, cost := range costs[goal] {
				if task.Holds(s, "at", room) {
					return cost
				}
			}
			return math.Inf(1)
		}, nil
	}
}

func posterior(t testing.TB, o *policy.Observer, p policy.Parameters) *policy.Posterior {
	t.Helper()
	post, err := o.Posterior(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return post
}

// near compares posteriors, which must have as many steps.
func near(t *testing.T, got, want [][]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d steps, want %d", len(got), len(want))
	}
	for k := range want {
		for g := range want[k] {
			if !(math.Abs(got[k][g]-want[k][g]) <= 1e-9) {
				t.Errorf("step %d: got %.12v, want %.12v", k, got[k], want[k])
				break
			}
		}
	}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func two(p float64) []float64 { return []float64{p, 1 - p} }

// root of an increasing function on [low, high].
func root(f func(float64) float64, low, high float64) float64 {
	for range 200 {
		if middle := (low + high) / 2; f(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Goals are the two ends of the corridor; the agent starts in the middle and
// goes to a.
func TestCorridor(t *testing.T) {
	const alpha = 0.7
	optimal := policy.Parameters{Alpha: alpha, Value: policy.Optimal, Unreachable: -1000}

	// A step towards a is worth 2 more than one away from it, at c as at b; at a
	// there is one way to go. So the odds grow by e^(2 alpha) at each of two steps.
	post := posterior(t, observe(t, corridor, "a e", "cbab", nil), optimal)
	near(t, post.Goals, [][]float64{two(0.5), two(logistic(2 * alpha)), two(logistic(4 * alpha)), two(logistic(4 * alpha))})

	// The same by h = 3 x distance.
	h := along(map[string]float64{"a": 0, "b": 3, "c": 6, "d": 9, "e": 12}, map[string]float64{"a": 12, "b": 9, "c": 6, "d": 3, "e": 0})
	post = posterior(t, observe(t, corridor, "a e", "cba", h), policy.Parameters{Alpha: alpha, Value: policy.Heuristic})
	near(t, post.Goals, [][]float64{two(0.5), two(logistic(6 * alpha)), two(logistic(12 * alpha))})

	// On-policy, for the goal a: V(e) = V(d) - 1, since at e one can only turn round.
	// At a room between x (nearer) and y, with d = V(x) - V(y) and p = logistic(alpha d):
	// V = -1 + V(y) + p d. Given V(d), that of c follows from d, that of b from c, and a is 0.
	values := func(vd float64) (v [5]float64) {
		v[4], v[3] = vd-1, vd
		for r := 3; r >= 1; r-- { // V(r) = -1 + V(r+1) + p d: find d, and so V(r-1)
			gain := root(func(d float64) float64 { return logistic(alpha*d)*d - (v[r] + 1 - v[r+1]) }, -1/alpha, 50)
			v[r-1] = v[r+1] + gain
		}
		return v
	}
	v := values(root(func(vd float64) float64 { return values(vd)[0] }, -60, -3))
	if math.Abs(v[0]) > 1e-9 {
		t.Fatalf("no root: %v", v)
	}
	toA := math.Log(logistic(alpha*(v[1]-v[3]))) - math.Log(logistic(alpha*(v[3]-v[1]))) // by symmetry, goal e has V reversed
	fromB := math.Log(logistic(alpha*(v[0]-v[2]))) - math.Log(logistic(alpha*(v[4]-v[2])))
	post = posterior(t, observe(t, corridor, "a e", "cba", nil), policy.Parameters{Alpha: alpha, Value: policy.OnPolicy, Unreachable: -1000})
	near(t, post.Goals, [][]float64{two(0.5), two(logistic(toA)), two(logistic(toA + fromB))})
}

// The agent passes through d, a goal, on its way to e, the other. At d, the
// goal's agent may go either way; an agent bound for e gains 2 by going on.
func TestGoalPassedThrough(t *testing.T) {
	const alpha = 1.3
	post := posterior(t, observe(t, corridor, "d e", "cde", nil), policy.Parameters{Alpha: alpha, Value: policy.Optimal, Unreachable: -1000})
	p := logistic(2 * alpha)
	near(t, post.Goals, [][]float64{two(0.5), two(0.5), two(0.5 / (0.5 + p))})
	if post.Undefined != nil || !reflect.DeepEqual(post.UnreachableFrom, []int{-1, -1}) {
		t.Errorf("%+v", post)
	}
}

// An action that leads where another one leads has its own share: from a there
// are a door and a window to b, and a door to c.
func TestActionsAreCountedNotStates(t *testing.T) {
	const alpha, unreachable = 0.5, -3
	x := math.Exp(alpha * unreachable) // b and c are worth 0 to their own goal, unreachable to the other
	b, c := 1/(2+x), x/(2*x+1)
	post := posterior(t, observe(t, "ab! ac", "b c", "ab", nil), policy.Parameters{Alpha: alpha, Value: policy.Optimal, Unreachable: unreachable})
	near(t, post.Goals, [][]float64{two(0.5), two(b / (b + c))})
}

// From c on, a cannot be reached any more: V is the unreachable value there.
func TestUnreachableGoal(t *testing.T) {
	const doors = "ab ba bc cd dc" // no way from c back to b
	for _, value := range []policy.Value{policy.Optimal, policy.OnPolicy} {
		p := policy.Parameters{Alpha: 0.5, Value: value, Unreachable: -7}
		post := posterior(t, observe(t, doors, "a d e", "bcdc", nil), p)
		if want := []int{1, -1, 0}; !reflect.DeepEqual(post.UnreachableFrom, want) {
			t.Errorf("%s: unreachable from %v, want %v", value, post.UnreachableFrom, want)
		}
		if value == policy.OnPolicy {
			continue
		}
		// At b: a is worth 0 for goal a, c is worth -1 for d and -7 for a; a is -3 for d. Goal e tells nothing.
		a, d, e := 1-logistic(3.5), logistic(1), 0.5
		near(t, post.Goals[:2], [][]float64{{1. / 3, 1. / 3, 1. / 3}, {a / (a + d + e), d / (a + d + e), e / (a + d + e)}})
		near(t, post.Goals[2:], [][]float64{post.Goals[1], post.Goals[1]}) // one way to go
	}
	h := along(map[string]float64{"a": 0, "b": 1}, map[string]float64{"a": 3, "b": 2, "c": 1, "d": 0})
	post := posterior(t, observe(t, doors, "a d", "bcd", h), policy.Parameters{Alpha: 0.5, Value: policy.Heuristic, Unreachable: -7})
	if want := []int{1, -1}; !reflect.DeepEqual(post.UnreachableFrom, want) {
		t.Errorf("heuristic: unreachable from %v, want %v", post.UnreachableFrom, want)
	}
	near(t, post.Goals[:2], [][]float64{two(0.5), two((1 - logistic(3.5)) / (1 - logistic(3.5) + logistic(1)))})
}

// Values far apart, whose exponentials overflow and underflow, give numbers all the same.
func TestExtremeParameters(t *testing.T) {
	for _, alpha := range []float64{1e-9, 1e6} {
		for _, unreachable := range []float64{0, -1e6} {
			for _, value := range []policy.Value{policy.Optimal, policy.OnPolicy} {
				post := posterior(t, observe(t, "ab ba bc cd dc de", "a d e f", "bcdcde", nil), policy.Parameters{Alpha: alpha, Value: value, Unreachable: unreachable})
				for k, row := range post.Goals {
					sum := 0.0
					for _, p := range row {
						sum += p
					}
					if !(math.Abs(sum-1) < 1e-12) {
						t.Errorf("alpha %v, unreachable %v, %s, step %d: %v", alpha, unreachable, value, k, row)
					}
				}
			}
		}
	}
}

func TestImpossibleAction(t *testing.T) {
	for name, test := range map[string]struct{ path, want string }{
		"no door":        {"cbd", "impossible at step 2, action (go b d)"},
		"no such room":   {"cbx", "impossible at step 2, action (go b x)"},
		"at first":       {"ca", "impossible at step 1, action (go c a)"},
		"and what after": {"cbdcb", "impossible at step 2, action (go b d)"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, corridor, "a e", test.path, nil)
			post := posterior(t, o, policy.Parameters{Alpha: 1, Value: policy.Optimal, Unreachable: -1000})
			if post.Undefined == nil || post.Undefined.Reason != test.want {
				t.Fatalf("%+v, want %s", post.Undefined, test.want)
			}
			if len(post.Goals) != post.Undefined.Step {
				t.Errorf("%d posteriors, undefined from step %d", len(post.Goals), post.Undefined.Step)
			}
			near(t, post.Goals[:1], [][]float64{two(0.5)})
		})
	}
}

func TestRefusals(t *testing.T) {
	task, plan := walk(t, corridor, "", "cb")
	if _, err := policy.NewObserver(task, plan, nil); err == nil || err.Error() != "no goals to infer" {
		t.Error(err)
	}
	bad := func(*ground.Task, int) (func(ground.StateID) float64, error) {
		return func(ground.StateID) float64 { return math.NaN() }, nil
	}
	none := func(*ground.Task, int) (func(ground.StateID) float64, error) {
		return nil, fmt.Errorf("numeric conditions have none")
	}
	good := policy.Parameters{Alpha: 1, Value: policy.Optimal, Unreachable: -1000}
	with := func(change func(*policy.Parameters)) policy.Parameters {
		p := good
		change(&p)
		return p
	}
	heuristic := with(func(p *policy.Parameters) { p.Value = policy.Heuristic })
	for name, test := range map[string]struct {
		h    policy.HeuristicFunc
		p    policy.Parameters
		want string
	}{
		"alpha 0":         {nil, with(func(p *policy.Parameters) { p.Alpha = 0 }), "alpha 0, unreachable value -1000: not a Boltzmann agent"},
		"alpha NaN":       {nil, with(func(p *policy.Parameters) { p.Alpha = math.NaN() }), "alpha NaN, unreachable value -1000: not a Boltzmann agent"},
		"alpha infinite":  {nil, with(func(p *policy.Parameters) { p.Alpha = math.Inf(1) }), "alpha +Inf, unreachable value -1000: not a Boltzmann agent"},
		"unreachable NaN": {nil, with(func(p *policy.Parameters) { p.Unreachable = math.NaN() }), "alpha 1, unreachable value NaN: not a Boltzmann agent"},
		"unreachable -∞":  {nil, with(func(p *policy.Parameters) { p.Unreachable = math.Inf(-1) }), "alpha 1, unreachable value -Inf: not a Boltzmann agent"},
		"no value":        {nil, with(func(p *policy.Parameters) { p.Value = "" }), `unknown value ""`},
		"no heuristic":    {nil, heuristic, "the domain has no heuristic; use value: optimal"},
		"h is NaN":        {bad, heuristic, "heuristic: h is NaN"},
		"no such h":       {none, heuristic, "heuristic: numeric conditions have none"},
	} {
		o := observe(t, corridor, "a e", "cb", test.h)
		if _, err := o.Posterior(context.Background(), test.p); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
		if _, err := o.Posterior(context.Background(), good); err != nil { // and is none the worse for it
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asked are questions that need all that an observer computes once.
var asked = []policy.Parameters{
	{Alpha: 1, Value: policy.Heuristic, Unreachable: -1000},
	{Alpha: 0.5, Value: policy.OnPolicy, Unreachable: -1000},
	{Alpha: 2, Value: policy.Optimal, Unreachable: -40},
	{Alpha: 0.25, Value: policy.OnPolicy, Unreachable: -40},
}

// Whatever was asked before, and by how many at once, the answer is the same to the last bit.
func TestObserverIsPure(t *testing.T) {
	h := along(map[string]float64{"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}, map[string]float64{"a": 9, "b": 3, "c": 2, "d": 1, "e": 0})
	const doors = corridor + " ac ca bf fb"
	alone := make([]*policy.Posterior, len(asked))
	for i, p := range asked {
		alone[i] = posterior(t, observe(t, doors, "a e", "cbcda", h), p)
	}
	together := observe(t, doors, "a e", "cbcda", h)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range asked {
				n := (i + j) % len(asked)
				if got, err := together.Posterior(context.Background(), asked[n]); err != nil || !reflect.DeepEqual(got, alone[n]) {
					t.Errorf("%+v: got %+v, %v, alone %+v", asked[n], got, err, alone[n])
				}
			}
			if n, err := together.States(context.Background()); n != 6 || err != nil {
				t.Errorf("%d states, %v", n, err)
			}
		})
	}
	wg.Wait()
}
