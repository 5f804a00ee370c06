package inference

import (
	"context"
	"fmt"
	"maps"
	"math"
	"testing"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/heuristic"
	"foible/core/internal/tiny"
	"foible/core/search"
	"foible/core/sweep"
)

// marginalOf is marginal inference in a tiny world.
func marginalOf(s *SIPS) *Marginal {
	var names []string
	for goal := range s.task.Goals {
		names = append(names, fmt.Sprint(goal))
	}
	return NewMarginal(s, "tiny", names)
}

// through: goals b, c and d along a path; the agent passes through b, reaches c,
// goes on to d and turns back. Each goal may be taken for the next one, or itself.
func through(t testing.TB) world {
	s := graph(t, []string{"ab", "bc", "cd", "cb", "dc", "be", "ec"}, []string{"b", "c", "d"},
		"(go a b)", "(go b c)", "(go c d)", "(go d c)", "(go c b)", "(go b e)")
	for goal := range 3 {
		s.goals.Corrupt[goal] = []int{goal, (goal + 1) % 3, (goal + 1) % 3}
	}
	return world{name: "through", sips: s}
}

// room: one may wait, which changes nothing, and there are two ways to each place.
func room(t testing.TB) world {
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
	return world{name: "room", sips: NewSIPS(task, goals, 2, plan(t, "(wait)", "(walk-b)", "(back)", "(wait)", "(run-b)", "(walk-c)", "(home)"))}
}

// trap: no way back; the second action cannot be meant by who wants c, nor the
// third by anybody.
func trap(t testing.TB) world {
	s := graph(t, []string{"ab", "bc", "bd", "de", "df"}, []string{"c", "d", "e"}, "(go a b)", "(go b d)", "(go d f)")
	s.goals.Corrupt = [][]int{{0, 1}, {1}, nil}
	return world{name: "trap", sips: s}
}

func worlds(t testing.TB) []world {
	return []world{threeBlocks(t), maze3(t), through(t), room(t), trap(t)}
}

// everyAgent has agents that never err, too.
func everyAgent() map[string]agent.Parameters {
	all := maps.Clone(agents)
	all["perfect"] = perfect
	all["forgetful"] = agent.Parameters{Unlimited: true, GoalNoise: 0.3, Kind: agent.Total}
	return all
}

// atLeast is the distribution of an agent's budget.
func atLeast(p *agent.Parameters) func(n int) float64 {
	if p.Unlimited {
		return func(int) float64 { return 1 }
	}
	return p.Budget().AtLeast
}

// enumerated is what plans do according to all ways in which a search can go.
func enumerated(t testing.TB, m *Marginal, p *agent.Parameters, goal, tau int) *planned {
	t.Helper()
	s := m.sips
	found, err := search.Outcomes(s.task, s.states[tau], goal, s.goals.Heuristic[goal], p.SearchNoise, atLeast(p))
	if err != nil {
		t.Fatal(err)
	}
	observed := s.states[tau+1:]
	pl := &planned{groups: 1}
	rows := [4][]lane{} // ends, differs, those that stray
	for kind := range rows {
		rows[kind] = make([]lane, len(observed)+1)
	}
	stray := must(m.stray(context.Background(), tau, goal))
	for _, o := range found {
		matched := 0
		for matched < len(o.Path) && matched < len(observed) && o.Path[matched].State == observed[matched] {
			matched++
		}
		kind := 1
		if matched == len(o.Path) || matched == len(observed) {
			kind = 0
		}
		rows[kind][matched][0] += o.Probability
		if n := len(o.Path); n > 0 && stray != nil && stray(o.Path[n-1].State, n) {
			rows[kind+2][matched][0] += o.Probability
		}
		pl.most = max(pl.most, matched)
	}
	n := pl.most + 1
	pl.ends, pl.differs, pl.strayEnds, pl.strayDiffers = rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n]
	return pl
}

// exactly runs the recursion with enumerated tables in place of sampled ones.
func exactly(t testing.TB, m *Marginal, p *agent.Parameters) *result {
	t.Helper()
	goals := len(m.sips.goals.Heuristic) // the maze has one more, which nobody pursues
	s := &store{storeKey: storeKey{batches: 1, unlimited: p.Unlimited, stray: true}}
	none := &levels{make([]int8, len(m.sips.task.Goals)*len(m.steps)), len(m.steps)}
	ps := &plans{store: s, levels: none, of: make([][]*planned, len(m.sips.task.Goals))}
	if !p.Unlimited {
		ps.budget = p.Budget()
	}
	for goal := range goals {
		for tau := range m.steps {
			ps.of[goal] = append(ps.of[goal], enumerated(t, m, p, goal, tau))
		}
	}
	m.plans, m.links = []*plans{ps}, nil
	return must(m.inferOne(context.Background(), s, p, none))
}

