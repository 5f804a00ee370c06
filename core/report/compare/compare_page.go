package compare

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/words"
)

//go:embed compare.html
var comparePageText string

var comparePageTemplate = report.Template(comparePageText)

// comparePage is what comparison.html shows. Numbers are text, in the form of a journal.
type comparePage struct {
	Title, About, Version string
	Sweeps                []string
	Warnings              []string
	Axes                  []string // columns of Fits
	Fits                  []compareRow
	FitsCaption           string
	Settings              []Setting
	Same                  []Setting
	Sensitivities         []*report.Plate
	Scatters              []*report.Plate
	Own                   []ownWarnings
	Inputs                *report.Matrix
	Provenance            *report.Matrix
	Last                  int // table
}

// compareRow is the best parameter set of a model in a sweep.
type compareRow struct {
	Model, Sweep                   string
	First, Last                    bool // of a model
	Rows                           int  // of the model
	Missing, Highest               bool
	Sets                           string
	Values                         []string
	R, Interval, MCSE, RMSE, N     string
	CommonR, CommonN               string
	Difference, DifferenceInterval string
}

type ownWarnings struct {
	Name  string
	Texts []string
}

func (c *Comparison) writePage(w io.Writer) error {
	return comparePageTemplate.Execute(w, c.page())
}

func (c *Comparison) page() *comparePage {
	p := &comparePage{
		Title: "Comparison of " + words.List(c.names()), Version: c.sweeps[0].manifest.Version, Sweeps: c.names(),
		Warnings: c.Cautions, Settings: c.Settings,
	}
	var studies []string
	for _, s := range c.sweeps {
		title := s.manifest.Title
		if title == "" {
			title = s.manifest.Study
		}
		if !slices.Contains(studies, title) {
			studies = append(studies, title)
		}
	}
	common := c.common(c.sweeps)
	p.About = fmt.Sprintf("%s, at %s of %s.", words.List(studies), words.Count(len(common), "common point"), words.Count(len(stimuliOf(common)), "stimulus"))
	p.Axes, p.Fits = c.rows()
	p.FitsCaption = c.fitsCaption()
	for _, x := range c.Same {
		if x.Values[0] != "" {
			p.Same = append(p.Same, x)
		}
	}
	var numbered report.Page
	place := func(name, caption string, narrow bool) *report.Plate {
		svg, ok := c.drawn.SVG(name)
		if !ok {
			return nil
		}
		plate := numbered.Place(svg, caption)
		plate.Narrow = narrow
		return plate
	}
	for i, s := range c.sweeps {
		p.Sensitivities = append(p.Sensitivities, place(fmt.Sprintf("sensitivity-%d", i+1), fmt.Sprintf("%s: how r depends on the parameters, in the fit stage. The axis of r is the same in all.", s.name), true))
	}
	for _, m := range model.Models {
		if f := place("scatter-"+m.Name, fmt.Sprintf("%s, the best parameter set of each sweep against the judgements, at all points of the sweep. Dashed: identity.", m.Name), false); f != nil {
			p.Scatters = append(p.Scatters, f)
		}
	}
	for _, s := range c.sweeps {
		p.Own = append(p.Own, ownWarnings{s.name, append(slices.Clone(s.manifest.Warnings), s.manifest.Notes...)})
	}
	p.Inputs, p.Provenance = c.inputs(), c.provenance()
	p.Last = 3
	for _, there := range []bool{p.Settings != nil, p.Inputs != nil} {
		if there {
			p.Last++
		}
	}
	return p
}

func stimuliOf(places []site) []string {
	var ids []string
	for _, p := range places {
		if !slices.Contains(ids, p.stimulus) {
			ids = append(ids, p.stimulus)
		}
	}
	return ids
}

// fitsCaption says what the numbers are.
func (c *Comparison) fitsCaption() string {
	text := "The best parameter set of each model in each sweep. r over all points of the sweep, with its 95% interval, its Monte-Carlo standard error and the root mean squared error"
	units := map[string]bool{}
	for i := range c.Fits {
		if f := c.Fits[i].fit; f != nil && f.low != nil {
			units[f.unit] = true
		}
	}
	if len(units) == 1 {
		for unit := range units {
			text += "; intervals are by " + unit
		}
	}
	return text + fmt.Sprintf(". Common r: over the points that the sweeps share. Difference: common r less that of %s, ± the Monte-Carlo standard error of both, with its 95%% interval by stimuli, resampled %s times, the same for both. Bold: the highest common r.", c.sweeps[0].name, words.Thousands(differenceResamples))
}

