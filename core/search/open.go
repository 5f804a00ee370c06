package search

import (
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
)

// open is the open list: a bucket for each f value. With unit costs there are
// few, so a draw is a walk over a handful of buckets however many nodes they hold.
type open struct {
	buckets [][]ground.StateID // by f
	ranks   []heap             // by f, in place of buckets, of a search without noise
	low     int                // no node is open below
	high    int                // nor above
	size    int

	noise   float64
	weights []float64 // of a node by its f above the least: exp(-difference / noise), as far as needed
	reach   int       // weights from here on count as 0
}

// negligible is a weight so small compared with 1 that no draw of 53 bits finds it, be
// there a hundred thousand nodes of it.
const negligible = 0x1p-70

func (o *open) reset(noise float64) {
	for f := o.low; f <= o.high; f++ {
		o.buckets[f] = o.buckets[f][:0]
		o.ranks[f].reset()
	}
	o.low, o.high, o.size = math.MaxInt, -1, 0
	if o.weights == nil || noise != o.noise {
		o.noise = noise
		o.weights = append(o.weights[:0], 1)
		o.reach = reach(noise)
	}
}

// reach is how far above the least f, exclusive, weights count.
func reach(noise float64) int { return int(min(1-noise*math.Log(negligible), math.MaxInt32)) }

// insert opens a state, whose node is n.
func (s *Searcher) insert(n *node, state ground.StateID, f int32) {
	o := &s.open
	at := int(f)
	if at >= len(o.buckets) {
		o.grow(at)
	}
	n.f = f
	if o.noise == 0 {
		h := &o.ranks[at]
		h.all = append(h.all, ranked{s.rng.Uint64(), state})
	} else {
		b := &o.buckets[at]
		n.at = int32(len(*b))
		*b = append(*b, state)
	}
	o.low, o.high = min(o.low, at), max(o.high, at)
	o.size++
	if s.classes.on {
		s.classes.insert(s, n, state, f)
	}
}

// grow makes buckets up to an f.
func (o *open) grow(f int) {
	for f >= len(o.buckets) {
		o.buckets, o.ranks = append(o.buckets, nil), append(o.ranks, heap{})
	}
}

// remove takes an open node out; the last one of its bucket takes its place. Its
// f stays.
func (s *Searcher) remove(state ground.StateID) {
	o, n := &s.open, &s.nodes[state]
	o.size--
	if o.noise == 0 {
		return // its f is about to change, which says that it is not there
	}
	b := o.buckets[n.f]
	last := len(b) - 1
	moved := b[last]
	b[n.at] = moved
	s.nodes[moved].at = n.at
	o.buckets[n.f] = b[:last]
	if c := &s.classes; c.on {
		c.remove(state, n.f)
	}
}

// draw closes a node of the open list, which is not empty, and returns it with its h.
func (s *Searcher) draw() (ground.StateID, int32) {
	o := &s.open
	if o.noise == 0 {
		return s.drawFirst()
	}
	for len(o.buckets[o.low]) == 0 {
		o.low++
	}
	total := 0.0
	if s.classes.on {
		total = s.classes.total
	}
	f, at := o.pick(s.rng, total)
	state := o.buckets[f][at]
	s.remove(state)
	n := &s.nodes[state]
	n.f = closed
	return state, int32(f) - n.g
}

// choice reports whether the next draw is a matter of chance.
func (s *Searcher) choice() bool {
	o := &s.open
	nodes, least := 0, o.high
	for f := o.low; f <= o.high && f-least < o.reach && nodes < 2; f++ {
		nodes += len(o.buckets[f])
		for _, r := range o.ranks[f].all {
			if s.nodes[r.state].f == int32(f) { // the others have been removed
				nodes++
			}
		}
		if nodes > 0 {
			least = min(least, f)
		}
	}
	return nodes > 1
}

// drawFirst closes the node of the highest priority among those of the least f.
// What is in a heap of an f that is no more its own has been removed: the f of a
// node never rises.
func (s *Searcher) drawFirst() (ground.StateID, int32) {
	o := &s.open
	for {
		for len(o.ranks[o.low].all) == 0 {
			o.low++
		}
		state := o.ranks[o.low].pop()
		if n := &s.nodes[state]; n.f == int32(o.low) {
			o.size--
			n.f = closed
			return state, int32(o.low) - n.g
		}
	}
}

// ranked is a node with its priority; the least number is the highest.
type ranked struct {
	priority uint64
	state    ground.StateID
}

// heap has the highest priority first. Most nodes are never drawn: they are put in
// order when the first of them is.
type heap struct {
	all     []ranked
	ordered int // the first ordered ones are a binary heap
}

func (h *heap) reset() { h.all, h.ordered = h.all[:0], 0 }

// pop removes the node of the highest priority.
func (h *heap) pop() ground.StateID {
	for ; h.ordered < len(h.all); h.ordered++ {
		h.rise(h.ordered)
	}
	first := h.all[0].state
	last := len(h.all) - 1
	r := h.all[last]
	h.all, h.ordered = h.all[:last], last
	if last > 0 {
		h.sink(r)
	}
	return first
}

// rise takes node i to its place among those before it.
func (h *heap) rise(i int) {
	r := h.all[i]
	for i > 0 {
		up := (i - 1) / 2
		if h.all[up].priority <= r.priority {
			break
		}
		h.all[i] = h.all[up]
		i = up
	}
	h.all[i] = r
}

// sink puts a node in the place of the first, and takes it to its own.
func (h *heap) sink(r ranked) {
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h.all) {
			break
		}
		if down+1 < len(h.all) && h.all[down+1].priority < h.all[down].priority {
			down++
		}
		if r.priority <= h.all[down].priority {
			break
		}
		h.all[i] = h.all[down]
		i = down
	}
	h.all[i] = r
}

// span is how many buckets from the lowest on have nodes with a weight; their
// weights are known then.
func (o *open) span() int {
	span := min(o.reach, o.high-o.low+1)
	if span > len(o.weights) {
		o.weigh(span)
	}
	return span
}

// weight is that of a node so far above the least f.
func (o *open) weight(above int) float64 {
	if above >= len(o.weights) {
		o.weigh(above + 1)
	}
	return o.weights[above]
}

// weigh computes the first n weights.
func (o *open) weigh(n int) {
	for len(o.weights) < n {
		o.weights = append(o.weights, math.Exp(-float64(len(o.weights))/o.noise))
	}
}

// pick draws an open node: the bucket, and the place in it. One number serves for
// both: what it exceeds the buckets before by is uniform in the bucket. total is the
// weight of all open nodes, if it is known.
func (o *open) pick(rng *rand.Rand, total float64) (f, at int) {
	span := o.span()
	if span == 1 {
		n := len(o.buckets[o.low])
		if n == 1 {
			return o.low, 0
		}
		return o.low, rng.IntN(n)
	}
	buckets, weights := o.buckets[o.low:o.low+span], o.weights[:span]
	if total == 0 {
		for i, b := range buckets {
			total += float64(float64(len(b)) * weights[i])
		}
	}
	u := rng.Float64() * total
	for i, b := range buckets {
		all := float64(float64(len(b)) * weights[i])
		if u < all {
			return o.low + i, min(int(u/weights[i]), len(b)-1)
		}
		u -= all
	}
	return o.low, len(buckets[0]) - 1 // rounding: u was total to the last bit
}
