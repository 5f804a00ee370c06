package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/internal/looks"
)

// An observer and distances end with the error of their context at any look, and enumerate
// no more than some thousand states between two.
func TestEnumeratingIsInterrupted(t *testing.T) {
	const mostStates = 10_000
	for name, find := range map[string]func(ctx context.Context, each *func()) error{
		"an observer": func(ctx context.Context, each *func()) error {
			o, err := policy.NewObserver(tiny.Blocks(t, "abcdef", "abc"), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.Posterior(ctx, policy.Parameters{Alpha: 1, Value: policy.OnPolicy, Unreachable: -9})
			return err
		},
		"distances": func(ctx context.Context, each *func()) error {
			task, states := tiny.Blocks(t, "abcdefg", "abc"), 0
			*each = func() {
				if n := task.Len(); n > states+mostStates {
					t.Errorf("%d states, at the look before %d", n, states)
				}
				states = task.Len()
			}
			d, err := policy.NewDistances(ctx, task, 100_000)
			if err == nil {
				_, err = d.To(ctx, 0)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			looks.Interrupt(t, 6, func(most int) (*looks.Context, error) {
				each := func() {}
				ctx := looks.New(most, func() { each() })
				return ctx, find(ctx, &each)
			})
		})
	}
}

func TestTooManyStatesAreCounted(t *testing.T) {
	_, err := policy.NewDistances(t.Context(), tiny.Blocks(t, "abcdef", "abc"), 100)
	if !errors.Is(err, policy.ErrTooLarge) || !strings.Contains(err.Error(), "more than 100 states") {
		t.Errorf("error %v", err)
	}
}
