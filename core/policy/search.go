package policy

import (
	"context"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
)

// Bounds of the search for distances. With ten blocks and goals of five letters 60,000
// states are expanded for a goal, which takes some ten seconds.
const (
	// FewStates: tasks of no more are enumerated, which then gives all distances at once.
	FewStates = 200_000
	// searchedStates is how many states may be found.
	searchedStates = 2_000_000
	// expansions is how many states may be expanded for a goal.
	expansions = 100_000
)

// searched finds distances from single states by A*, with heuristics that never
// overestimate. What a search finds serves later ones for the same goal: the distances
// along the shortest path, and that no expanded state is nearer than that path implies
// (adaptive A*, Koenig & Likhachev 2005). Neighbours of a state then take little.
type searched struct {
	task  *ground.Task
	goals []soughtGoal

	run     int32
	nodes   []seekNode         // by state
	open    [][]ground.StateID // by f; a state stays where it stood when it gets a lower f, and counts no more there
	reached []ground.StateID   // in this search
	edges   int                // followed, in all searches
}

// soughtGoal is what is known of a goal.
type soughtGoal struct {
	bound    *heuristic.Table
	known    map[ground.StateID]int32 // distances; -1 = there is no way
	least    map[ground.StateID]int32 // how far states are at least, where that is more than bound says
	expanded int                      // in all searches
}

// seekNode is what a search knows of a state.
type seekNode struct {
	run    int32 // the search that this is about
	g      int32
	parent ground.StateID
	closed bool
}

// bounded makes the heuristics by which distances are searched for: LM-cut, or, where the
// task has no propositional form, what its domain has; nil if it has none.
func bounded(t *ground.Task, domain BoundFunc) (func(goal int) (*heuristic.Table, error), error) {
	if p, err := t.Propositional(); err == nil {
		r := heuristic.NewRelaxation(p)
		return func(goal int) (*heuristic.Table, error) { return r.Cut(goal), nil }, nil
	}
	if domain == nil {
		return nil, nil
	}
	return domain(t)
}

// BoundFunc makes the heuristics of a task's goals, which never overestimate.
type BoundFunc func(t *ground.Task) (func(goal int) (*heuristic.Table, error), error)

func newSearched(t *ground.Task, of func(goal int) (*heuristic.Table, error)) (*searched, error) {
	s := &searched{task: t}
	for goal := range t.Goals {
		bound, err := of(goal)
		if err != nil {
			return nil, err
		}
		s.goals = append(s.goals, soughtGoal{bound: bound, known: map[ground.StateID]int32{}, least: map[ground.StateID]int32{}})
	}
	return s, nil
}

// distance is that of a goal from a state; -1 if there is no way. The error is [ErrTooLarge]
// beyond the bounds of the search, or that of ctx, if it ends before.
func (s *searched) distance(ctx context.Context, goal int, from ground.StateID) (int32, error) {
	of := &s.goals[goal]
	if d, ok := of.known[from]; ok {
		return d, nil
	}
	s.begin()
	for f := s.insert(of, from, 0, -1); f < len(s.open); {
		at, ok := s.take(of, f)
		if !ok {
			f++
			continue
		}
		g := s.nodes[at].g
		if s.task.Satisfies(at, goal) {
			of.known[at] = 0
		}
		if d, ok := of.known[at]; ok {
			s.learn(of, at, g+d)
			return g + d, nil
		}
		if of.expanded++; of.expanded%(1<<8) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if of.expanded > expansions || s.task.Len() > searchedStates {
			return 0, ErrTooLarge
		}
		successors := s.task.Successors(at)
		s.edges += len(successors)
		for _, next := range successors {
			f = min(f, s.insert(of, next.State, g+1, at)) // the heuristic need not be consistent
		}
	}
	for _, at := range s.reached { // from none of them there is a way
		of.known[at] = -1
	}
	return -1, nil
}

func (s *searched) begin() {
	s.run++
	s.reached = s.reached[:0]
	for f := range s.open {
		s.open[f] = s.open[f][:0]
	}
}

// insert opens a state unless it has been reached by as short a path. It returns the state's
// f, or more than any of one that is not opened.
func (s *searched) insert(of *soughtGoal, state ground.StateID, g int32, parent ground.StateID) (f int) {
	const notOpened = 1 << 30
	if int(state) >= len(s.nodes) {
		s.nodes = append(s.nodes, make([]seekNode, max(s.task.Len(), 2*len(s.nodes))-len(s.nodes))...)
	}
	n := &s.nodes[state]
	if n.run == s.run && n.g <= g {
		return notOpened
	}
	if n.run != s.run {
		s.reached = append(s.reached, state)
	}
	*n = seekNode{run: s.run, g: g, parent: parent}
	estimate := of.estimate(state)
	if estimate < 0 {
		return notOpened
	}
	f = int(g + estimate)
	for f >= len(s.open) {
		s.open = append(s.open, nil)
	}
	s.open[f] = append(s.open[f], state)
	return f
}

// take closes a state that stands at f; not ok if none is left there.
func (s *searched) take(of *soughtGoal, f int) (state ground.StateID, ok bool) {
	for n := len(s.open[f]); n > 0; n = len(s.open[f]) {
		state, s.open[f] = s.open[f][n-1], s.open[f][:n-1]
		if node := &s.nodes[state]; !node.closed && int(node.g+of.estimate(state)) == f {
			node.closed = true
			return state, true
		}
	}
	return 0, false
}

// estimate is how far a state is at least; -1 if there is no way.
func (of *soughtGoal) estimate(state ground.StateID) int32 {
	if d, ok := of.known[state]; ok {
		return d
	}
	estimate := of.bound.Estimate(state)
	if estimate == heuristic.DeadEnd {
		return -1
	}
	return max(estimate, of.least[state])
}

// learn keeps what follows from a search that has found its distance, by a path to end.
func (s *searched) learn(of *soughtGoal, end ground.StateID, distance int32) {
	for _, state := range s.reached {
		n := &s.nodes[state]
		if least := distance - n.g; n.closed && least > of.estimate(state) {
			of.least[state] = least
		}
	}
	for state := end; state >= 0; state = s.nodes[state].parent {
		of.known[state] = distance - s.nodes[state].g
	}
}
