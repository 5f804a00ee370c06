package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// HeuristicFunc makes h(s), the estimated cost from a state to a goal; +Inf is a dead end.
type HeuristicFunc func(t *ground.Task, goal int) (func(ground.StateID) float64, error)

// MaxStates bounds the tasks whose values can be computed exactly.
const MaxStates = 5_000_000

// ErrTooLarge is of a task with more reachable states than there is to be room for.
var ErrTooLarge = errors.New("too many states")

var errNoHeuristic = errors.New("the domain has no heuristic; use value: optimal")

// Observer infers the goal of one observed plan. What does not depend on the
// parameters is computed once, when first needed. Safe for concurrent use.
type Observer struct {
	goals      int
	near       []ground.StateID // states that the plan visits or could have gone to next
	visited    []int32          // index into near, by step
	choices    []choice         // by step
	available  int              // actions in all of them
	impossible *Undefined
	heuristic  HeuristicFunc

	bounds BoundFunc

	mu        sync.Mutex // guards task, and the making of what follows
	task      *ground.Task
	graph     *graph
	optimal   []distance  // by goal
	searched  *searched   // in place of both, as long as it finds what is asked for
	measured  bool        // there is a graph to be made, or searched
	estimates [][]float64 // h by goal and index into near
	work      Work
}

// Bound gives an observer heuristics that never overestimate. Distances in a task with more
// than [FewStates] states are then found without enumerating these. It is to be called before
// the first inference; a task with a propositional form needs it not.
func (o *Observer) Bound(f BoundFunc) { o.bounds = f }

// Work is what an observer has done so far.
type Work struct {
	States int // found
	Edges  int // followed from a state to a successor, to enumerate and in breadth-first searches
	Values int // of successors, weighed by the policy: in passes for on-policy values, and of the actions available
	Bounds int // heuristic values computed in searches for distances
}

// Work that has been done.
func (o *Observer) Work() Work {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.work
	w.States = o.task.Len()
	if o.searched != nil {
		w.Edges += o.searched.edges
		for i := range o.searched.goals {
			w.Bounds += o.searched.goals[i].bound.Computed()
		}
	}
	return w
}

// count adds to the work done.
func (o *Observer) count(w Work) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.work.Edges += w.Edges
	o.work.Values += w.Values
}

// choice is an observed action among the available ones.
type choice struct {
	available []int32 // index into near of where each leads
	taken     int32   // index into near of where the observed one leads
}

// distance has what a backward search from a goal found; see [distances].
type distance struct {
	dist, order []int32
}

// Posterior is what an observer believes.
type Posterior struct {
	// Goals is the probability of each goal after each number of actions from
	// 0: [step][goal]. It is shorter than the plan where Undefined is set.
	Goals [][]float64
	// UnreachableFrom is the first step at which a goal cannot be reached (any
	// more), so that its value is Parameters.Unreachable; -1 if there is none.
	UnreachableFrom []int
	Undefined       *Undefined
}

// Undefined says from which step on there is no posterior, and why.
type Undefined struct {
	Step   int
	Reason string
}

// NewObserver follows a plan through a task, which then belongs to the
// observer. A plan that cannot be followed to its end gives posteriors up to there.
func NewObserver(t *ground.Task, plan []pddl.Step, h HeuristicFunc) (*Observer, error) {
	if len(t.Goals) == 0 {
		return nil, errors.New("no goals to infer")
	}
	o := &Observer{goals: len(t.Goals), task: t, heuristic: h}
	index := map[ground.StateID]int32{}
	locate := func(s ground.StateID) int32 {
		i, ok := index[s]
		if !ok {
			i = int32(len(o.near))
			index[s] = i
			o.near = append(o.near, s)
		}
		return i
	}
	s := t.Initial()
	o.visited = append(o.visited, locate(s))
	for k, step := range plan {
		next, ok := follow(t, s, step)
		if !ok {
			o.impossible = &Undefined{Step: k + 1, Reason: fmt.Sprintf("impossible at step %d, action %v", k+1, step)}
			break
		}
		c := choice{taken: locate(next)}
		for _, succ := range t.Successors(s) {
			c.available = append(c.available, locate(succ.State))
		}
		o.choices = append(o.choices, c)
		o.available += len(c.available)
		o.visited = append(o.visited, c.taken)
		s = next
	}
	return o, nil
}

