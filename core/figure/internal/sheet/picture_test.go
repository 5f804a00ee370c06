package sheet

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"foible.dev/foible/core/picture"
)

// strokes is a canvas that writes down what is drawn.
type strokes struct {
	recorder.Canvas
	drawn []string
}

func (s *strokes) note(what string, p vg.Path) {
	for _, part := range p {
		what += fmt.Sprintf(" %d(%.4g,%.4g)", part.Type, part.Pos.X, part.Pos.Y)
	}
	s.drawn = append(s.drawn, what)
}

func (s *strokes) Fill(p vg.Path)   { s.note("fill", p) }
func (s *strokes) Stroke(p vg.Path) { s.note("stroke", p) }

// A picture of 40 by 30 units drawn over 80 by 60 points: all lengths double, y turns.
func TestPictureIsDrawnToScale(t *testing.T) {
	p := picture.New(40, 30, "a")
	g := &picture.Group{X: 10, Y: 10, Scale: 0.5, Title: "b"}
	g.Rect(2, 4, 6, 8, picture.Style{Fill: "none", Stroke: "#000000", Width: 1})
	g.Path(picture.Closed(picture.Point{0, 0}, picture.Point{4, -4}, picture.Point{8, 0}), picture.Style{Fill: "#ff0000", Stroke: "#00ff00", Width: 1, StrokeOpacity: 0.5, StrokeBeneath: true})
	g.Circle(0, 0, 2, picture.Style{})
	p.Add(g)
	p.Path(picture.Open(picture.Point{1, 1}, picture.Point{2, 2}), picture.Style{Fill: "none", Stroke: "#000000"})
	s, err := StillOf(p)
	if err != nil {
		t.Fatal(err)
	}
	c := &strokes{}
	s.DrawIn(draw.NewCanvas(c, 80, 60), vg.Rectangle{Max: vg.Point{X: 80, Y: 60}})
	want := []string{
		"fill 0(0,60) 1(80,60) 1(80,0) 1(0,0) 4(0,0)", // the page
		"stroke 0(22,36) 1(28,36) 1(28,28) 1(22,28) 4(0,0)",
		"stroke 0(20,40) 1(24,44) 1(28,40) 4(0,0)",
		"fill 0(20,40) 1(24,44) 1(28,40) 4(0,0)",
		"fill 0(22,40) 3(20,38) 3(18,40) 3(20,42) 3(22,40) 4(0,0)",
	}
	if got := strings.Join(c.drawn, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("drawn\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
