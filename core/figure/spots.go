package figure

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
)

// Spot is the place in a figure of a value that it was given, for pages that say
// more of it than a figure has room for.
type Spot struct {
	X, Y  float64 // points from the top left corner
	Curve int     // as given
	Point int     // of the curve
}

// Spots are the places of a sensitivity plot's parameter sets, by curve and by
// ascending r. Of a curve that is drawn through groups, they are those of its
// first and last set, of the chosen one, and of the middle of each group.
func (f *Figure) Spots() []Spot {
	c := &spotter{height: f.sheet.Height}
	f.sheet.Draw(draw.NewCanvas(c, f.sheet.Width, f.sheet.Height))
	return c.spots
}

// Size is the width and the height of the figure in points.
func (f *Figure) Size() (width, height float64) {
	return f.sheet.Width.Points(), f.sheet.Height.Points()
}

// Title is what the figure is, in one line.
func (f *Figure) Title() string { return f.sheet.Title }

// Description is what the figure shows, in words.
func (f *Figure) Description() string { return f.sheet.Description }

// spotter is a canvas that takes up the places of values.
type spotter struct {
	recorder.Canvas
	height vg.Length
	spots  []Spot
}

func (c *spotter) spot(at vg.Point, curve, point int) {
	c.spots = append(c.spots, Spot{at.X.Points(), (c.height - at.Y).Points(), curve, point})
}

// spots tells a canvas that asks for it where the parameter sets are.
func (r ranking) spots(curve int) panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		s, ok := sheet.Bottom(c).(*spotter)
		if !ok {
			return
		}
		for _, i := range r.spotted() {
			s.spot(vg.Point{X: x(r.x[i]), Y: y(r.points[i].R)}, curve, r.index[i])
		}
	}
}

// spotted are the indexes into points that have a spot, ascending.
func (r ranking) spotted() []int {
	n := len(r.points)
	var at []int
	for i := range min(n, maxDrawn) {
		at = append(at, i*n/min(n, maxDrawn))
	}
	if n > maxDrawn {
		for g := range at {
			at[g] = (2*g + 1) * n / (2 * maxDrawn) // the middle of the group
		}
		at = append(at, 0, n-1)
		if r.chosen >= 0 {
			at = append(at, r.chosen)
		}
		slices.Sort(at)
	}
	return slices.Compact(at)
}