func follow(t *ground.Task, s ground.StateID, step pddl.Step) (ground.StateID, bool) {
	op, ok := t.Operator(step)
	if !ok {
		return 0, false
	}
	return t.Apply(s, op)
}

// Posterior infers the goal at every step, from a uniform prior. The error is
// of the task (too large, no such heuristic), of parameters out of range, or that of
// ctx, if it ends before.
func (o *Observer) Posterior(ctx context.Context, p Parameters) (*Posterior, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	post := &Posterior{
		Goals:           make([][]float64, len(o.visited)),
		UnreachableFrom: slices.Repeat([]int{-1}, o.goals),
		Undefined:       o.impossible,
	}
	logs := make([][]float64, len(o.visited)) // ln P(actions so far | goal) by step and goal
	for k := range logs {
		logs[k] = make([]float64, o.goals)
	}
	for goal := range o.goals {
		v, reachable, err := o.values(ctx, goal, p)
		if err != nil {
			return nil, err
		}
		for k, s := range o.visited {
			if !reachable[s] && post.UnreachableFrom[goal] < 0 {
				post.UnreachableFrom[goal] = k
			}
			if k > 0 {
				logs[k][goal] = logs[k-1][goal] + o.choices[k-1].logProbability(v, p.Alpha)
			}
		}
	}
	for k := range logs {
		post.Goals[k] = softmax(logs[k])
	}
	o.count(Work{Values: o.goals * o.available})
	return post, nil
}

// logProbability is ln pi(taken | state). R is the same for every action and
// cancels. An action that leads where another one leads has its own share.
func (c *choice) logProbability(v []float64, alpha float64) float64 {
	best := math.Inf(-1)
	for _, s := range c.available {
		best = max(best, v[s])
	}
	var sum float64
	for _, s := range c.available {
		sum += math.Exp(alpha * (v[s] - best))
	}
	return float64(alpha*(v[c.taken]-best)) - math.Log(sum)
}

