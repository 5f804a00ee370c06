package figure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// svgOf is a picture of elements.
func svgOf(elements string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" width="40pt" height="30pt" viewBox="0 0 40 30" role="img" font-family="Arial">` + elements + `</svg>`
}

func TestPicturesThatAreNotUnderstood(t *testing.T) {
	for _, c := range []struct{ svg, want string }{
		{"", "picture: no svg element"},
		{"<html></html>", "picture: a html element, not svg"},
		{`<svg viewBox="0 0 10 10">`, "unexpected EOF"},
		{`<svg></svg>`, `viewBox is "", not "0 0 width height"`},
		{`<svg viewBox="1 0 10 10"></svg>`, `viewBox is "1 0 10 10"`},
		{`<svg viewBox="0 0 10 -1"></svg>`, `viewBox: "-1" is no length`},
		{`<svg viewBox="0 0 10 10" onload="x()"></svg>`, `onload "x()" of a svg element is not understood`},
		{svgOf(`<script>x()</script>`), "a script element is not understood"},
		{svgOf(`<ellipse rx="1"/>`), "a ellipse element is not understood"},
		{svgOf(`words`), `text "words" in a svg element`},
		{svgOf(`<rect width="1" height="1" style="fill:red"/>`), `style "fill:red" of a rect element is not understood`},
		{svgOf(`<rect width="1" height="1" fill="red"/>`), `fill "red" of a rect element is not understood`},
		{svgOf(`<rect width="1em" height="1"/>`), `width "1em" of a rect element is not understood`},
		{svgOf(`<rect width="NaN" height="1"/>`), `width "NaN" of a rect element is not understood`},
		{svgOf(`<circle r="1" stroke-dasharray="1 x"/>`), `stroke-dasharray "x" of a circle element is not understood`},
		{svgOf(`<circle r="1" stroke-linecap="square"/>`), `stroke-linecap "square" of a circle element is not understood`},
		{svgOf(`<circle r="1" paint-order="markers"/>`), `paint-order "markers" of a circle element is not understood`},
		{svgOf(`<g transform="rotate(3)"></g>`), `transform "rotate(3)" is not understood`},
		{svgOf(`<g transform="scale(1 2)"></g>`), `transform "scale(1 2)" is not understood`},
		{svgOf(`<g transform="translate(1 b)"></g>`), `transform "translate(1 b)" is not understood`},
		{svgOf(`<g opacity="0.5"></g>`), `opacity "0.5" of a g element is not understood`},
		{svgOf(`<path d="M0 0A1 1 0 0 0 1 1"/>`), `path data "M0 0A1 1 0 0 0 1 1": A is not understood`},
		{svgOf(`<path d="M0 0l1 1"/>`), "l is not understood"},
		{svgOf(`<path d="L0 0"/>`), "are not understood"},
		{svgOf(`<path d="M0 0L1"/>`), "are not complete"},
		{svgOf(`<path d="M0 0L1Z"/>`), "too few numbers before Z"},
		{svgOf(`<path d=""/>`), "are not complete"},
		{svgOf(`<path d="M0 0#"/>`), "are not understood"},
		{svgOf(`<text x="1" y="1" font-size="7">a</text>`), `text-anchor "" is not understood`},
		{svgOf(`<text x="1" y="1" text-anchor="middle">a</text>`), "text without font-size"},
		{svgOf(`<text x="1" y="1" font-size="7" text-anchor="middle" font-weight="600">a</text>`), `font-weight "600" is not understood`},
		{svgOf(`<text x="1" y="1" font-size="7" text-anchor="middle"><tspan>a</tspan></text>`), "a tspan element in a text element"},
	} {
		_, err := Storyboard(Story{Scenes: []Scene{{Step: 3, Picture: c.svg}}})
		if c.svg == "" {
			_, err = readPicture(c.svg)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.svg, err, c.want)
		}
	}
	if _, err := Storyboard(Story{Goals: []StoryGoal{{Name: "gem1", Colour: "blue"}}}); err == nil || err.Error() != `goal gem1: colour "blue" is not #rrggbb` {
		t.Error(err)
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
	p, err := readPicture(svgOf(`<title>a</title>
<g transform="translate(10 10) scale(0.5)"><title>b</title>
<rect x="2" y="4" width="6" height="8" fill="none" stroke="#000000"/>
<path d="M0,0 L4 -4 8,0Z" fill="#ff0000" stroke="#00ff00" stroke-opacity="0.5" paint-order="stroke"/>
<circle cx="0" cy="0" r="2"/>
</g>
<path d="M1 1L2e0 2" fill="none" stroke="#000000" stroke-width="0"/>
`))
	if err != nil {
		t.Fatal(err)
	}
	c := &strokes{edges: edges{states: []affine{{1, 0, 0, 1, 0, 0}}, width: 80, height: 60}}
	p.drawIn(draw.New(c), vg.Rectangle{Max: vg.Point{X: 80, Y: 60}})
	want := []string{
		"stroke 0(22,36) 1(28,36) 1(28,28) 1(22,28) 4(0,60)",
		"stroke 0(20,40) 1(24,44) 1(28,40) 4(0,60)",
		"fill 0(20,40) 1(24,44) 1(28,40) 4(0,60)",
		"fill 0(22,40) 3(20,38) 3(18,40) 3(20,42) 3(22,40) 4(0,60)",
	}
	if got := strings.Join(c.drawn, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("drawn\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// A picture larger than a page still fits one, though its type is then small.
func TestLargePicture(t *testing.T) {
	for _, size := range []string{"3000 200", "200 3000"} {
		svg := fmt.Sprintf(`<svg viewBox="0 0 %s"><text x="100" y="100" font-size="7" text-anchor="middle">a</text></svg>`, size)
		f := storyboard(Story{Goals: threeGoals, Scenes: []Scene{{Picture: svg}, {Step: 1, Picture: svg}, {Step: 2, Picture: svg}}})
		if f.height > 9*vg.Inch {
			t.Errorf("%s: %.1f inches high", size, f.height/vg.Inch)
		}
		e := &edges{states: []affine{{1, 0, 0, 1, 0, 0}}, width: f.width, height: f.height}
		f.draw(draw.New(e))
		for _, fault := range e.faults {
			if !strings.Contains(fault, "in type of") {
				t.Errorf("%s: %s", size, fault)
			}
		}
	}
}

func TestScenesThatAreKept(t *testing.T) {
	for n, want := range map[int]string{1: "[0]", 2: "[0 9]", 4: "[0 3 6 9]", 10: "[0 1 2 3 4 5 6 7 8 9]"} {
		b := board{Story: manyScenes(10, 1, 0), pictures: make([]*picture, 10)}
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
		s.Scenes[i].Picture = strings.Replace(dot, "dot", fmt.Sprint("dot &amp; ", i), 1)
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
