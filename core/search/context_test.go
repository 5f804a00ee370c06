package search_test

import (
	"context"
	"errors"
	"testing"

	"foible/core/heuristic"
	"foible/core/internal/tiny"
	"foible/core/search"
)

// looking is a context that ends when it has been looked at a number of times.
type looking struct {
	context.Context
	left int    // looks
	each func() // called at every look
}

func (l *looking) Err() error {
	l.each()
	if l.left == 0 {
		return context.Canceled
	}
	l.left--
	return nil
}

// A search that would go through all states ends when its context does, and looks at it
// every few thousand successors.
func TestSearchIsInterrupted(t *testing.T) {
	task := tiny.Blocks(t, "abcdef", "abc", "aa") // nothing stands on itself
	o := search.Options{Noise: 0.5, Budget: search.Unlimited}
	for name, find := range map[string]func(ctx context.Context, s *search.Searcher) error{
		"run": func(ctx context.Context, s *search.Searcher) error {
			_, err := s.Run(ctx, task.Initial(), 1, heuristic.Zero(), o, seeded(1))
			return err
		},
		"trace": func(ctx context.Context, s *search.Searcher) error {
			_, _, err := s.Trace(ctx, task.Initial(), 1, heuristic.Zero(), o, nil, nil, seeded(1), nil)
			return err
		},
		"weigh": func(ctx context.Context, s *search.Searcher) error {
			const draws = 10_000
			limited := search.Options{Noise: 0.5, Budget: draws}
			_, _, err := s.Weigh(ctx, task.Initial(), 1, heuristic.Zero(), limited, nil, nil, seeded(1), func(int) float64 { return 1 }, search.NewTally(draws, 1))
			return err
		},
	} {
		run := func(looks int) (left int, err error) {
			searcher, last := search.New(task), 0
			ctx := &looking{context.Background(), looks, func() {
				if n := searcher.Generated; n > last+20_000 {
					t.Errorf("%s: %d successors without a look", name, n-last)
				}
				last = searcher.Generated
			}}
			err = find(ctx, searcher)
			ctx.each()
			return ctx.left, err
		}
		left, err := run(-1)
		if err != nil {
			t.Fatal(err)
		}
		if looks := -1 - left; looks < 3 {
			t.Errorf("%s: %d looks", name, looks)
		}
		for n := range -1 - left {
			if _, err := run(n); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, after %d looks: error %v", name, n, err)
			}
		}
	}
}
