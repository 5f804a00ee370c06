package figure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/sheet"
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

// A picture larger than a page still fits one, though its type is then small.
func TestLargePicture(t *testing.T) {
	for _, size := range [][2]float64{{3000, 200}, {200, 3000}} {
		p := picture.New(size[0], size[1], "")
		p.Add(picture.Text{X: 100, Y: 100, Size: 7, Text: "a"})
		f := storyboard(Story{Goals: threeGoals, Scenes: []Scene{{Picture: p}, {Step: 1, Picture: p}, {Step: 2, Picture: p}}})
		if f.sheet.Height > 9*vg.Inch {
			t.Errorf("%v: %.1f inches high", size, f.sheet.Height/vg.Inch)
		}
		e := &edges{states: []transform{{1, 0, 0, 1, 0, 0}}, width: f.sheet.Width, height: f.sheet.Height}
		f.sheet.Draw(draw.New(e))
		for _, fault := range e.faults {
			if !strings.Contains(fault, "in type of") {
				t.Errorf("%v: %s", size, fault)
			}
		}
	}
}

func TestScenesThatAreKept(t *testing.T) {
	for n, want := range map[int]string{1: "[0]", 2: "[0 9]", 4: "[0 3 6 9]", 10: "[0 1 2 3 4 5 6 7 8 9]"} {
		b := board{Story: manyScenes(10, 1, 0), pictures: make([]sheet.Still, 10)}
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
