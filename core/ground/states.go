package ground

import "slices"

// states interns records: the fluents as values, then the facts as bits. One arena
// holds all records.
type states struct {
	fluents int // words of fluents
	stride  int // words of a record
	count   int
	arena   []uint64
	slots   []int32 // id+1 by hash, 0 is empty; the length is a power of two
}

func newStates(fluents, facts int) *states {
	words := max(1, (facts+63)/64)
	return &states{fluents: fluents, stride: fluents + words, slots: make([]int32, 256)}
}

func (s *states) record(id StateID) []uint64 {
	at := int(id) * s.stride
	return s.arena[at : at+s.stride : at+s.stride]
}

// facts is the number of facts that a record can hold.
func (s *states) facts() int { return 64 * (s.stride - s.fluents) }

func (s *states) intern(record []uint64) StateID {
	mask := uint64(len(s.slots) - 1)
	i := hashRecord(record) & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if id := StateID(s.slots[i] - 1); slices.Equal(s.record(id), record) {
			return id
		}
	}
	id := StateID(s.count)
	s.arena = append(s.arena, record...)
	s.count++
	s.slots[i] = int32(id) + 1
	if 2*s.count > len(s.slots) {
		s.rehash(2 * len(s.slots))
	}
	return id
}

func (s *states) rehash(size int) {
	s.slots = make([]int32, size)
	mask := uint64(size - 1)
	for id := range s.count {
		i := hashRecord(s.record(StateID(id))) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = int32(id) + 1
	}
}

// widen makes room for more words of facts in every record.
func (s *states) widen(words int) {
	old := *s
	s.stride += words
	s.arena = make([]uint64, 0, s.count*s.stride)
	for id := range s.count {
		s.arena = append(s.arena, old.record(StateID(id))...)
		s.arena = append(s.arena, make([]uint64, words)...)
	}
	s.rehash(len(s.slots))
}

func hashRecord(record []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, word := range record {
		h = mix(h ^ word)
	}
	return h
}
