// Package search is best-first search over a grounded task: A* that breaks ties
// at random, and probabilistic A*, which draws the next node from the open list
// with a probability that falls with its f value (Alanqary et al. 2021). They are
// one loop with a different draw. Read [Searcher.Run] and [Result] first.
package search

import (
	"math/rand/v2"

	"foible/core/ground"
)

// Heuristic estimates the cost from a state to the goal; +Inf is a dead end,
// which is never opened.
type Heuristic interface {
	Value(s ground.StateID) float64
}

// Options of a search.
type Options struct {
	// Noise is gamma, in units of cost: a node is drawn with probability
	// proportional to exp(-f/gamma). 0 is A*: a node of least f, uniformly at random.
	Noise float64
	// Budget is how many nodes may be drawn, the start among them; Unlimited for no limit.
	Budget int
}

// Unlimited is the budget of a search that ends only at a goal or with an empty open list.
const Unlimited = int(^uint(0) >> 1)

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

// Result is the path to the node drawn last, and what it took.
type Result struct {
	Path      []Step // from the start, exclusive; the caller's
	Status    Status
	Drawn     int // nodes drawn
	Expanded  int // nodes whose successors were generated
	Generated int // successors generated
	Reopened  int // closed nodes opened again by a shorter path
}

// Searcher searches one task. Its room is reused from search to search, so that
// a search allocates the path that it returns and nothing else once warm. Not
// safe for concurrent use.
type Searcher struct {
	task  *ground.Task
	nodes []node // by state
	run   uint32 // of the current search: other nodes are not known
	open  open
}

// node is what a search knows of a state.
type node struct {
	run    uint32 // the search that this is about
	bucket int32  // in the open list; closed if negative
	at     int32  // place in the bucket
	g      int32  // cost of the shortest path found
	parent ground.StateID
	by     ground.OperatorID // leads from parent
	h      float64
}

// New makes a searcher.
func New(t *ground.Task) *Searcher { return &Searcher{task: t} }

// Run searches from a state until a node that is drawn satisfies the goal, or is
// the budget's last, or none is left. A budget below 1 draws nothing: the result
// is an empty path.
func (s *Searcher) Run(from ground.StateID, goal int, h Heuristic, o Options, rng *rand.Rand) Result {
	result := Result{Status: Spent}
	if o.Budget < 1 {
		return result
	}
	if s.run++; s.run == 0 { // marks of 2^32 searches ago would count
		clear(s.nodes)
		s.run = 1
	}
	s.open.reset(o.Noise)
	start := s.node(from)
	start.run, start.g, start.parent, start.h = s.run, 0, -1, 0
	s.insert(from)

	for s.open.size > 0 {
		drawn := s.draw(rng)
		result.Drawn++
		if s.task.Satisfies(drawn, goal) {
			result.Status = Solved
			result.Path = s.path(drawn)
			return result
		}
		if result.Drawn >= o.Budget {
			result.Path = s.path(drawn)
			return result
		}
		s.expand(drawn, h, &result)
	}
	result.Status = Exhausted
	return result
}

func (s *Searcher) node(state ground.StateID) *node {
	if int(state) >= len(s.nodes) {
		s.nodes = append(s.nodes, make([]node, max(int(state)+1, 2*len(s.nodes), s.task.Len())-len(s.nodes))...)
	}
	return &s.nodes[state]
}

func (s *Searcher) expand(state ground.StateID, h Heuristic, result *Result) {
	result.Expanded++
	successors := s.task.Successors(state)
	result.Generated += len(successors)
	g := s.nodes[state].g + 1
	for _, next := range successors {
		n := s.node(next.State)
		if n.run != s.run {
			n.run, n.bucket, n.g, n.h = s.run, closed, g, h.Value(next.State)
		} else {
			if n.g <= g {
				continue
			}
			n.g = g
			if n.bucket >= 0 {
				s.remove(n)
			} else {
				result.Reopened++
			}
		}
		n.parent, n.by = state, next.Operator
		s.insert(next.State)
	}
}

// path walks back from a state to the start. It may be shorter than the state's
// g, which does not follow at once when a shorter path to a parent is found.
func (s *Searcher) path(to ground.StateID) []Step {
	n := 0
	for at := &s.nodes[to]; at.parent >= 0; at = &s.nodes[at.parent] {
		n++
	}
	if n == 0 {
		return nil
	}
	path := make([]Step, n)
	for i := n - 1; i >= 0; i-- {
		at := &s.nodes[to]
		path[i] = Step{Operator: at.by, State: to}
		to = at.parent
	}
	return path
}
