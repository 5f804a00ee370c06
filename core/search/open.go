package search

import (
	"math"
	"math/rand/v2"

	"foible/core/ground"
)

// open is the open list: a bucket for each f value. With unit costs there are
// few, so a draw is a walk over a handful of buckets however many nodes they hold.
type open struct {
	buckets [][]ground.StateID // by f
	low     int                // no node is open below
	high    int                // nor above
	size    int

	noise   float64
	weights []float64 // of a node by its f above the least: exp(-difference / noise), as far as needed
	reach   int       // weights from here on count as 0
}

// negligible is a weight so small beside 1 that no draw of 53 bits finds it, be
// there a hundred thousand nodes of it.
const negligible = 0x1p-70

func (o *open) reset(noise float64) {
	for f := o.low; f <= o.high; f++ {
		o.buckets[f] = o.buckets[f][:0]
	}
	o.low, o.high, o.size = math.MaxInt, -1, 0
	if o.weights == nil || noise != o.noise {
		o.noise = noise
		o.weights = append(o.weights[:0], 1)
		o.reach = int(min(1-noise*math.Log(negligible), math.MaxInt32))
	}
}

// insert opens a state.
func (s *Searcher) insert(state ground.StateID, f int32) {
	o := &s.open
	at := int(f)
	for at >= len(o.buckets) {
		o.buckets = append(o.buckets, nil)
	}
	n := &s.nodes[state]
	n.f, n.at = f, int32(len(o.buckets[at]))
	o.buckets[at] = append(o.buckets[at], state)
	o.low, o.high = min(o.low, at), max(o.high, at)
	o.size++
	if o.noise == 0 {
		for int(state) >= len(s.priority) {
			s.priority = append(s.priority, 0)
		}
		s.priority[state] = s.rng.Uint64()
	}
}

// remove takes an open node out; the last one of its bucket takes its place. Its
// f stays.
func (s *Searcher) remove(n *node) {
	b := &s.open.buckets[n.f]
	last := len(*b) - 1
	moved := (*b)[last]
	(*b)[n.at] = moved
	s.nodes[moved].at = n.at
	*b = (*b)[:last]
	s.open.size--
}

// draw closes a node of the open list, which is not empty, and returns it with its h.
func (s *Searcher) draw() (ground.StateID, int32) {
	o := &s.open
	for len(o.buckets[o.low]) == 0 {
		o.low++
	}
	f, at := o.low, 0
	if o.noise == 0 {
		at = s.first(o.buckets[o.low])
	} else {
		f, at = o.pick(s.rng)
	}
	state := o.buckets[f][at]
	n := &s.nodes[state]
	s.remove(n)
	n.f = closed
	return state, int32(f) - n.g
}

// first is the place of the node of the highest priority.
func (s *Searcher) first(bucket []ground.StateID) int {
	first := 0
	for i, state := range bucket {
		if s.priority[state] < s.priority[bucket[first]] {
			first = i
		}
	}
	return first
}

// pick draws an open node: the bucket, and the place in it. One number serves for
// both: what it exceeds the buckets before by is uniform in the bucket.
func (o *open) pick(rng *rand.Rand) (f, at int) {
	span := min(o.reach, o.high-o.low+1)
	if span == 1 {
		n := len(o.buckets[o.low])
		if n == 1 {
			return o.low, 0
		}
		return o.low, rng.IntN(n)
	}
	for len(o.weights) < span {
		o.weights = append(o.weights, math.Exp(-float64(len(o.weights))/o.noise))
	}
	buckets, weights := o.buckets[o.low:o.low+span], o.weights[:span]
	var total float64
	for i, b := range buckets {
		total += float64(float64(len(b)) * weights[i])
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
