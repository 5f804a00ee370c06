package search

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"foible/core/ground"
)

// Outcome is a partial plan that a search may end with, and how probable that
// is. Without a path it is a step of staying put: the budget allowed no step, the
// start is a goal, or the open list was exhausted.
type Outcome struct {
	Path        []Step
	Probability float64
}

// ErrTooLarge is a task whose searches are too many to enumerate.
var ErrTooLarge = errors.New("search: too many searches to enumerate")

// mostFrontiers is how many frontiers an enumeration may hold.
const mostFrontiers = 1 << 20

// known is what an enumerated search knows of a state.
type known struct {
	g      int
	parent ground.StateID
	by     ground.OperatorID
	open   bool
}

// frontier is a search between two draws: all that its future depends on.
type frontier struct {
	nodes       map[ground.StateID]known
	probability float64
}

// Outcomes enumerates all outcomes of the searches from a state whose budget is n
// with probability budget[n], or unlimited if budget is nil. It shares no code
// with [Searcher.Run] and is meant for tests and tiny tasks: it follows every
// order in which nodes may be drawn, merging those that know the same. Searches
// less probable than least are dropped, and their probability is missing from the
// sum; so is what budget lacks to 1.
func Outcomes(t *ground.Task, from ground.StateID, goal int, h Heuristic, noise float64, budget []float64, least float64) ([]Outcome, error) {
	e := &enumeration{at: map[string]int{}}
	left := 1.0 // probability that the budget is not yet spent
	if budget != nil {
		left = 0
		for _, p := range budget[1:] {
			left += p
		}
		e.end(nil, budget[0])
	}
	layer := []frontier{{nodes: map[ground.StateID]known{from: {parent: -1, by: -1, open: true}}, probability: 1}}
	// Probabilities in a layer are of the draws alone; `left` holds the budget's part.
	for n := 1; len(layer) > 0 && left > 0; n++ {
		spent := 0.0 // probability that the budget is n
		if budget != nil {
			if n >= len(budget) {
				break
			}
			spent = budget[n]
		}
		at := map[string]int{}
		var next []frontier
		for _, f := range layer {
			draws := f.draws(h, noise)
			if len(draws) == 0 {
				e.end(nil, f.probability*left)
			}
			for _, d := range draws {
				p := f.probability * d.probability
				switch {
				case p*left < least:
					continue
				case t.Satisfies(d.state, goal):
					e.end(f.path(d.state), p*left)
					continue
				}
				e.end(f.path(d.state), p*spent)
				after := f.expand(t, d.state, h)
				key := after.key()
				i, ok := at[key]
				if !ok {
					i = len(next)
					at[key] = i
					next = append(next, after)
				}
				next[i].probability += p
			}
			if len(next) > mostFrontiers {
				return nil, ErrTooLarge
			}
		}
		layer = next
		left -= spent
	}
	return e.outcomes, nil
}

// enumeration gathers outcomes with the same path.
type enumeration struct {
	outcomes []Outcome
	at       map[string]int
}

func (e *enumeration) end(path []Step, p float64) {
	if p <= 0 {
		return
	}
	var key []byte
	for _, step := range path {
		key = binary.AppendVarint(key, int64(step.Operator))
	}
	i, ok := e.at[string(key)]
	if !ok {
		i = len(e.outcomes)
		e.at[string(key)] = i
		e.outcomes = append(e.outcomes, Outcome{Path: path})
	}
	e.outcomes[i].Probability += p
}

type drawing struct {
	state       ground.StateID
	probability float64
}

// draws are the open nodes, each with its probability: proportional to
// exp(-f/noise), or, without noise, the same for those of least f.
func (f *frontier) draws(h Heuristic, noise float64) []drawing {
	least := math.Inf(1)
	value := func(s ground.StateID) float64 {
		if f.nodes[s].parent < 0 {
			return 0
		}
		return float64(f.nodes[s].g) + h.Value(s)
	}
	var open []ground.StateID
	for _, s := range f.sorted() {
		if v := value(s); f.nodes[s].open && !math.IsInf(v, 1) {
			open = append(open, s)
			least = min(least, v)
		}
	}
	var draws []drawing
	total := 0.0
	for _, s := range open {
		w := 0.0
		switch {
		case noise > 0:
			w = math.Exp(-(value(s) - least) / noise)
		case value(s) == least:
			w = 1
		}
		if w > 0 {
			draws = append(draws, drawing{s, w})
			total += w
		}
	}
	for i := range draws {
		draws[i].probability /= total
	}
	return draws
}

func (f *frontier) sorted() []ground.StateID { return slices.Sorted(maps.Keys(f.nodes)) }

// expand is the frontier after the node of a state was drawn and expanded.
func (f *frontier) expand(t *ground.Task, state ground.StateID, h Heuristic) frontier {
	nodes := maps.Clone(f.nodes)
	drawn := nodes[state]
	drawn.open = false
	nodes[state] = drawn
	for _, next := range t.Successors(state) {
		old, met := nodes[next.State]
		if !met || drawn.g+1 < old.g {
			nodes[next.State] = known{g: drawn.g + 1, parent: state, by: next.Operator, open: !math.IsInf(h.Value(next.State), 1)}
		}
	}
	return frontier{nodes: nodes}
}

func (f *frontier) path(to ground.StateID) []Step {
	var path []Step
	for n := f.nodes[to]; n.parent >= 0; n = f.nodes[to] {
		path = append(path, Step{Operator: n.by, State: to})
		to = n.parent
	}
	slices.Reverse(path)
	return path
}

// key tells frontiers apart.
func (f *frontier) key() string {
	var key []byte
	for _, s := range f.sorted() {
		n := f.nodes[s]
		key = binary.AppendVarint(key, int64(s))
		key = binary.AppendVarint(key, int64(n.g))
		key = binary.AppendVarint(key, int64(n.parent))
		key = binary.AppendVarint(key, int64(n.by))
		if n.open {
			key = append(key, 1)
		} else {
			key = append(key, 0)
		}
	}
	return string(key)
}
