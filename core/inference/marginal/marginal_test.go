package marginal

import (
	"context"
	"fmt"
	"math"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/internal/samples"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/inference/sips"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/search"
	"foible.dev/foible/core/sweep"
)

// marginalOf is marginal inference in a tiny world.
func marginalOf(s *observed.Path) *Inference {
	var names []string
	for goal := range s.Task.Goals {
		names = append(names, fmt.Sprint(goal))
	}
	return New(s, "tiny", names, 0)
}

// tailOf is the distribution of an agent's budget.
func tailOf(p *agent.Parameters) func(n int) float64 {
	if p.Unlimited {
		return func(int) float64 { return 1 }
	}
	return p.Budget().AtLeast
}

// enumerated is what plans do according to all ways in which a search can go.
func enumerated(t testing.TB, m *Inference, p *agent.Parameters, goal, tau int) *outcome {
	t.Helper()
	s := m.path
	found, err := search.Outcomes(s.Task, &search.Query{From: s.States[tau], Goal: goal, Heuristic: s.Goals.Heuristic[goal], Options: search.Options{Noise: p.SearchNoise}}, tailOf(p))
	if err != nil {
		t.Fatal(err)
	}
	observed := s.States[tau+1:]
	pl := &outcome{groups: 1}
	rows := [4][]kernel.Lane{} // ends, differs, those that stray
	for kind := range rows {
		rows[kind] = make([]kernel.Lane, len(observed)+1)
	}
	stray := must(m.store.LeavesPath(context.Background(), tau, goal))
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
		pl.maxMatched = max(pl.maxMatched, matched)
	}
	n := pl.maxMatched + 1
	pl.ends, pl.differs, pl.offPathEnds, pl.offPathDiffers = rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n]
	return pl
}

// enumeratedResult runs the recursion with enumerated tables in place of sampled ones.
func enumeratedResult(t testing.TB, m *Inference, p *agent.Parameters) *setResult {
	t.Helper()
	goals := len(m.path.Goals.Heuristic) // the maze has one more, which nobody pursues
	s := m.samplesFor(samples.Key{Batches: 1, Unlimited: p.Unlimited, OffPath: true})
	none := &levels{make([]int8, len(m.path.Task.Goals)*len(m.steps)), len(m.steps)}
	ps := &outcomes{samples: s, levels: none, at: make([][]*outcome, len(m.path.Task.Goals))}
	if !p.Unlimited {
		ps.budget = p.Budget()
	}
	for goal := range goals {
		for tau := range m.steps {
			ps.at[goal] = append(ps.at[goal], enumerated(t, m, p, goal, tau))
		}
	}
	m.outcomes, m.segments = []*outcomes{ps}, nil
	return must(m.inferOne(context.Background(), s, p, none))
}

