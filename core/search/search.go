// Package search is best-first search over a grounded task: A* that breaks ties
// at random, and probabilistic A*, which draws the next node from the open list
// with a probability that falls with its f value (Alanqary et al. 2021). They are
// one loop with a different draw. Read [Searcher.Run] and [Result] first.
package search

import (
	"context"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
)

// Heuristic estimates the number of actions from a state to the goal; 0 where the goal
// holds. A dead end is never opened.
type Heuristic = *heuristic.Table

// Options of a search.
type Options struct {
	// Noise is gamma, in units of cost: a node is drawn with probability
	// proportional to exp(-f/gamma). 0 is A*: a node of least f; among several, that
	// of the highest priority, which each gets at random whenever it is opened.
	Noise float64
	// Budget is how many nodes may be drawn, the start among them; Unlimited for no limit.
	Budget int
	// Sure is for Trace: only a search that can go in one way is of interest.
	Sure bool
}

// Query is what is searched for, and how.
type Query struct {
	From      ground.StateID
	Goal      int // of the task
	Heuristic Heuristic
	Options
	Trail // only for Trace and Weigh
}

// Unlimited is the budget of a search that ends only at a goal or with an empty open list.
const Unlimited = math.MaxInt

// Status says how a search ended.
type Status uint8

const (
	// Solved: the node drawn last satisfies the goal.
	Solved Status = iota
	// Exhausted: the open list was empty; there is no path.
	Exhausted
	// Spent: the budget was used up at the node drawn last.
	Spent
)

// String is the status in words.
func (s Status) String() string { return [...]string{"solved", "exhausted", "budget spent"}[s] }

// Step is an action and the state that it leads to.
type Step struct {
	Operator ground.OperatorID
	State    ground.StateID
}

// Result is what a search found, and what it took.
type Result struct {
	Path      []Step // from the start, exclusive, to the node drawn last; nil if exhausted. The caller's
	Status    Status
	Drawn     int // nodes drawn
	Expanded  int // nodes whose successors were generated
	Generated int // successors generated
	Reopened  int // closed nodes opened again by a shorter path
}

// Searcher searches one task. Its room is reused from search to search, so that
// once warm only paths need memory. Not safe for concurrent use.
type Searcher struct {
	task  *ground.Task
	nodes []node // by state
	run   uint32 // of the current search: nodes of other ones are not known
	open  open
	paths []Step // room for paths
	// Generated counts the successors that all searches so far have generated.
	Generated int

	rng     *rand.Rand // of the current search
	met     []Meeting  // by state, of nodes drawn by Trace
	classes classes    // of open nodes, for Weigh
}

// node is what a search knows of a state.
type node struct {
	run    uint32 // the search that this is about
	g      int32  // cost of the shortest path found
	f      int32  // g + h of an open node, otherwise closed or dead
	at     int32  // place in the bucket of f
	parent ground.StateID
}

const (
	closed = -1
	dead   = -2 // a dead end, never open
)

// New makes a searcher.
func New(t *ground.Task) *Searcher { return &Searcher{task: t, open: open{high: -1}} }

// Run searches from a state until a node that is drawn satisfies the goal, or is
// the budget's last, or none is left. A budget below 1 draws nothing: the result
// is an empty path. The error is that of ctx, if it ends before.
func (s *Searcher) Run(ctx context.Context, q *Query, rng *rand.Rand) (Result, error) {
	result := Result{Status: Spent}
	if q.Budget < 1 {
		return result, nil
	}
	s.begin(q.From, q.Noise, rng)
	drawn, h0 := q.From, int32(0) // the open list holds only the start
	for {
		result.Drawn++
		if h0 == 0 && s.task.Satisfies(drawn, q.Goal) { // a goal is 0 away
			result.Status = Solved
			break
		}
		if result.Drawn >= q.Budget {
			break
		}
		if err := interrupted(ctx, result.Drawn); err != nil {
			return Result{}, err
		}
		s.expand(drawn, q.Heuristic, &result)
		if s.open.size == 0 {
			result.Status = Exhausted
			return result, nil
		}
		drawn, h0 = s.draw()
	}
	result.Path = s.path(drawn)
	return result, nil
}

// interrupted is the error of a context that has ended, looked at after every thousand
// draws or so: a few milliseconds.
func interrupted(ctx context.Context, draw int) error {
	if draw%(1<<10) != 0 {
		return nil
	}
	return ctx.Err()
}

// begin forgets the search before; the start is known and counts as drawn.
func (s *Searcher) begin(from ground.StateID, noise float64, rng *rand.Rand) {
	s.rng = rng
	if s.run++; s.run == 0 { // marks of 2^32 searches ago would count
		clear(s.nodes)
		s.run = 1
	}
	s.open.reset(noise)
	s.grow()
	s.nodes[from] = node{run: s.run, f: closed, parent: -1}
}

// grow makes room for all states that there are.
func (s *Searcher) grow() {
	if n := s.task.Len(); n > len(s.nodes) {
		s.nodes = append(s.nodes, make([]node, max(n, 2*len(s.nodes))-len(s.nodes))...)
	}
}

// expand opens the successors of a state that no path as short has led to.
func (s *Searcher) expand(state ground.StateID, h Heuristic, result *Result) {
	successors := s.task.Successors(state)
	s.grow()
	result.Expanded++
	result.Generated += len(successors)
	s.Generated += len(successors)
	nodes := s.nodes
	g := nodes[state].g + 1
	for _, next := range successors {
		n := &nodes[next.State]
		if n.run != s.run {
			n.run, n.g, n.parent = s.run, g, state
			if estimate := h.Estimate(next.State); estimate >= 0 {
				s.insert(n, next.State, g+estimate)
			} else {
				n.f = dead
			}
			continue
		}
		if n.g <= g || n.f == dead {
			continue
		}
		if n.f == closed {
			result.Reopened++
			n.f = n.g + h.Estimate(next.State)
		} else {
			s.remove(next.State)
		}
		f := n.f - (n.g - g)
		n.g, n.parent = g, state
		s.insert(n, next.State, f)
	}
}

// path walks back from a state to the start. It may be shorter than g: a state on
// it may have been reached anew since, and not yet been expanded again.
func (s *Searcher) path(to ground.StateID) []Step {
	length := 0
	for at := to; s.nodes[at].parent >= 0; at = s.nodes[at].parent {
		length++
	}
	if length > cap(s.paths)-len(s.paths) {
		s.paths = make([]Step, 0, max(4096, length))
	}
	start := len(s.paths)
	s.paths = s.paths[:start+length]
	path := s.paths[start : start+length : start+length]
	for i := length - 1; i >= 0; i-- {
		parent := s.nodes[to].parent
		path[i] = Step{Operator: s.leads(parent, to), State: to}
		to = parent
	}
	return path
}

// leads is the first operator that leads from a state to a successor.
func (s *Searcher) leads(from, to ground.StateID) ground.OperatorID {
	for _, next := range s.task.Successors(from) {
		if next.State == to {
			return next.Operator
		}
	}
	panic("search: a state that is no successor of its parent")
}
