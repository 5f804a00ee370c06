package web

import (
	"sync"
	"time"
)

// shelf keeps things by name. It forgets the ones used longest ago when there are too many, or they are too large together.
type shelf[T any] struct {
	most      int
	mostBytes int64 // of all things that have been weighed; 0: as large as they are

	mu    sync.Mutex // guards what follows
	order []string   // the latest last
	kept  map[string]*shelved[T]
	bytes int64
}

// shelved is a thing on a shelf.
type shelved[T any] struct {
	thing T
	used  time.Time
	bytes int64
}

func newShelf[T any](most int, mostBytes int64) shelf[T] {
	return shelf[T]{most: most, mostBytes: mostBytes, kept: map[string]*shelved[T]{}}
}

// get finds a thing, or makes it.
func (s *shelf[T]) get(name string, fresh func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.kept[name]
	if !ok {
		it = &shelved[T]{thing: fresh()}
		s.kept[name] = it
	}
	it.used = time.Now()
	for i := range s.order {
		if s.order[i] == name {
			s.order = append(s.order[:i], s.order[i+1:]...)
			break
		}
	}
	s.order = append(s.order, name)
	s.fit()
	return it.thing
}

// find finds a thing that is there.
func (s *shelf[T]) find(name string) (thing T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.kept[name]
	if ok {
		thing = it.thing
	}
	return thing, ok
}

// weigh says how large a thing has become, if it is still there.
func (s *shelf[T]) weigh(name string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it, ok := s.kept[name]; ok {
		s.bytes += bytes - it.bytes
		it.bytes = bytes
		s.fit()
	}
}

// fit removes what exceeds the limit. What was used last stays. The caller holds mu.
func (s *shelf[T]) fit() {
	for len(s.order) > 1 && (len(s.order) > s.most || s.mostBytes > 0 && s.bytes > s.mostBytes) {
		s.forgetOldest()
	}
}

// forget forgets what has not been used since a time.
func (s *shelf[T]) forget(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 && s.kept[s.order[0]].used.Before(since) {
		s.forgetOldest()
	}
}

// forgetOldest forgets the thing that was used longest ago. The caller holds mu.
func (s *shelf[T]) forgetOldest() {
	s.bytes -= s.kept[s.order[0]].bytes
	delete(s.kept, s.order[0])
	s.order = s.order[1:]
}
