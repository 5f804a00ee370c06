//go:build !race

package policy_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"foible.dev/foible/core/policy"
)

// optimal grounds all published stimuli, enumerates their states and computes
// optimal values of every goal, on one core. It returns the number of states by stimulus.
func optimal(t testing.TB, all []stimulus) []int {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	states := make([]int, len(all))
	for i := range all {
		o := all[i].observer(t)
		if _, err := o.Posterior(context.Background(), policy.Parameters{Alpha: 1, Value: policy.Optimal, Unreachable: -1000}); err != nil {
			t.Fatal(err)
		}
		var err error
		if states[i], err = o.States(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return states
}

// 132,286 states.
func BenchmarkOptimalPublished(b *testing.B) {
	all := stimuli(b)
	for b.Loop() {
		optimal(b, all)
	}
}

// The benchmark is of as many states as it says.
func TestOptimalPublished(t *testing.T) {
	all := stimuli(t)
	states := optimal(t, all)
	byDomain := map[string][]int{}
	sum := 0
	for i, n := range states {
		byDomain[all[i].domain] = append(byDomain[all[i].domain], n)
		sum += n
	}
	for domain, want := range map[string][2]int{"block-words": {7057, 7057}, "doors-keys-gems": {851, 1760}} {
		if n := byDomain[domain]; len(n) != 16 || slices.Min(n) != want[0] || slices.Max(n) != want[1] {
			t.Errorf("%s: %v states, want from %d to %d", domain, n, want[0], want[1])
		}
	}
	if sum != 132_286 {
		t.Errorf("%d states", sum)
	}
}
