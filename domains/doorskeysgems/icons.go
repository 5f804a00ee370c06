package doorskeysgems

import (
	"fmt"
	"math"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/domains/internal/picture"
)

// Icons are drawn round the origin and fit a cell.

func drawDoor(c *picture.Canvas, locked bool) {
	const half = side/2 - 1
	if !locked {
		c.Rect(-half, -half, 2*half, 2*half, `fill="none" stroke="#8a6d3b" stroke-width="0.9" stroke-dasharray="2 1.5"`)
		return
	}
	c.Rect(-half, -half, 2*half, 2*half, `fill="#e8cb98" stroke="#5b3a1a" stroke-width="1.3"`)
	c.Path("M-1.5 4.2L-0.8 -0.4L0.8 -0.4L1.5 4.2Z", `fill="#3b2410"`)
	c.Circle(0, -1.4, 2, `fill="#3b2410"`)
}

func drawKey(c *picture.Canvas) {
	const metal = `fill="none" stroke="#7a5c00" stroke-width="1.7" stroke-linecap="round"`
	c.Circle(-3.2, 0, 2.6, metal)
	c.Path("M-0.6 0L6 0M3.4 0L3.4 2.6M5.8 0L5.8 2.6", metal)
}

func drawAgent(c *picture.Canvas) {
	const halo = `fill="#000000" stroke="#ffffff" stroke-width="1.2" paint-order="stroke"`
	c.Path("M-4.8 6.4C-4.8 1.4 -2.8 0 0 0C2.8 0 4.8 1.4 4.8 6.4Z", halo)
	c.Circle(0, -3.2, 2.9, halo)
}

// drawItem draws a key, or a gem in the colour and shape of its number.
func drawItem(c *picture.Canvas, it item) {
	if !it.gem {
		drawKey(c)
		return
	}
	n := it.number
	c.Path(cut(n), fmt.Sprintf(`fill="%s" stroke="#000000" stroke-width="0.8" stroke-linejoin="round"`, figure.GoalColour(n)))
	c.Text(0, 3.6, words, fmt.Sprintf(`font-weight="bold" fill="%s"`, figure.GoalInk(n)), label(it.name))
}

// label is the number of a gem, or the first letter of a name without one.
func label(gem string) string {
	if digits := gem[len(strings.TrimRight(gem, "0123456789")):]; digits != "" {
		return digits
	}
	for _, r := range gem {
		return strings.ToUpper(string(r))
	}
	return ""
}

// cut is the outline of the n-th gem: five shapes that differ without colour.
func cut(n int) string {
	switch n % 5 {
	case 0: // a lozenge
		return regular(4, 7.2, 0)
	case 1: // a hexagon
		return regular(6, 6.8, 0)
	case 2: // a brilliant from the side
		return picture.Polygon([2]float64{-4, -5.2}, [2]float64{4, -5.2}, [2]float64{6.8, -1.6}, [2]float64{0, 6.8}, [2]float64{-6.8, -1.6})
	case 3: // a square
		return regular(4, 7.6, math.Pi/4)
	default: // an octagon
		return regular(8, 6.8, math.Pi/8)
	}
}

// regular is a polygon with corners on a circle, the first at the angle from the top.
func regular(corners int, radius, turn float64) string {
	points := make([][2]float64, corners)
	for i := range points {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
		points[i] = [2]float64{radius * sin, -radius * cos}
	}
	return picture.Polygon(points...)
}