// softmax normalizes log weights, at least one of them finite.
func softmax(logs []float64) []float64 {
	best := slices.Max(logs)
	out := make([]float64, len(logs))
	var sum float64
	for i, x := range logs {
		out[i] = math.Exp(x - best)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// values are V of one goal at the states near the path, and whether the goal
// can be reached from there.
func (o *Observer) values(ctx context.Context, goal int, p Parameters) (v []float64, reachable []bool, err error) {
	v, reachable = make([]float64, len(o.near)), make([]bool, len(o.near))
	if p.Value == Heuristic {
		h, err := o.estimate(goal)
		if err != nil {
			return nil, nil, err
		}
		for i, cost := range h {
			v[i], reachable[i] = -cost, !math.IsInf(cost, 1)
			if !reachable[i] {
				v[i] = p.Unreachable
			}
		}
		return v, reachable, nil
	}

	switch p.Value {
	case Optimal:
		for i, s := range o.near {
			dist, err := o.distance(ctx, goal, s)
			if err != nil {
				return nil, nil, err
			}
			v[i], reachable[i] = -float64(dist), dist >= 0
			if !reachable[i] {
				v[i] = p.Unreachable
			}
		}
		return v, reachable, nil
	case OnPolicy:
		d, g, err := o.distances(ctx, goal)
		if err != nil {
			return nil, nil, err
		}
		var passes int
		var all []float64
		if all, passes, err = onPolicyValues(ctx, g, d, p.Alpha, p.Unreachable); err != nil {
			return nil, nil, err
		}
		o.count(Work{Values: passes * len(g.to)})
		for i, s := range o.near {
			v[i], reachable[i] = all[s], d.dist[s] >= 0
		}
		return v, reachable, nil
	}
	return nil, nil, fmt.Errorf("unknown value %q", p.Value)
}

// States is the number of reachable states of the task.
func (o *Observer) States(ctx context.Context) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.enumerate(ctx); err != nil {
		return 0, err
	}
	return o.graph.n(), nil
}

// distance is the shortest number of actions from a state to a goal; -1 if there is no way.
// A task with more than FewStates states is searched from the state, and enumerated only if
// there are no good heuristics for that.
func (o *Observer) distance(ctx context.Context, goal int, from ground.StateID) (int32, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.measure(ctx); err != nil {
		return 0, err
	}
	if o.graph == nil && o.searched != nil {
		d, err := o.searched.distance(ctx, goal, from)
		if !errors.Is(err, ErrTooLarge) {
			return d, err
		}
	}
	if err := o.enumerate(ctx); err != nil {
		return 0, err
	}
	return o.optimal[goal].dist[from], nil
}

// measure finds out once whether the task has few states, or how to search it. The caller
// holds mu.
func (o *Observer) measure(ctx context.Context) error {
	if o.measured {
		return nil
	}
	few, err := o.task.Enumerate(ctx, FewStates)
	if err != nil {
		return err
	}
	if !few {
		of, err := bounded(o.task, o.bounds)
		if err != nil {
			return fmt.Errorf("heuristic: %w", err)
		}
		if of != nil {
			if o.searched, err = newSearched(o.task, of); err != nil {
				return fmt.Errorf("heuristic: %w", err)
			}
		}
	}
	o.measured = true
	return nil
}

// distances is what is known of a goal over the whole graph.
func (o *Observer) distances(ctx context.Context, goal int) (distance, *graph, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.enumerate(ctx); err != nil {
		return distance{}, nil, err
	}
	return o.optimal[goal], o.graph, nil
}

// enumerate makes graph and optimal. The caller holds mu.
func (o *Observer) enumerate(ctx context.Context) error {
	if o.graph != nil {
		return nil
	}
	complete, err := o.task.Enumerate(ctx, MaxStates)
	if err != nil {
		return err
	}
	if !complete {
		return TooManyStates(MaxStates)
	}
	g, err := taskGraph(ctx, o.task)
	if err != nil {
		return err
	}
	reverse := g.reverse()
	optimal := make([]distance, o.goals)
	for goal := range optimal {
		of := &optimal[goal]
		if of.dist, of.order, err = distances(ctx, reverse, satisfying(o.task, goal, g.n())); err != nil {
			return err
		}
	}
	o.graph, o.optimal = g, optimal
	o.work.Edges += (2 + o.goals) * len(g.to)
	return nil
}

// TooManyStates says that more states than the limit can be reached, as [ErrTooLarge].
func TooManyStates(limit int) error {
	return fmt.Errorf("more than %s states can be reached: %w for exact values; use value: heuristic", words.Thousands(limit), ErrTooLarge)
}

// Search searches for the distances to all goals from the initial state, which value optimal
// needs of tasks with too many states to be enumerated. The error is [ErrTooLarge] if they are
// not found so, or that of ctx, if it ends before.
func (o *Observer) Search(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.measure(ctx); err != nil {
		return err
	}
	if o.searched == nil {
		return ErrTooLarge
	}
	for goal := range o.goals {
		if _, err := o.searched.distance(ctx, goal, o.task.Initial()); err != nil {
			return err
		}
	}
	return nil
}

// Estimate makes the estimates of the heuristic, which the value heuristic needs. The error
// says why there are none.
func (o *Observer) Estimate() error {
	_, err := o.estimate(0)
	return err
}

// estimate is h of one goal at the states near the path.
func (o *Observer) estimate(goal int) ([]float64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.estimates == nil {
		if o.heuristic == nil {
			return nil, errNoHeuristic
		}
		estimates := make([][]float64, o.goals)
		for g := range estimates {
			h, err := o.heuristic(o.task, g)
			if err != nil {
				return nil, fmt.Errorf("heuristic: %w", err)
			}
			for _, s := range o.near {
				cost := h(s)
				if math.IsNaN(cost) || cost < 0 {
					return nil, fmt.Errorf("heuristic: h is %v", cost)
				}
				estimates[g] = append(estimates[g], cost)
			}
		}
		o.estimates = estimates
	}
	return o.estimates[goal], nil
}