// With tables that are known exactly, the recursion over the times of planning is
// the sum over all that an agent may have had in mind: to rounding, at every step
// and for every goal, and it ends where that ends.
func TestRecursionIsExact(t *testing.T) {
	died, ended := 0, 0
	for _, w := range worlds.All(t) {
		for name, p := range worlds.EveryAgent() {
			exact, err := sips.New(w.Path).Exact(p, sips.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			m := marginalOf(w.Path)
			r := enumeratedResult(t, m, &p)
			cell := must(m.cell(context.Background(), &Request{Parameters: []agent.Parameters{p}, Procedure: &sweep.Procedure{Stage: sweep.Stage{Runs: 1}}}, 0, r))
			if len(cell.Posterior) != len(exact.Posterior) || (cell.Undefined == nil) != (exact.Undefined == nil) {
				t.Errorf("%s, %s: %d steps, %v; want %d, %v", w.Name, name, len(cell.Posterior), cell.Undefined, len(exact.Posterior), exact.Undefined)
				continue
			}
			if u := exact.Undefined; u != nil {
				ended++
				if cell.Undefined.Step != u.Step {
					t.Errorf("%s, %s: %v, want %v", w.Name, name, cell.Undefined, u)
				}
			}
			log := 0.0
			for step, want := range exact.Posterior {
				log += exact.Evidence[step]
				if !(math.Abs(cell.Evidence[step]-log) < 1e-12*float64(step+1)) {
					t.Errorf("%s, %s, step %d: evidence %v, want %v", w.Name, name, step, cell.Evidence[step], log)
				}
				for goal, x := range want {
					if x == 0 {
						died++
					}
					if got := cell.Posterior[step][goal]; !(math.Abs(got-x) < 1e-12) || (got == 0) != (x == 0) {
						t.Errorf("%s, %s, step %d, goal %d: %v, want %v", w.Name, name, step, goal, got, x)
					}
					own := log + math.Log(x*float64(len(want)))
					if got := cell.LogEvidence[step][goal]; !(math.Abs(got-own) < 1e-11) && got != own {
						t.Errorf("%s, %s, step %d, goal %d: log evidence %v, want %v", w.Name, name, step, goal, got, own)
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
	offPath        bool
}

// weighed is a mind with its probability.
type weighed struct {
	mind
	p float64
}

// collect adds up the probabilities of minds that are the same.
func collect(all []weighed) []weighed {
	at := map[string]int{}
	var out []weighed
	for _, w := range all {
		key := fmt.Sprint(w.mind)
		if i, ok := at[key]; ok {
			out[i].p += w.p
			continue
		}
		at[key] = len(out)
		out = append(out, w)
	}
	return out
}

// enumeratedMistakes are the probabilities of what was behind each action, given the
// actions up to it: confused, slip, off path. All minds that there may be are followed.
func enumeratedMistakes(t *testing.T, s *observed.Path, p *agent.Parameters) [][3]float64 {
	t.Helper()
	e := &mindEnumeration{Path: s, p: p, known: map[[2]int][]search.Outcome{}}
	var now []weighed
	for goal := range s.Candidates {
		now = append(now, weighed{mind{original: goal, goal: goal}, 1})
	}
	var all [][3]float64
	for k := 1; k < len(s.States); k++ {
		var thought []weighed
		for _, w := range now {
			thought = append(thought, e.think(t, w, s.States[k-1])...)
		}
		var mistakes [3]float64
		if now, mistakes = e.act(collect(thought), k); now == nil {
			break
		}
		now = collect(now)
		all = append(all, mistakes)
	}
	return all
}

// mindEnumeration follows all that an agent may think.
type mindEnumeration struct {
	*observed.Path
	p     *agent.Parameters
	known map[[2]int][]search.Outcome // by goal and state
}

// plans are those that the agent may make for a goal.
func (e *mindEnumeration) plans(t *testing.T, goal int, at ground.StateID) []search.Outcome {
	t.Helper()
	k := [2]int{goal, int(at)}
	if _, ok := e.known[k]; !ok {
		found, err := search.Outcomes(e.Task, &search.Query{From: at, Goal: goal, Heuristic: e.Goals.Heuristic[goal], Options: search.Options{Noise: e.p.SearchNoise}}, tailOf(e.p))
		if err != nil {
			t.Fatal(err)
		}
		e.known[k] = found
	}
	return e.known[k]
}

// think is what a mind may become before the next action.
func (e *mindEnumeration) think(t *testing.T, w weighed, at ground.StateID) (thought []weighed) {
	t.Helper()
	corrupt := e.Goals.Corrupt[w.original]
	goals := map[int]float64{w.goal: 1}
	if noise := e.p.GoalNoise; noise > 0 && len(corrupt) > 0 {
		goals[w.goal] -= noise
		if w.goal != w.original {
			goals[w.original] += noise
		} else {
			for _, c := range corrupt {
				goals[c] += noise / float64(len(corrupt))
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
		before := distance(e.Task, goal, at)
		for _, o := range e.plans(t, goal, at) {
			m.plan, m.offPath = o.Path, false
			if n := len(o.Path); n > 0 && before >= 0 {
				after := distance(e.Task, goal, o.Path[n-1].State)
				m.offPath = after < 0 || n+after != before
			}
			thought = append(thought, weighed{m, w.p * share * o.Probability})
		}
	}
	return thought
}

// act is the minds of those who may have taken the k-th action, given that it was taken, and the
// probabilities of mistakes behind it; nil if nobody can have taken it.
func (e *mindEnumeration) act(thought []weighed, k int) (next []weighed, mistakes [3]float64) {
	at, seen := e.States[k-1], e.States[k]
	actions := e.Task.Successors(at)
	var sum float64
	for _, w := range thought {
		c := e.p.Chances(len(actions), len(w.plan) == 0)
		act := func(chance float64, to ground.StateID, slip bool) {
			if to != seen || chance == 0 {
				return
			}
			x := w.p * chance
			sum += x
			for i, mistaken := range []bool{w.goal != w.original, slip, w.offPath} {
				if mistaken {
					mistakes[i] += x
				}
			}
			next = append(next, weighed{w.mind, x})
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
		return nil, mistakes
	}
	for i := range mistakes {
		mistakes[i] /= sum
	}
	for i := range next {
		next[i].p /= sum
	}
	return next, mistakes
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
	w := worlds.All(t)[0]
	p := worlds.EveryAgent()["full"]
	cells := map[bool]result.Cell{}
	for _, known := range []bool{true, false} {
		m := marginalOf(w.Path)
		if !known {
			m.store.PathStates = 1
		}
		q := asked(4, 0.05, sweep.DetailMistakes)
		r, err := m.convergeOne(p, q, 1, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		cells[known] = must(m.cell(t.Context(), &Request{Parameters: []agent.Parameters{p}, Procedure: q, Judged: []int{1}}, 0, r))
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
}

// The probabilities of mistakes are those of all minds taken together, to rounding.
func TestMistakesAreExact(t *testing.T) {
	var between [3]int
	for _, w := range worlds.All(t) {
		for name, p := range worlds.EveryAgent() {
			want := enumeratedMistakes(t, w.Path, &p)
			m := marginalOf(w.Path)
			enumeratedResult(t, m, &p)
			got := must(m.mistakes(context.Background(), &p, len(want)+1))
			offPath, _ := got.OffPath.Get()
			for k := range want {
				for i, e := range []result.Estimate{got.Confused[k], got.Slip[k], offPath[k]} {
					if !(math.Abs(e.Probability-want[k][i]) < 1e-11) {
						t.Errorf("%s, %s, action %d, %s: %v, want %v", w.Name, name, k+1, []string{"confused", "slip", "off path"}[i], e.Probability, want[k][i])
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
