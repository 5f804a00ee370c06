package search

import (
	"math"
	"math/rand/v2"

	"foible/core/ground"
)

// open is the open list: a bucket for each f value. With unit costs there are
// few, so a draw is a walk over a handful of buckets however many nodes they hold.
type open struct {
	noise   float64
	buckets []bucket // those in use come first; their room is kept
	used    int
	size    int     // nodes in all buckets
	least   float64 // smallest f of a non-empty bucket when weights were made
}

// bucket holds the open nodes of one f value.
type bucket struct {
	f      float64
	weight float64 // exp(-(f - least) / noise) of one node
	states []ground.StateID
}

const closed = -1 // bucket of a node that is not open

func (o *open) reset(noise float64) {
	o.noise, o.used, o.size, o.least = noise, 0, 0, math.Inf(1)
}

// insert opens a state, unless it is a dead end.
func (s *Searcher) insert(state ground.StateID) {
	n := &s.nodes[state]
	f := float64(n.g) + n.h
	if math.IsInf(f, 1) {
		n.bucket = closed
		return
	}
	b := s.open.bucket(f)
	n.bucket = int32(b)
	n.at = int32(len(s.open.buckets[b].states))
	s.open.buckets[b].states = append(s.open.buckets[b].states, state)
	s.open.size++
}

// bucket finds or makes the bucket of an f value.
func (o *open) bucket(f float64) int {
	for i := range o.buckets[:o.used] {
		if o.buckets[i].f == f {
			return i
		}
	}
	if o.used == len(o.buckets) {
		o.buckets = append(o.buckets, bucket{})
	}
	b := &o.buckets[o.used]
	b.f, b.weight, b.states = f, math.Exp(-(f-o.least)/o.noise), b.states[:0]
	o.used++
	return o.used - 1
}

// remove takes an open node out; the last one of its bucket takes its place.
func (s *Searcher) remove(n *node) {
	b := &s.open.buckets[n.bucket]
	last := b.states[len(b.states)-1]
	b.states[n.at] = last
	s.nodes[last].at = n.at
	b.states = b.states[:len(b.states)-1]
	n.bucket = closed
	s.open.size--
}

// draw takes a node out of the open list, which is not empty.
func (s *Searcher) draw(rng *rand.Rand) ground.StateID {
	b := s.open.pick(rng)
	states := s.open.buckets[b].states
	state := states[0]
	if len(states) > 1 {
		state = states[rng.IntN(len(states))]
	}
	s.remove(&s.nodes[state])
	return state
}

// pick draws a bucket: that of least f without noise, else each with probability
// proportional to its nodes times exp(-f / noise).
func (o *open) pick(rng *rand.Rand) int {
	least, at, count := math.Inf(1), 0, 0
	for i := range o.buckets[:o.used] {
		if b := &o.buckets[i]; len(b.states) > 0 {
			count++
			if b.f < least {
				least, at = b.f, i
			}
		}
	}
	if o.noise == 0 || count == 1 {
		return at
	}
	if least != o.least {
		o.least = least
		for i := range o.buckets[:o.used] {
			b := &o.buckets[i]
			b.weight = math.Exp(-(b.f - least) / o.noise)
		}
	}
	var total float64
	for i := range o.buckets[:o.used] {
		b := &o.buckets[i]
		total += float64(float64(len(b.states)) * b.weight)
	}
	u := rng.Float64() * total
	for i := range o.buckets[:o.used] {
		b := &o.buckets[i]
		if len(b.states) == 0 {
			continue
		}
		if u -= float64(float64(len(b.states)) * b.weight); u < 0 {
			return i
		}
	}
	return at // rounding: u was total to the last bit
}
