package figure

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
)

// readPicture reads a picture. The error names what is not understood.
func readPicture(svg string) (*picture, error) {
	r := pictureReader{decoder: xml.NewDecoder(strings.NewReader(svg)), picture: &picture{}}
	if err := r.document(svg); err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	return r.picture, nil
}

type pictureReader struct {
	*picture
	decoder *xml.Decoder
}

func (r *pictureReader) document(svg string) error {
	root, err := r.root()
	if err != nil {
		return err
	}
	if r.font = root.text("font-family"); r.font == "" {
		r.font = "sans-serif"
	}
	box := strings.Fields(root.text("viewBox"))
	if len(box) != 4 || box[0] != "0" || box[1] != "0" {
		return fmt.Errorf(`viewBox is %q, not "0 0 width height"`, strings.Join(box, " "))
	}
	for i, to := range []*float64{&r.width, &r.height} {
		if *to, err = numeral(box[2+i]); err != nil || *to <= 0 {
			return fmt.Errorf("viewBox: %q is no length", box[2+i])
		}
	}
	for _, known := range []string{"xmlns", "width", "height", "role"} {
		root.text(known)
	}
	if err := root.rest(); err != nil {
		return err
	}
	from := r.decoder.InputOffset()
	to, err := r.children("svg", placement{1, 0, 0})
	r.inside = strings.TrimSpace(svg[from:to])
	return err
}

// root finds the opening tag of the document.
func (r *pictureReader) root() (*attributes, error) {
	for {
		token, err := r.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("no svg element")
		case err != nil:
			return nil, err
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local != "svg" {
				return nil, fmt.Errorf("a %s element, not svg", start.Name.Local)
			}
			return attributesOf(start), nil
		}
	}
}

// placement maps user units of a group to those of the document.
type placement struct{ scale, x, y float64 }

func (p placement) point(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(p.x + p.scale*x), Y: vg.Length(p.y + p.scale*y)}
}

// children reads up to the closing tag, and returns where that begins.
func (r *pictureReader) children(of string, at placement) (end int64, err error) {
	for {
		end = r.decoder.InputOffset()
		token, err := r.decoder.Token()
		if err != nil {
			return end, err
		}
		switch token := token.(type) {
		case xml.EndElement:
			return end, nil
		case xml.CharData:
			if s := strings.TrimSpace(string(token)); s != "" {
				return end, fmt.Errorf("text %q in a %s element", s, of)
			}
		case xml.StartElement:
			if err := r.element(attributesOf(token), at); err != nil {
				return end, err
			}
		}
	}
}

func (r *pictureReader) element(e *attributes, at placement) error {
	var s shape
	switch e.name {
	case "title":
		if _, err := r.characters(e.name); err != nil {
			return err
		}
		return e.rest()
	case "g":
		inner, err := at.then(e.text("transform"))
		if err := errors.Join(err, e.rest()); err != nil {
			return err
		}
		_, err = r.children(e.name, inner)
		return err
	case "rect":
		s.rectangle(at, e.number("x"), e.number("y"), e.number("width"), e.number("height"), e.number("rx"))
	case "circle":
		s.circle(at, e.number("cx"), e.number("cy"), e.number("r"))
	case "path":
		if err := s.data(at, e.text("d")); err != nil {
			return err
		}
	case "text":
		return r.words(e, at)
	default:
		return fmt.Errorf("a %s element is not understood", e.name)
	}
	s.style(e, at.scale)
	if err := e.rest(); err != nil {
		return err
	}
	r.shapes = append(r.shapes, s)
	_, err := r.children(e.name, at)
	return err
}

// words reads a text element.
func (r *pictureReader) words(e *attributes, at placement) error {
	s := shape{at: at.point(e.number("x"), e.number("y")), size: at.scale * e.number("font-size"), fill: e.colour("fill", &black)}
	switch weight := e.text("font-weight"); weight {
	case "bold":
		s.bold = true
	case "", "normal":
	default:
		return fmt.Errorf("font-weight %q is not understood", weight)
	}
	if anchor := e.text("text-anchor"); anchor != "middle" {
		return fmt.Errorf("text-anchor %q is not understood", anchor)
	}
	if err := e.rest(); err != nil {
		return err
	}
	if s.size <= 0 {
		return errors.New("text without font-size")
	}
	var err error
	if s.text, err = r.characters(e.name); err != nil {
		return err
	}
	if r.leastType == 0 || s.size < r.leastType {
		r.leastType = s.size
	}
	r.shapes = append(r.shapes, s)
	return nil
}

// characters reads an element that holds text alone.
func (r *pictureReader) characters(of string) (string, error) {
	var b strings.Builder
	for {
		token, err := r.decoder.Token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.EndElement:
			return b.String(), nil
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			return "", fmt.Errorf("a %s element in a %s element", token.Name.Local, of)
		}
	}
}

var transform = regexp.MustCompile(`^\s*(translate|scale)\(\s*([^\s,()]+)(?:[\s,]+([^\s,()]+))?\s*\)`)

// then applies the transform of a group inside.
func (p placement) then(list string) (placement, error) {
	for rest := list; strings.TrimSpace(rest) != ""; {
		m := transform.FindStringSubmatch(rest)
		if m == nil {
			return p, fmt.Errorf("transform %q is not understood", list)
		}
		a, err := numeral(m[2])
		var b float64
		if m[3] != "" && err == nil {
			b, err = numeral(m[3])
		}
		switch {
		case err != nil || m[1] == "scale" && (m[3] != "" || a <= 0):
			return p, fmt.Errorf("transform %q is not understood", list)
		case m[1] == "scale":
			p.scale *= a
		default:
			p.x += p.scale * a
			p.y += p.scale * b
		}
		rest = rest[len(m[0]):]
	}
	return p, nil
}

// style reads what all shapes have.
func (s *shape) style(e *attributes, scale float64) {
	s.fill, s.stroke = e.colour("fill", &black), e.colour("stroke", nil)
	s.width = scale
	if e.has("stroke-width") {
		s.width = scale * e.number("stroke-width")
	}
	if s.stroke != nil && e.has("stroke-opacity") {
		c := fade(*s.stroke, min(1, max(0, e.number("stroke-opacity"))))
		s.stroke = &c
	}
	for _, d := range strings.Fields(strings.ReplaceAll(e.text("stroke-dasharray"), ",", " ")) {
		length, err := numeral(d)
		if err != nil || length < 0 {
			e.fail("stroke-dasharray", d)
		}
		s.dashes = append(s.dashes, scale*length)
	}
	for i, key := range []string{"stroke-linecap", "stroke-linejoin"} {
		switch v := e.text(key); v {
		case "round":
			s.round[i] = true
		case "", "butt", "miter":
		default:
			e.fail(key, v)
		}
	}
	switch v := e.text("paint-order"); v {
	case "stroke":
		s.beneath = true
	case "", "normal":
	default:
		e.fail("paint-order", v)
	}
}
