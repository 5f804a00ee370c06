package figure

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// kappa is where a Bezier curve through a quarter of the unit circle has its control points.
const kappa = 0.5522847498

func (s *shape) rectangle(at placement, x, y, w, h, r float64) {
	r = min(r, w/2, h/2)
	if r <= 0 {
		s.path.Move(at.point(x, y))
		s.path.Line(at.point(x+w, y))
		s.path.Line(at.point(x+w, y+h))
		s.path.Line(at.point(x, y+h))
		s.path.Close()
		return
	}
	k := r * (1 - kappa)
	s.path.Move(at.point(x+r, y))
	s.path.Line(at.point(x+w-r, y))
	s.path.CubeTo(at.point(x+w-k, y), at.point(x+w, y+k), at.point(x+w, y+r))
	s.path.Line(at.point(x+w, y+h-r))
	s.path.CubeTo(at.point(x+w, y+h-k), at.point(x+w-k, y+h), at.point(x+w-r, y+h))
	s.path.Line(at.point(x+r, y+h))
	s.path.CubeTo(at.point(x+k, y+h), at.point(x, y+h-k), at.point(x, y+h-r))
	s.path.Line(at.point(x, y+r))
	s.path.CubeTo(at.point(x, y+k), at.point(x+k, y), at.point(x+r, y))
	s.path.Close()
}

func (s *shape) circle(at placement, x, y, r float64) {
	k := kappa * r
	s.path.Move(at.point(x+r, y))
	s.path.CubeTo(at.point(x+r, y+k), at.point(x+k, y+r), at.point(x, y+r))
	s.path.CubeTo(at.point(x-k, y+r), at.point(x-r, y+k), at.point(x-r, y))
	s.path.CubeTo(at.point(x-r, y-k), at.point(x-k, y-r), at.point(x, y-r))
	s.path.CubeTo(at.point(x+k, y-r), at.point(x+r, y-k), at.point(x+r, y))
	s.path.Close()
}

var datum = regexp.MustCompile(`^[\s,]*([A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)`)

// data reads the data of a path.
func (s *shape) data(at placement, d string) error {
	var command byte
	var numbers []float64
	wanted := map[byte]int{'M': 2, 'L': 2, 'C': 6}
	for rest := d; strings.TrimSpace(rest) != ""; {
		m := datum.FindStringSubmatch(rest)
		if m == nil {
			return fmt.Errorf("path data %q are not understood", d)
		}
		rest = rest[len(m[0]):]
		if x, err := strconv.ParseFloat(m[1], 64); err == nil {
			numbers = append(numbers, x)
		} else if len(numbers) > 0 {
			return fmt.Errorf("path data %q: too few numbers before %s", d, m[1])
		} else if command = m[1][0]; command == 'Z' && len(s.path) > 0 {
			s.path.Close()
			continue
		} else if wanted[command] == 0 {
			return fmt.Errorf("path data %q: %s is not understood", d, m[1])
		}
		if n := wanted[command]; n == 0 || len(numbers) < n || len(s.path) == 0 && command != 'M' {
			if n == 0 || len(numbers) > n || len(s.path) == 0 && command != 'M' {
				return fmt.Errorf("path data %q are not understood", d)
			}
			continue
		}
		point := func(i int) vg.Point { return at.point(numbers[i], numbers[i+1]) }
		switch command {
		case 'M':
			s.path.Move(point(0))
			command = 'L' // of further points
		case 'L':
			s.path.Line(point(0))
		case 'C':
			s.path.CubeTo(point(0), point(2), point(4))
		}
		numbers = numbers[:0]
	}
	if len(numbers) > 0 || len(s.path) == 0 {
		return fmt.Errorf("path data %q are not complete", d)
	}
	return nil
}
