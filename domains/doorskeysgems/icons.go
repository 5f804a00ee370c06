package doorskeysgems

import (
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/picture"
)

// Icons are drawn round the origin and fit a cell.

func drawDoor(g *picture.Group, locked bool) {
	const half = side/2 - 1
	if !locked {
		g.Rect(-half, -half, 2*half, 2*half, picture.Style{Fill: "none", Stroke: "#8a6d3b", Width: 0.9, Dashes: []float64{2, 1.5}})
		return
	}
	hole := picture.Style{Fill: "#3b2410"}
	g.Rect(-half, -half, 2*half, 2*half, picture.Style{Fill: "#e8cb98", Stroke: "#5b3a1a", Width: 1.3})
	g.Path(picture.Closed(picture.Point{-1.5, 4.2}, picture.Point{-0.8, -0.4}, picture.Point{0.8, -0.4}, picture.Point{1.5, 4.2}), hole)
	g.Circle(0, -1.4, 2, hole)
}

func drawKey(g *picture.Group) {
	metal := picture.Style{Fill: "none", Stroke: "#7a5c00", Width: 1.7, RoundEnds: true}
	g.Circle(-3.2, 0, 2.6, metal)
	g.Path(slices.Concat(
		picture.Open(picture.Point{-0.6, 0}, picture.Point{6, 0}),
		picture.Open(picture.Point{3.4, 0}, picture.Point{3.4, 2.6}),
		picture.Open(picture.Point{5.8, 0}, picture.Point{5.8, 2.6}),
	), metal)
}

func drawAgent(g *picture.Group) {
	halo := picture.Style{Fill: "#000000", Stroke: "#ffffff", Width: 1.2, StrokeBeneath: true}
	shoulders := picture.Line{}.MoveTo(picture.Point{-4.8, 6.4}).
		CurveTo(picture.Point{-4.8, 1.4}, picture.Point{-2.8, 0}, picture.Point{0, 0}).
		CurveTo(picture.Point{2.8, 0}, picture.Point{4.8, 1.4}, picture.Point{4.8, 6.4}).Close()
	g.Path(shoulders, halo)
	g.Circle(0, -3.2, 2.9, halo)
}

// drawItem draws a key, or a gem in the colour and shape of its number.
func drawItem(g *picture.Group, it item) {
	if !it.gem {
		drawKey(g)
		return
	}
	n := it.number
	g.Path(cut(n), picture.Style{Fill: figure.GoalColour(n), Stroke: "#000000", Width: 0.8, RoundCorners: true})
	g.Add(picture.Text{Y: 3.6, Size: words, Text: label(it.name), Bold: true, Fill: figure.GoalInk(n)})
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
func cut(n int) picture.Line {
	switch n % 5 {
	case 0: // a lozenge
		return regular(4, 7.2, 0)
	case 1: // a hexagon
		return regular(6, 6.8, 0)
	case 2: // a brilliant from the side
		return picture.Closed(picture.Point{-4, -5.2}, picture.Point{4, -5.2}, picture.Point{6.8, -1.6}, picture.Point{0, 6.8}, picture.Point{-6.8, -1.6})
	case 3: // a square
		return regular(4, 7.6, math.Pi/4)
	default: // an octagon
		return regular(8, 6.8, math.Pi/8)
	}
}

// regular is a polygon with corners on a circle, the first at the angle from the top.
func regular(corners int, radius, turn float64) picture.Line {
	points := make([]picture.Point, corners)
	for i := range points {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
		points[i] = picture.Point{radius * sin, -radius * cos}
	}
	return picture.Closed(points...)
}
