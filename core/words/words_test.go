package words_test

import (
	"fmt"
	"math"
	"testing"

	"foible/core/words"
)

func Example() {
	fmt.Println(words.Thousands(999), words.Thousands(1000), words.Thousands(-1234567), words.Thousands(-123))
	fmt.Println(words.Count(1, "stimulus"), words.Count(0, "stimulus"), words.Count(int64(2000), "run"))
	fmt.Println(words.Decimals(0.9854, 3), words.Decimals(1, 2), words.Decimals(-0.2, 2), words.Decimals(-0.001, 2), words.Decimals(math.NaN(), 2), words.Decimals(0, 0))
	fmt.Println(words.List(nil)+";", words.List([]string{"a"})+";", words.List([]string{"a", "b", "c"}))
	// Output:
	// 999 1,000 -1,234,567 -123
	// 1 stimulus 0 stimuli 2,000 runs
	// .985 1.00 −.20 .00 – 0
	// ; a; a, b and c
}

// What is no number is never written as one.
func TestNumbersThatAreNone(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, got := range []string{words.Decimals(v, 3), words.Fixed(v, 3), words.Signed(v, 3)} {
			if got != words.None {
				t.Errorf("%v is written %s", v, got)
			}
		}
	}
	if got := words.Interval(math.NaN(), 0.5, 2, true); got != "[–, +0.50]" {
		t.Error(got)
	}
	for v, want := range map[float64]string{0.1094: "0.109 +0.109", -0.02: "-0.020 -0.020", 0: "0.000 +0.000", 1: "1.000 +1.000"} {
		if got := words.Fixed(v, 3) + " " + words.Signed(v, 3); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
