package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"foible/core/internal/tiny"
	"foible/core/policy"
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
			run := func(looks int) (left int, err error) {
				each := func() {}
				ctx := &looking{context.Background(), looks, func() { each() }}
				err = find(ctx, &each)
				return ctx.left, err
			}
			left, err := run(-1)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; n < -1-left; n += max(1, (-1-left)/6) {
				if _, err := run(n); !errors.Is(err, context.Canceled) {
					t.Errorf("after %d looks: error %v", n, err)
				}
			}
		})
	}
}

func TestTooManyStatesAreCounted(t *testing.T) {
	_, err := policy.NewDistances(t.Context(), tiny.Blocks(t, "abcdef", "abc"), 100)
	if !errors.Is(err, policy.ErrTooLarge) || !strings.Contains(err.Error(), "more than 100 states") {
		t.Errorf("error %v", err)
	}
}
