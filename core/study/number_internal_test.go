package study

import "testing"

func TestUnlike(t *testing.T) {
	for _, test := range []struct {
		x, other float64
		digits   int
		want     string
	}{
		{0.99, 1, 4, "0.99"},
		{1, 0.99, 4, "1"},
		{1.000001, 1, 4, "1.000001"},
		{0.9999990000000001, 1, 4, "0.999999"},
		{0.25, 0.2500001, 6, "0.25"},
		{0.2500001, 0.25, 6, "0.2500001"},
		{0.5, 0.5, 6, "0.5"},
	} {
		if got := unlike(test.x, test.other, test.digits); got != test.want {
			t.Errorf("unlike(%v, %v, %d) = %s, want %s", test.x, test.other, test.digits, got, test.want)
		}
	}
}
