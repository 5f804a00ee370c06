package search_test

import (
	"context"
	"math"
	"testing"

	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
	"foible.dev/foible/internal/looks"
)

// A search that would go through all states ends when its context does, and looks at it
// every few thousand successors.
func TestSearchIsInterrupted(t *testing.T) {
	task := tiny.Blocks(t, "abcdef", "abc", "aa") // nothing stands on itself
	o := search.Options{Noise: 0.5, Budget: search.Unlimited}
	for name, find := range map[string]func(ctx context.Context, s *search.Searcher) error{
		"run": func(ctx context.Context, s *search.Searcher) error {
			_, err := s.Run(ctx, &search.Query{From: task.Initial(), Goal: 1, Heuristic: heuristic.Zero(), Options: o}, seeded(1))
			return err
		},
		"trace": func(ctx context.Context, s *search.Searcher) error {
			_, _, err := s.Trace(ctx, &search.Query{From: task.Initial(), Goal: 1, Heuristic: heuristic.Zero(), Options: o}, seeded(1), nil)
			return err
		},
		"weigh": func(ctx context.Context, s *search.Searcher) error {
			const draws = 10_000
			limited := search.Options{Noise: 0.5, Budget: draws}
			_, _, err := s.Weigh(ctx, &search.Query{From: task.Initial(), Goal: 1, Heuristic: heuristic.Zero(), Options: limited}, seeded(1), func(int) float64 { return 1 }, search.NewTally(draws, 1))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if n := looks.Interrupt(t, math.MaxInt, func(most int) (*looks.Context, error) {
				searcher, last := search.New(task), 0
				count := func() {
					if n := searcher.Generated; n > last+20_000 {
						t.Errorf("%d successors without a look", n-last)
					}
					last = searcher.Generated
				}
				ctx := looks.New(most, count)
				err := find(ctx, searcher)
				count()
				return ctx, err
			}); n < 3 {
				t.Errorf("%d looks", n)
			}
		})
	}
}
