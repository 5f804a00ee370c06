package search

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"foible.dev/foible/core/ground"
)

// Outcome is a path that a search may end with, and how probable that is.
type Outcome struct {
	Path        []Step // empty if the open list was exhausted, too
	Probability float64
}

// ErrTooLarge is of a search with too many outcomes to enumerate.
var ErrTooLarge = errors.New("too many ways for a search to go")

const (
	mostFrontiers   = 50_000
	smallestOutcome = 1e-12
)

// Outcomes are all paths that a search may end with, for tests and tiny tasks:
// every order in which nodes can be drawn is followed. The budget is not that of the
// query, but random: n or more with probability atLeast(n). Paths of a probability below 1e-12 may be left out.
func Outcomes(t *ground.Task, q *Query, atLeast func(n int) float64) ([]Outcome, error) {
	var found outcomes
	now := frontiers{}
	now.add(frontier{nodes: []known{{state: q.From, parent: -1, open: true}}}, 1)
	for drawn := 1; len(now.all) > 0; drawn++ {
		if len(now.all) > mostFrontiers {
			return nil, ErrTooLarge
		}
		reached, goesOn := 1.0, atLeast(drawn+1)
		if drawn > 1 {
			reached = atLeast(drawn)
		}
		next := frontiers{}
		for i, f := range now.all {
			chances := f.chances(q.Heuristic, q.Noise)
			if chances == nil {
				found.add(nil, now.mass[i]*reached)
				continue
			}
			for j, chance := range chances {
				mass := now.mass[i] * chance
				if mass*reached < smallestOutcome {
					continue
				}
				if t.Satisfies(f.nodes[j].state, q.Goal) {
					found.add(f.path(j), mass*reached)
					continue
				}
				found.add(f.path(j), mass*(reached-goesOn))
				if mass*goesOn >= smallestOutcome {
					ways := f.expand(t, j, q.Heuristic, q.Noise)
					for _, way := range ways {
						next.add(way, mass/float64(len(ways)))
					}
				}
			}
		}
		now = next
	}
	return found.all, nil
}

// frontier is what a search knows: nodes in order of their states, dead ends not among them.
type frontier struct {
	nodes []known
	// ranked counts, by f, the priorities given without noise; nil otherwise. A new
	// one has any place among them, those of nodes closed or opened again included.
	ranked []int32
}

type known struct {
	state, parent ground.StateID
	by            ground.OperatorID
	g             int32
	rank          int32 // of an open node: of its priority among those given to its f
	open          bool
}

// chances are the probabilities of the nodes to be drawn next; nil if none is open.
func (f frontier) chances(h Heuristic, noise float64) []float64 {
	least := math.Inf(1)
	values := make([]float64, len(f.nodes))
	best := -1 // of the highest priority among the least
	for i, n := range f.nodes {
		values[i] = math.Inf(1)
		if !n.open {
			continue
		}
		values[i] = float64(n.g) + h.Value(n.state)
		if n.parent < 0 {
			values[i] = 0 // nothing else is open, whatever its h
		}
		if values[i] < least || values[i] == least && n.rank < f.nodes[best].rank {
			best = i
		}
		least = min(least, values[i])
	}
	if best < 0 {
		return nil
	}
	if noise == 0 {
		clear(values)
		values[best] = 1
		return values
	}
	var sum float64
	for i, v := range values {
		values[i] = math.Exp(-(v - least) / noise)
		sum += values[i]
	}
	for i := range values {
		values[i] /= sum
	}
	return values
}

func (f frontier) find(s ground.StateID) (int, bool) {
	return slices.BinarySearchFunc(f.nodes, s, func(n known, s ground.StateID) int { return int(n.state - s) })
}

// expand is what is known after node i was drawn and expanded: without noise, all
// equally probable ways in which the nodes that it opens may be given priorities.
func (f frontier) expand(t *ground.Task, i int, h Heuristic, noise float64) []frontier {
	from := f.nodes[i]
	f = f.clone()
	f.nodes[i].open, f.nodes[i].rank = false, 0
	ways := []frontier{f}
	for _, next := range t.Successors(from.state) {
		if math.IsInf(h.Value(next.State), 1) {
			continue
		}
		n := known{state: next.State, parent: from.state, by: next.Operator, g: from.g + 1, open: true}
		at, old := ways[0].find(next.State) // in all ways alike
		if old && n.g >= ways[0].nodes[at].g {
			continue
		}
		var opened []frontier
		for _, way := range ways {
			if old {
				way.nodes[at] = n
			} else {
				way.nodes = slices.Insert(way.nodes, at, n)
			}
			if noise > 0 {
				opened = append(opened, way)
				continue
			}
			opened = append(opened, way.rank(at, h)...)
		}
		ways = opened
	}
	return ways
}

func (f frontier) clone() frontier {
	return frontier{slices.Clone(f.nodes), slices.Clone(f.ranked)}
}

// rank gives node i every rank that it may have.
func (f frontier) rank(i int, h Heuristic) []frontier {
	of := func(n *known) int { return int(n.g) + int(h.Value(n.state)) }
	value := of(&f.nodes[i])
	for len(f.ranked) <= value {
		f.ranked = append(f.ranked, 0)
	}
	ways := make([]frontier, f.ranked[value]+1)
	for rank := range ways {
		way := f.clone()
		for j := range way.nodes {
			if n := &way.nodes[j]; n.open && j != i && n.rank >= int32(rank) && of(n) == value {
				n.rank++
			}
		}
		way.nodes[i].rank = int32(rank)
		way.ranked[value]++
		ways[rank] = way
	}
	return ways
}

func (f frontier) path(i int) []Step {
	var path []Step
	for n := f.nodes[i]; n.parent >= 0; n = f.nodes[i] {
		path = append(path, Step{Operator: n.by, State: n.state})
		i, _ = f.find(n.parent)
	}
	slices.Reverse(path)
	return path
}

// frontiers are distinct frontiers with their probabilities.
type frontiers struct {
	all  []frontier
	mass []float64
	at   map[string]int
}

func (fs *frontiers) add(f frontier, mass float64) {
	key := make([]byte, 0, 16*len(f.nodes))
	for _, n := range f.nodes {
		g := n.g << 1
		if n.open {
			g |= 1
		}
		for _, x := range []int32{int32(n.state), int32(n.parent), int32(n.by), g, n.rank} {
			key = binary.AppendVarint(key, int64(x))
		}
	}
	for _, n := range f.ranked {
		key = binary.AppendVarint(key, int64(n))
	}
	if i, ok := fs.at[string(key)]; ok {
		fs.mass[i] += mass
		return
	}
	if fs.at == nil {
		fs.at = map[string]int{}
	}
	fs.at[string(key)] = len(fs.all)
	fs.all, fs.mass = append(fs.all, f), append(fs.mass, mass)
}

// outcomes are distinct paths with their probabilities.
type outcomes struct {
	all []Outcome
	at  map[string]int
}

func (o *outcomes) add(path []Step, p float64) {
	if p <= 0 {
		return
	}
	var key []byte
	for _, s := range path {
		key = binary.AppendVarint(binary.AppendVarint(key, int64(s.Operator)), int64(s.State))
	}
	if i, ok := o.at[string(key)]; ok {
		o.all[i].Probability += p
		return
	}
	if o.at == nil {
		o.at = map[string]int{}
	}
	o.at[string(key)] = len(o.all)
	o.all = append(o.all, Outcome{Path: path, Probability: p})
}
