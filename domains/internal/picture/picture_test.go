package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCanvasIsWellFormed(t *testing.T) {
	c := New(30, 20.5, `a "b" & <c>`)
	c.Group(1, 2, 0.5, "d & e")
	c.Rect(0, 0, 1.006, -0.001, `fill="none"`)
	c.Circle(1, 1, 1.0/3, `fill="none"`)
	c.Path(Polygon([2]float64{0, 0}, [2]float64{1.5, 2}), `fill="none"`)
	c.Text(1, 2, 7, `fill="#000000"`, "<word>")
	c.End()
	svg := c.String()

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
