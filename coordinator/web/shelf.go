package web

import "sync"

// shelf keeps things by name, of which the ones used longest ago are forgotten.
type shelf[T any] struct {
	most int

	mu    sync.Mutex // guards what follows
	order []string   // the latest last
	kept  map[string]T
}

func newShelf[T any](most int) shelf[T] { return shelf[T]{most: most, kept: map[string]T{}} }

// get finds a thing, or makes it.
func (s *shelf[T]) get(name string, fresh func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	thing, ok := s.kept[name]
	if !ok {
		thing = fresh()
		s.kept[name] = thing
	}
	for i := range s.order {
		if s.order[i] == name {
			s.order = append(s.order[:i], s.order[i+1:]...)
			break
		}
	}
	if s.order = append(s.order, name); len(s.order) > s.most {
		delete(s.kept, s.order[0])
		s.order = s.order[1:]
	}
	return thing
}

// find finds a thing that is there.
func (s *shelf[T]) find(name string) (thing T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	thing, ok = s.kept[name]
	return thing, ok
}