// With tables that are known exactly, the recursion over the times of planning is
// the sum over all that an agent may have had in mind: to rounding, at every step
// and for every goal, and it ends where that ends.
func TestRecursionIsExact(t *testing.T) {
	died, ended := 0, 0
	for _, w := range worlds(t) {
		for name, p := range everyAgent() {
			exact, err := w.sips.Exact(p, Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			m := marginalOf(w.sips)
			r := exactly(t, m, &p)
			cell := must(m.cell(context.Background(), &p, r, nil, &sweep.Procedure{Stage: sweep.Stage{Runs: 1}}))
			if len(cell.Posterior) != len(exact.Posterior) || (cell.Undefined == nil) != (exact.Undefined == nil) {
				t.Errorf("%s, %s: %d steps, %v; want %d, %v", w.name, name, len(cell.Posterior), cell.Undefined, len(exact.Posterior), exact.Undefined)
				continue
			}
			if u := exact.Undefined; u != nil {
				ended++
				if cell.Undefined.Step != u.Step {
					t.Errorf("%s, %s: %v, want %v", w.name, name, cell.Undefined, u)
				}
			}
			log := 0.0
			for step, want := range exact.Posterior {
				log += exact.Evidence[step]
				if !(math.Abs(cell.Evidence[step]-log) < 1e-12*float64(step+1)) {
					t.Errorf("%s, %s, step %d: evidence %v, want %v", w.name, name, step, cell.Evidence[step], log)
				}
				for goal, x := range want {
					if x == 0 {
						died++
					}
					if got := cell.Posterior[step][goal]; !(math.Abs(got-x) < 1e-12) || (got == 0) != (x == 0) {
						t.Errorf("%s, %s, step %d, goal %d: %v, want %v", w.name, name, step, goal, got, x)
					}
					own := log + math.Log(x*float64(len(want)))
					if got := cell.LogEvidence[step][goal]; !(math.Abs(got-own) < 1e-11) && got != own {
						t.Errorf("%s, %s, step %d, goal %d: log evidence %v, want %v", w.name, name, step, goal, got, own)
					}
				}
			}
		}
	}
	if died == 0 || ended == 0 {
		t.Errorf("%d goals that died, %d worlds that ended: nothing is tested", died, ended)
	}
}

// mind is what an agent may think, with how its plan was made.
type mind struct {
	original, goal int
	plan           []search.Step
	stray          bool
}

// enumeratedMistakes are the probabilities of what was behind each action, given the
// actions up to it: confused, slip, off path. All minds that there may be are followed.
func enumeratedMistakes(t *testing.T, s *SIPS, p *agent.Parameters) [][3]float64 {
	t.Helper()
	type weighed struct {
		mind
		p float64
	}
	key := func(m *mind) string { return fmt.Sprint(*m) }
	collect := func(all []weighed) []weighed {
		at := map[string]int{}
		var out []weighed
		for _, w := range all {
			if i, ok := at[key(&w.mind)]; ok {
				out[i].p += w.p
				continue
			}
			at[key(&w.mind)] = len(out)
			out = append(out, w)
		}
		return out
	}
	outcomes := map[[2]int][]search.Outcome{}
	plans := func(goal int, at ground.StateID) []search.Outcome {
		k := [2]int{goal, int(at)}
		if _, ok := outcomes[k]; !ok {
			found, err := search.Outcomes(s.task, at, goal, s.goals.Heuristic[goal], p.SearchNoise, atLeast(p))
			if err != nil {
				t.Fatal(err)
			}
			outcomes[k] = found
		}
		return outcomes[k]
	}
	var now []weighed
	for goal := range s.candidates {
		now = append(now, weighed{mind{original: goal, goal: goal}, 1})
	}
	var all [][3]float64
	for k := 1; k < len(s.states); k++ {
		at, seen := s.states[k-1], s.states[k]
		var thought []weighed
		for _, w := range now {
			corrupt := s.goals.Corrupt[w.original]
			goals := map[int]float64{w.goal: 1}
			if e := p.GoalNoise; e > 0 && len(corrupt) > 0 {
				goals[w.goal] -= e
				if w.goal != w.original {
					goals[w.original] += e
				} else {
					for _, c := range corrupt {
						goals[c] += e / float64(len(corrupt))
					}
				}
			}
			for goal, share := range goals {
				m := w.mind
				m.goal = goal
				if len(m.plan) > 1 && m.plan[0].State == at {
					m.plan = m.plan[1:]
					thought = append(thought, weighed{m, w.p * share})
					continue
				}
				before := distance(s.task, goal, at)
				for _, o := range plans(goal, at) {
					m.plan, m.stray = o.Path, false
					if n := len(o.Path); n > 0 && before >= 0 {
						after := distance(s.task, goal, o.Path[n-1].State)
						m.stray = after < 0 || n+after != before
					}
					thought = append(thought, weighed{m, w.p * share * o.Probability})
				}
			}
		}
		var sum float64
		var mistakes [3]float64
		now = nil
		actions := s.task.Successors(at)
		for _, w := range collect(thought) {
			c := p.Chances(len(actions), len(w.plan) == 0)
			act := func(chance float64, to ground.StateID, slip bool) {
				if to != seen || chance == 0 {
					return
				}
				x := w.p * chance
				sum += x
				for i, mistaken := range []bool{w.goal != w.original, slip, w.stray} {
					if mistaken {
						mistakes[i] += x
					}
				}
				now = append(now, weighed{w.mind, x})
			}
			meant := agent.Noop
			if len(w.plan) > 0 {
				meant = w.plan[0].Operator
				act(c.Noop, at, true)
			} else {
				act(c.Intended, at, false)
			}
			for _, a := range actions {
				if a.Operator == meant {
					act(c.Intended, a.State, false)
				} else {
					act(c.Other, a.State, true)
				}
			}
		}
		if sum == 0 {
			break
		}
		for i := range mistakes {
			mistakes[i] /= sum
		}
		for i := range now {
			now[i].p /= sum
		}
		now = collect(now)
		all = append(all, mistakes)
	}
	return all
}

// distance is the least number of actions to a goal; -1 if there is no way.
func distance(t *ground.Task, goal int, from ground.StateID) int {
	far := map[ground.StateID]int{from: 0}
	queue := []ground.StateID{from}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if t.Satisfies(s, goal) {
			return far[s]
		}
		for _, next := range t.Successors(s) {
			if _, ok := far[next.State]; !ok {
				far[next.State] = far[s] + 1
				queue = append(queue, next.State)
			}
		}
	}
	return -1
}

