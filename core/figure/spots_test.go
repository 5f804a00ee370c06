package figure_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"foible.dev/foible/core/figure"
)

// Each parameter set with an r has a spot in the figure, further to the right and higher the better it is.
func TestSpots(t *testing.T) {
	f := figure.Sensitivity([]figure.Curve{
		{Model: "full", Points: []figure.Point{{R: 0.5}, {R: math.NaN()}, {R: 0.9}, {R: 0.1}}, Chosen: 2},
		{Model: "boltzmann", Points: []figure.Point{{R: 0.7}}, Chosen: -1},
	}, figure.SensitivityOptions{})
	width, height := f.Size()
	var got []string
	var last figure.Spot
	for i, s := range f.Spots() {
		got = append(got, fmt.Sprint(s.Curve, ":", s.Point))
		if s.X <= 0 || s.X >= width || s.Y <= 0 || s.Y >= height {
			t.Errorf("%+v is outside of %g x %g", s, width, height)
		}
		if i > 0 && s.Curve == last.Curve && (s.X <= last.X || s.Y >= last.Y) {
			t.Errorf("%+v after %+v", s, last)
		}
		last = s
	}
	if want := []string{"0:3", "0:0", "0:2", "1:0"}; !slices.Equal(got, want) {
		t.Errorf("spots of %v, want %v", got, want)
	}
}

// A large curve has a bounded number of spots; its ends and the chosen set are among them.
func TestSpotsOfManySets(t *testing.T) {
	for _, n := range []int{200, 201, 399, 100_000} {
		c := figure.Curve{Model: "full", Chosen: n/3 + 1}
		for i := range n {
			c.Points = append(c.Points, figure.Point{R: float64(i) / float64(n)})
		}
		spots := figure.Sensitivity([]figure.Curve{c}, figure.SensitivityOptions{}).Spots()
		if len(spots) < 200 || len(spots) > 203 {
			t.Errorf("%d sets: %d spots", n, len(spots))
		}
		for _, want := range []int{0, c.Chosen, n - 1} {
			if !slices.ContainsFunc(spots, func(s figure.Spot) bool { return s.Point == want }) {
				t.Errorf("%d sets: no spot of set %d", n, want)
			}
		}
		if !slices.IsSortedFunc(spots, func(a, b figure.Spot) int { return a.Point - b.Point }) {
			t.Errorf("%d sets: not by ascending r", n)
		}
	}
}
