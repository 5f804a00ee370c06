package search

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"foible/core/ground"
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
// every order in which nodes can be drawn is followed. The budget is random, n or
// more with probability atLeast(n). Paths of a probability below 1e-12 may be left out.
func Outcomes(t *ground.Task, from ground.StateID, goal int, h Heuristic, noise float64, atLeast func(n int) float64) ([]Outcome, error) {
	var found outcomes
	now := frontiers{}
	now.add(frontier{{state: from, parent: -1, open: true}}, 1)
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
			chances := f.chances(h, noise)
			if chances == nil {
				found.add(nil, now.mass[i]*reached)
				continue
			}
			for j, chance := range chances {
				mass := now.mass[i] * chance
				if mass*reached < smallestOutcome {
					continue
				}
				if t.Satisfies(f[j].state, goal) {
					found.add(f.path(j), mass*reached)
					continue
				}
				found.add(f.path(j), mass*(reached-goesOn))
				if mass*goesOn >= smallestOutcome {
					next.add(f.expand(t, j, h), mass)
				}
			}
		}
		now = next
	}
	return found.all, nil
}

// frontier is what a search knows: nodes in order of their states, dead ends not among them.
type frontier []known

type known struct {
	state, parent ground.StateID
	by            ground.OperatorID
	g             int32
	open          bool
}

// chances are the probabilities of the nodes to be drawn next; nil if none is open.
func (f frontier) chances(h Heuristic, noise float64) []float64 {
	least := math.Inf(1)
	values := make([]float64, len(f))
	for i, n := range f {
		values[i] = math.Inf(1)
		if n.open {
			values[i] = float64(n.g) + h.Value(n.state)
			if n.parent < 0 {
				values[i] = 0 // the start is alone, whatever its h
			}
			least = min(least, values[i])
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	var sum float64
	for i, v := range values {
		switch {
		case v == least:
			values[i] = 1
		case noise == 0:
			values[i] = 0
		default:
			values[i] = math.Exp(-(v - least) / noise)
		}
		sum += values[i]
	}
	for i := range values {
		values[i] /= sum
	}
	return values
}

func (f frontier) find(s ground.StateID) (int, bool) {
	return slices.BinarySearchFunc(f, s, func(n known, s ground.StateID) int { return int(n.state - s) })
}

// expand is what is known after node i was drawn and expanded.
func (f frontier) expand(t *ground.Task, i int, h Heuristic) frontier {
	from := f[i]
	f = slices.Clone(f)
	f[i].open = false
	for _, next := range t.Successors(from.state) {
		if math.IsInf(h.Value(next.State), 1) {
			continue
		}
		n := known{state: next.State, parent: from.state, by: next.Operator, g: from.g + 1, open: true}
		switch at, old := f.find(next.State); {
		case !old:
			f = slices.Insert(f, at, n)
		case n.g < f[at].g:
			f[at] = n
		}
	}
	return f
}

func (f frontier) path(i int) []Step {
	var path []Step
	for f[i].parent >= 0 {
		path = append(path, Step{Operator: f[i].by, State: f[i].state})
		i, _ = f.find(f[i].parent)
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
	key := make([]byte, 0, 16*len(f))
	for _, n := range f {
		g := n.g << 1
		if n.open {
			g |= 1
		}
		for _, x := range []int32{int32(n.state), int32(n.parent), int32(n.by), g} {
			key = binary.AppendVarint(key, int64(x))
		}
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