// rows are the fits, and the axes that some of them have.
func (c *Comparison) rows() (axes []string, rows []compareRow) {
	var named []string
	for _, axis := range model.AxisNames() {
		if slices.ContainsFunc(c.Fits, func(f Fit) bool { return f.fit != nil && f.fit.axes[axis] != "" }) {
			named, axes = append(named, axis), append(axes, strings.ReplaceAll(axis, "_", " "))
		}
	}
	highest := math.Inf(-1)
	for i := range c.Fits {
		if r := c.Fits[i].R; r > highest {
			highest = r
		}
	}
	for i := range c.Fits {
		f := &c.Fits[i]
		row := compareRow{Model: f.Model, Sweep: f.Sweep, First: i == 0 || c.Fits[i-1].Model != f.Model, Last: (i+1)%len(c.sweeps) == 0, Rows: len(c.sweeps), Missing: f.fit == nil, Highest: f.R == highest}
		row.Sets = words.Thousands(c.sweep(f.Sweep).manifest.Parameters[f.Model])
		for _, axis := range named {
			text := words.None
			if f.fit != nil && f.fit.axes[axis] != "" {
				text = report.SettingText(f.fit.axes[axis])
			}
			row.Values = append(row.Values, text)
		}
		row.R, row.Interval, row.MCSE, row.RMSE, row.N, row.CommonR, row.CommonN, row.Difference, row.DifferenceInterval = words.None, words.None, words.None, words.None, words.None, words.None, words.None, words.None, words.None
		if f.fit != nil {
			row.R, row.MCSE, row.RMSE, row.N = numberOrNone(f.fit.r, 3), numberOrNone(f.fit.mcse, 4), numberOrNone(f.fit.rmse, 3), words.Thousands(f.fit.n)
			if m, _ := model.ByName(f.Model); m.Exact {
				row.MCSE = "exact"
			}
			if f.fit.low != nil && f.fit.high != nil {
				row.Interval = fmt.Sprintf("[%s, %s]", words.Decimals(*f.fit.low, 3), words.Decimals(*f.fit.high, 3))
			}
			row.CommonN = words.Thousands(f.N)
			if !math.IsNaN(f.R) {
				row.CommonR = words.Decimals(f.R, 3)
			}
		}
		if !math.IsNaN(f.Difference) {
			row.Difference = report.Signed(f.Difference)
			if f.MCSE > 0 {
				row.Difference += " ± " + words.Decimals(f.MCSE, 4)
			}
			if !math.IsNaN(f.Low) {
				row.DifferenceInterval = fmt.Sprintf("[%s, %s]", report.Signed(f.Low), report.Signed(f.High))
			}
		}
		rows = append(rows, row)
	}
	return axes, rows
}

// numberOrNone has n decimals.
func numberOrNone(v *float64, n int) string {
	if v == nil {
		return words.None
	}
	return words.Decimals(*v, n)
}

// inputs are the files of the studies that are not the same in all; nil if there are none.
func (c *Comparison) inputs() *report.Matrix {
	if c.stray == nil {
		return nil
	}
	m := &report.Matrix{Columns: c.names()}
	for _, name := range c.stray {
		line := report.Row{Name: name}
		for _, s := range c.sweeps {
			line.Cells = append(line.Cells, short(s.manifest.Inputs[name]))
		}
		m.Rows = append(m.Rows, line)
	}
	return m
}

// short is the beginning of a hash.
func short(hash string) string {
	if hash == "" {
		return words.None
	}
	return hash[:min(12, len(hash))]
}

func (c *Comparison) provenance() *report.Matrix {
	m := &report.Matrix{Columns: []string{"Sweep", "Created", "Seed", "Version", "SHA-256 of the study"}}
	for _, s := range c.sweeps {
		m.Rows = append(m.Rows, report.Row{Name: s.name, Cells: []string{s.manifest.SweepID, s.manifest.Created, fmt.Sprint(s.manifest.Seed), s.manifest.Version, short(s.manifest.StudyHash)}})
	}
	return m
}
