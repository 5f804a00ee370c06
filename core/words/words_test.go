package words_test

import (
	"fmt"
	"math"
	"testing"

	"foible.dev/foible/core/words"
)

func Example() {
	fmt.Println(words.Thousands(999), words.Thousands(1000), words.Thousands(-1234567), words.Thousands(-123))
	fmt.Println(words.Count(1, "stimulus"), words.Count(0, "stimulus"), words.Count(int64(2000), "run"), words.Count(3, "batch"))
	fmt.Println(words.Decimals(0.9854, 3), words.Decimals(1, 2), words.Decimals(-0.2, 2), words.Decimals(-0.001, 2), words.Decimals(math.NaN(), 2), words.Decimals(0, 0))
	fmt.Println(words.List(nil)+";", words.List([]string{"a"})+";", words.List([]string{"a", "b", "c"}))
	// Output:
	// 999 1,000 -1,234,567 -123
	// 1 stimulus 0 stimuli 2,000 runs 3 batches
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

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 64 << 20: "64 MiB", 64<<20 - 1: "63.9 MiB", 20 << 30: "20 GiB", 1 << 60: "1024 PiB"} {
		if got := words.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for text, want := range map[string]int64{"0": 0, "1000": 1000, "64MiB": 64 << 20, "64 MiB": 64 << 20, " 1.5 gib ": 3 << 29, "2GB": 2e9, "3k": 3072, "7B": 7} {
		if got, err := words.ParseBytes(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1 XB", "1e30", "NaN", "inf", "1MiBx", "0x10"} {
		if got, err := words.ParseBytes(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// A standard error that is not 0 is never written as 0.
func TestError(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.123: "0.12", 0.0123: "0.012", 0.00042: "0.00042", 0.00001: "0.00001", 0.0000049: "< 0.00001", 1e-9: "< 0.00001",
		0.5: "0.50", 1.23: "1.2", 12.3: "12", math.Inf(1): "–",
	} {
		if got := words.Error(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
	if got := words.Error(math.NaN()); got != words.None {
		t.Errorf("NaN is %s", got)
	}
}