// Where there are too many states to know the shortest paths, all else is as it would be.
func TestPathsAreNotKnown(t *testing.T) {
	w := worlds(t)[0]
	p := everyAgent()["full"]
	cells := map[bool]sweep.Cell{}
	for _, known := range []bool{true, false} {
		m := marginalOf(w.sips)
		m.asked = !known // and far is nil
		q := asked(4, 0.05, sweep.DetailMistakes)
		r, err := m.convergeOne(p, q, 1, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		cells[known] = must(m.cell(t.Context(), &p, r, []int{1}, q))
		if _, ok := cells[known].Mistakes.OffPath.Get(); ok != known {
			t.Errorf("off path is known: %v, want %v", ok, known)
		}
	}
	for step, row := range cells[true].Posterior {
		for goal, want := range row {
			if got := cells[false].Posterior[step][goal]; !(math.Abs(got-want) < 1e-6) { // sums in single precision are of other parts
				t.Errorf("step %d, goal %d: %v, with known paths %v", step, goal, got, want)
			}
		}
	}
	plan, err := judge(t.Context(), nil, 0, 0, make([]search.Step, 2))
	if _, known := plan.Path.Get(); known || err != nil || plan.Actions != 2 {
		t.Errorf("a plan without distances: %+v, error %v", plan, err)
	}
}

// The probabilities of mistakes are those of all minds taken together, to rounding.
func TestMistakesAreExact(t *testing.T) {
	var between [3]int
	for _, w := range worlds(t) {
		for name, p := range everyAgent() {
			want := enumeratedMistakes(t, w.sips, &p)
			m := marginalOf(w.sips)
			exactly(t, m, &p)
			got := must(m.mistakes(context.Background(), &p, len(want)+1))
			offPath, _ := got.OffPath.Get()
			for k := range want {
				for i, e := range []sweep.Estimate{got.Confused[k], got.Slip[k], offPath[k]} {
					if !(math.Abs(e.Probability-want[k][i]) < 1e-11) {
						t.Errorf("%s, %s, action %d, %s: %v, want %v", w.name, name, k+1, []string{"confused", "slip", "off path"}[i], e.Probability, want[k][i])
					}
					if want[k][i] > 0.01 && want[k][i] < 0.99 {
						between[i]++
					}
				}
			}
		}
	}
	for i, n := range between {
		if n < 10 {
			t.Errorf("mistake %d is only %d times neither certain nor impossible", i, n)
		}
	}
}
