package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values printed by testdata/check.py (SciPy 1.17.1, NumPy 2.4.6).
var (
	sampleX = []float64{0.2, 0.2, 0.35, 0.05, 0.9, 0.6, 0.1, 0.3, 0.0, 1.0}
	sampleY = []float64{0.3, 0.1, 0.4, 0.2, 0.7, 0.75, 0.15, 0.2, 0.05, 0.85}
)

func TestPearsonAgainstSciPy(t *testing.T) {
	anscombeX := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	for i := range anscombeX {
		anscombeX[i] += 1e6
	}
	anscombeY := []float64{7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73}
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"sample", sampleX, sampleY, 0.9378062861566269},
		{"Anscombe's third set, shifted by 1e6", anscombeX, anscombeY, 0.816286739489598},
	} {
		r, ok := Pearson(c.x, c.y)
		if !ok || math.Abs(r-c.want) > 1e-14 {
			t.Errorf("%s: r = %v, %v; want %v", c.name, r, ok, c.want)
		}
	}
	if got, want := RMSE(sampleX, sampleY), 0.12041594578792297; math.Abs(got-want) > 1e-15 {
		t.Errorf("RMSE = %v, want %v", got, want)
	}
}

func TestPearsonExtremes(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"two points rising", []float64{0, 1}, []float64{0.2, 0.3}, 1},
		{"two points falling", []float64{0, 1}, []float64{0.3, 0.2}, -1},
		{"a line", []float64{0.1, 0.2, 0.3}, []float64{1, 2, 3}, 1},
		{"tiny values", []float64{1e-200, 3e-200, 2e-200}, []float64{1, 3, 2}, 0},
		{"no relation", []float64{0, 0, 1, 1}, []float64{0, 1, 0, 1}, 0},
	} {
		r, ok := Pearson(c.x, c.y)
		if c.name == "tiny values" {
			if ok {
				t.Errorf("%s: r = %v, want undefined: the squares underflow", c.name, r)
			}
			continue
		}
		if !ok || math.Abs(r-c.want) > 1e-15 || math.Abs(r) > 1 {
			t.Errorf("%s: r = %v, %v; want %v", c.name, r, ok, c.want)
		}
	}
}

func TestPearsonUndefined(t *testing.T) {
	third := (0.2 + 0.2 + 0.2) / 3 // 0.20000000000000004: equal to 0.2 but for rounding
	for name, c := range map[string][2][]float64{
		"no points":                 {{}, {}},
		"one point":                 {{1}, {2}},
		"constant model":            {{0.2, 0.2, 0.2}, {0.1, 0.2, 0.3}},
		"constant people":           {{0.1, 0.2, 0.3}, {0.2, 0.2, 0.2}},
		"constant but for rounding": {{0.2, third, 0.2}, {0.1, 0.2, 0.3}},
		"all zero":                  {{0, 0, 0}, {0.1, 0.2, 0.3}},
		"NaN":                       {{0, math.NaN(), 1}, {0.1, 0.2, 0.3}},
		"infinite":                  {{0, 1, 2}, {0, math.Inf(1), 1}},
		"infinite on both ends":     {{math.Inf(-1), 1, math.Inf(1)}, {0, 1, 2}},
	} {
		if r, ok := Pearson(c[0], c[1]); ok || r != 0 {
			t.Errorf("%s: r = %v, %v; want undefined", name, r, ok)
		}
	}
}

func TestLengthMismatchPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"Pearson":  func() { Pearson([]float64{1, 2}, []float64{1}) },
		"RMSE":     func() { RMSE([]float64{1}, nil) },
		"Interval": func() { Interval([]float64{1, 2}, 1) },
		"NewBootstrap": func() {
			h := Human{Stimuli: []Responses{{Mean: []float64{1, 2}, Values: [][]float64{{1}}}}}
			NewBootstrap(h, ByStimuli, 1, rand.New(rand.NewPCG(1, 1)))
		},
		"Bootstrap.Pearson": func() {
			b, err := NewBootstrap(tiny(false), ByStimuli, 1, rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				t.Fatal(err)
			}
			b.Pearson([][]float64{{1, 2}, {1, 2}, {1, 2}})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestIntervalAgainstNumPy(t *testing.T) {
	for _, c := range []struct{ level, low, high float64 }{
		{0.5, 0.1625, 0.625},
		{0.9, 0.0725, 0.805},
		{0.95, 0.06125, 0.8275},
	} {
		low, high, ok := Interval(sampleY, c.level)
		if !ok || math.Abs(low-c.low) > 1e-15 || math.Abs(high-c.high) > 1e-15 {
			t.Errorf("level %v: [%v, %v] %v, want [%v, %v]", c.level, low, high, ok, c.low, c.high)
		}
	}
	if sampleY[0] != 0.3 {
		t.Error("Interval reordered its argument")
	}
	if _, _, ok := Interval(nil, 0.95); ok {
		t.Error("an interval of nothing is defined")
	}
	if low, high, ok := Interval([]float64{0.7}, 0.95); !ok || low != 0.7 || high != 0.7 {
		t.Error("one value is not its own interval")
	}
}
