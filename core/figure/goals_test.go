package figure

import (
	"image/color"
	"math"
	"testing"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/picture"
)

// lightness and two axes of colour in CIE Lab, D65; see CIE 15:2004.
func lab(c color.NRGBA) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*r + 0.3576*g + 0.1805*b) / 0.9505)
	y := f(0.2126*r + 0.7152*g + 0.0722*b)
	z := f((0.0193*r + 0.1192*g + 0.9505*b) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// difference is that of two colours by CIE 1976; about 2.3 can just be seen.
func difference(a, b color.NRGBA) float64 {
	p, q := lab(a), lab(b)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}

// Goals are told apart from one another and from models, and text on them can be read.
func TestGoalColours(t *testing.T) {
	for i, g := range goals {
		for _, m := range model.Models {
			if d := difference(g.colour, look.Of(m.Name).Color); d < 20 {
				t.Errorf("goal %d and model %s differ by %.0f", i, m.Name, d)
			}
		}
		for j := range i {
			if d := difference(g.colour, goals[j].colour); d < 20 {
				t.Errorf("goals %d and %d differ by %.0f", i, j, d)
			}
		}
		text, err := picture.Colour(GoalInk(i))
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(lab(text)[0] - lab(g.colour)[0]); d < 45 {
			t.Errorf("text on goal %d differs from it in lightness by %.0f", i, d)
		}
		if n := len(goals); GoalColour(i) != GoalColour(i+n) {
			t.Errorf("goal %d has another colour than goal %d", i, i+n)
		}
	}
}
