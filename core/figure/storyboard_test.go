package figure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/picture"
)

// A colour that is none is refused, of a goal and of a picture.
func TestColoursThatAreNone(t *testing.T) {
	red := picture.New(40, 30, "")
	red.Rect(0, 0, 1, 1, picture.Style{Fill: "red"})
	for want, story := range map[string]Story{
		`goal gem1: colour "blue" is not #rrggbb`:        {Goals: []StoryGoal{{Name: "gem1", Colour: "blue"}}},
		`picture of step 3: colour "red" is not #rrggbb`: {Scenes: []Scene{{Step: 3, Picture: red}}},
	} {
		if _, err := Storyboard(story); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// strokes is a canvas that writes down what is drawn.
type strokes struct {
	edges
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
	s, err := stillOf(p)
	if err != nil {
		t.Fatal(err)
	}
	c := &strokes{edges: edges{states: []affine{{1, 0, 0, 1, 0, 0}}, width: 80, height: 60}}
	s.drawIn(draw.New(c), vg.Rectangle{Max: vg.Point{X: 80, Y: 60}})
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

// A picture larger than a page still fits one, though its type is then small.
func TestLargePicture(t *testing.T) {
	for _, size := range [][2]float64{{3000, 200}, {200, 3000}} {
		p := picture.New(size[0], size[1], "")
		p.Add(picture.Text{X: 100, Y: 100, Size: 7, Text: "a"})
		f := storyboard(Story{Goals: threeGoals, Scenes: []Scene{{Picture: p}, {Step: 1, Picture: p}, {Step: 2, Picture: p}}})
		if f.height > 9*vg.Inch {
			t.Errorf("%v: %.1f inches high", size, f.height/vg.Inch)
		}
		e := &edges{states: []affine{{1, 0, 0, 1, 0, 0}}, width: f.width, height: f.height}
		f.draw(draw.New(e))
		for _, fault := range e.faults {
			if !strings.Contains(fault, "in type of") {
				t.Errorf("%v: %s", size, fault)
			}
		}
	}
}

func TestScenesThatAreKept(t *testing.T) {
	for n, want := range map[int]string{1: "[0]", 2: "[0 9]", 4: "[0 3 6 9]", 10: "[0 1 2 3 4 5 6 7 8 9]"} {
		b := board{Story: manyScenes(10, 1, 0), pictures: make([]still, 10)}
		b.thin(n)
		var steps []int
		for _, s := range b.Scenes {
			steps = append(steps, s.Step/10)
		}
		if got := fmt.Sprint(steps); got != want {
			t.Errorf("%d of 10 scenes: %s, want %s", n, got, want)
		}
	}
}

// Pictures stand in the SVG as they are, in order, and in the PDF as shapes.
func TestPicturesStandInTheFigure(t *testing.T) {
	s := manyScenes(3, 2, 1)
	for i := range s.Scenes {
		s.Scenes[i].Picture = dotOf(160, 140, fmt.Sprint("dot & ", i))
	}
	f := storyboard(s)
	var svg, pdf bytes.Buffer
	if err := f.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	if err := f.WritePDF(&pdf); err != nil {
		t.Fatal(err)
	}
	rest := svg.String()
	for i := range s.Scenes {
		var ok bool
		if _, rest, ok = strings.Cut(rest, fmt.Sprintf(">dot &amp; %d</text>", i)); !ok {
			t.Errorf("no picture %d", i)
		}
	}
	if n := strings.Count(svg.String(), "<svg "); n != 4 || strings.Contains(svg.String(), "\x01") {
		t.Errorf("%d svg elements", n)
	}
	if !bytes.HasPrefix(pdf.Bytes(), []byte("%PDF")) {
		t.Error("no PDF")
	}
}
