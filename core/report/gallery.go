package report

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/tabular"
)

// Gallery has the figures of a report in their order.
type Gallery struct {
	all []picture
	svg map[string]string // by name; after Save
}

type picture struct {
	name     string
	figure   *figure.Figure
	svg, pdf bytes.Buffer
	err      error
}

// Add appends a figure. Its files are called figures/NAME.svg and figures/NAME.pdf.
func (g *Gallery) Add(name string, f *figure.Figure) {
	g.all = append(g.all, picture{name: name, figure: f})
}

// Save draws the figures, as many at once as there are processors, and writes them in
// their order as SVG and PDF.
func (g *Gallery) Save(out tabular.Output) error {
	next := make(chan *picture)
	var drawing sync.WaitGroup
	for range min(len(g.all), runtime.GOMAXPROCS(0)) {
		drawing.Go(func() {
			for p := range next {
				p.err = errors.Join(p.figure.WriteSVG(&p.svg), p.figure.WritePDF(&p.pdf))
			}
		})
	}
	for i := range g.all {
		next <- &g.all[i]
	}
	close(next)
	drawing.Wait()

	g.svg = map[string]string{}
	for i := range g.all {
		p := &g.all[i]
		if p.err != nil {
			return p.err
		}
		g.svg[p.name] = p.svg.String()
		for _, file := range []struct {
			form    string
			content *bytes.Buffer
		}{{".svg", &p.svg}, {".pdf", &p.pdf}} {
			if err := WriteFile(out, "figures/"+p.name+file.form, func(w io.Writer) error {
				_, err := file.content.WriteTo(w)
				return err
			}); err != nil {
				return err
			}
		}
	}
	g.all = nil
	return nil
}

// SVG is a figure by its name, after Save; false if there is none.
func (g *Gallery) SVG(name string) (svg string, ok bool) {
	svg, ok = g.svg[name]
	return svg, ok
}
