package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSVGIsWellFormed(t *testing.T) {
	p := New(30, 20.5, `a "b" & <c>`)
	g := &Group{X: 1, Y: 2, Scale: 0.5, Title: "d & e"}
	g.Rect(0, 0, 1.006, -0.001, Style{Fill: "none"})
	g.Circle(1, 1, 1.0/3, Style{Fill: "none"})
	g.Path(Closed(Point{0, 0}, Point{1.5, 2}), Style{Fill: "none"})
	g.Add(Text{X: 1, Y: 2, Size: 7, Text: "<word>", Fill: "#000000"})
	p.Add(g)
	svg := p.SVG()

	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	for _, want := range []string{
		`width="30pt" height="20.5pt"`,
		`<title>a &#34;b&#34; &amp; &lt;c&gt;</title>`,
		`translate(1 2) scale(0.5)`,
		`width="1.01" height="0"`,
		`r="0.33"`,
		`d="M0 0L1.5 2Z"`,
		`>&lt;word&gt;</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}
