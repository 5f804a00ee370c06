// Package recovery writes the report of a model and parameter recovery: tables, figures and a page of how far the parameter
// sets that are fitted to simulated participants are those with which they were simulated. The report of a fit may have a
// section of it: [Read] reads what [Report] wrote.
package recovery

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/participant"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/recovery"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
)

//go:embed recovery.html
var recoveryText string

var recoveryTemplate = report.Template(recoveryText)

// Manifest says what a recovery is of.
type Manifest struct {
	Study        string            `json:"study"`
	Title        string            `json:"title,omitempty"`
	Domain       string            `json:"domain"`
	StudyHash    string            `json:"study_hash"`             // SHA-256 of the study's bundle
	JudgedHash   string            `json:"judged_study_hash"`      // of that with the plans that are judged; the same where these are the study's
	Inputs       map[string]string `json:"inputs"`                 // SHA-256 of each file of the study
	TruthSweep   string            `json:"truth_sweep_id"`         // what observers infer
	FitSweep     string            `json:"fit_sweep_id"`           // what is fitted to them
	Seed         uint64            `json:"seed"`                   // of the fitted sweep, and of all that is simulated
	TruthSeed    uint64            `json:"truth_seed"`             // of the sweep of what observers infer
	Version      string            `json:"version"`                // of Foible
	Plans        string            `json:"plans"`                  // simulated, study
	Trajectories int               `json:"trajectories,omitempty"` // simulated, a problem
	Parameters   map[string]int    `json:"parameter_sets"`         // by model
	Datasets     int               `json:"datasets"`               // a model
	Participants []int             `json:"participants"`           // of a dataset
	Linked       bool              `json:"participants_linked"`    // the same in every stimulus
	Answers      string            `json:"answers"`                // probability, selection
	Noise        participant.Noise `json:"noise"`                  // of beliefs
	Unjudged     float64           `json:"unjudged"`               // part of the points at which observers have no posterior
	Warnings     []string          `json:"warnings,omitempty"`     // what the recovery may not bear
	Recovered    []string          `json:"recovered"`              // what it says of each axis and model, at the largest sample size
}

// Report is a recovery to be reported.
type Report struct {
	Manifest Manifest // its caller fills in what is not in the rest
	Study    *study.Study
	Config   sweep.Config        // of the fitted sweep
	Stimuli  []recovery.Stimulus // simulated; nil for the study's own plans
	Result   *recovery.Result

	axes  []recovery.Axis
	out   tabular.Output
	drawn report.Gallery
}

// Write makes all files of a recovery, the same bytes for the same sweeps.
func (r *Report) Write(out tabular.Output) error {
	r.out, r.drawn, r.axes = out, report.Gallery{}, r.Result.Axes()
	m, st := &r.Manifest, r.Study
	m.Study, m.Title, m.Domain, m.Seed, m.TruthSeed = st.Name, st.Title, st.Domain, r.Config.Seed, random.TruthSeed(r.Config.Seed)
	m.Datasets, m.Participants, m.Linked, m.Answers, m.Noise, m.Unjudged = r.Result.Config.Datasets, r.Result.Participants, r.Result.Linked, r.Result.Answers, r.Result.Noise, r.Result.Unjudged
	m.Parameters = map[string]int{}
	for _, model := range r.Result.Models {
		m.Parameters[model.Name] = model.End - model.First
	}
	m.Recovered = r.Findings()
	m.Warnings = r.warnings()
	for _, step := range []func() error{
		r.writeDatasets, r.writeFits, r.writeAxes, r.writeConfusion, r.figures,
		func() error {
			return report.WriteFile(out, "sweep.yaml", func(w io.Writer) error { return report.WriteConfig(w, &r.Config) })
		},
		func() error { return report.WriteFile(out, "report.html", r.writePage) },
		func() error {
			return report.WriteJSON(out, "manifest.json", m)
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Axes are how well each parameter is recovered, after Write.
func (r *Report) Axes() []recovery.Axis { return r.axes }

// writeDatasets writes the true and the fitted value of every axis of every dataset.
func (r *Report) writeDatasets() error {
	return tabular.Write(r.out, "recovery", func(row func(...any) error) error {
		for i := range r.Result.Datasets {
			d := &r.Result.Datasets[i]
			truth := &r.Result.Sets[d.True]
			m, _ := model.ByName(truth.Model)
			fit := r.fitOf(d, truth.Model)
			for _, axis := range m.Axes {
				out := []any{truth.Model, d.Number, d.Participants, axis, nil, nil, nil, nil, fit.N, nil}
				v, _ := truth.Get(axis)
				place(out, 4, v)
				if fit.Set >= 0 {
					v, _ := r.Result.Sets[fit.Set].Get(axis)
					place(out, 5, v)
				}
				out[9] = defined(fit.R)
				if err := row(out...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// defined is r, or nil where it is not defined.
func defined(r recovery.Correlation) any {
	if r.Defined {
		return r.R
	}
	return nil
}

// place a value in its column, or a word two columns on.
func place(row []any, column int, v model.Setting) {
	if v.Word != "" {
		row[column+2] = v.Word
		return
	}
	row[column] = v.Number
}

// fitOf a model to a dataset.
func (r *Report) fitOf(d *recovery.Dataset, model string) *recovery.Fit {
	return &d.Fits[slices.IndexFunc(r.Result.Models, func(m sweep.ModelSets) bool { return m.Name == model })]
}

// writeFits writes the fit of every model to every dataset.
func (r *Report) writeFits() error {
	return tabular.Write(r.out, "recovery_fits", func(row func(...any) error) error {
		for i := range r.Result.Datasets {
			d := &r.Result.Datasets[i]
			for k, m := range r.Result.Models {
				fit := &d.Fits[k]
				out := []any{r.Result.Sets[d.True].Model, d.True + 1, d.Number, d.Participants, m.Name, nil, fit.N, nil, nil}
				if fit.Set >= 0 {
					out[5] = fit.Set + 1
				}
				out[7], out[8] = defined(fit.R), defined(fit.Out)
				if err := row(out...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (r *Report) writeAxes() error {
	return tabular.Write(r.out, "recovery_axes", func(row func(...any) error) error {
		for i := range r.axes {
			a := &r.axes[i]
			out := []any{a.Model, a.Name, a.Participants, len(a.Values), a.N(), nil, nil, nil, nil, nil, a.Chance(), nil, nil, a.Reason}
			if a.Reason == "" {
				out[5], out[6], out[7], out[8] = a.Rho, a.Low, a.High, a.Resamples
			}
			if a.N() > 0 {
				out[9] = a.Exact
				if a.Values[0].Word == "" {
					out[11], out[12] = a.Above, a.Below
				}
			}
			if err := row(out...); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeConfusion writes confusion.csv, P(fitted | true), and inversion.csv, P(true | fitted).
func (r *Report) writeConfusion() error {
	for _, of := range []struct {
		name string
		part func(m *recovery.Matrix, truth, fitted int) (float64, int, bool)
	}{
		{"confusion", (*recovery.Matrix).Fitted}, {"inversion", (*recovery.Matrix).True},
	} {
		if err := tabular.Write(r.out, of.name, func(row func(...any) error) error {
			for criterion := range recovery.Criteria {
				for _, size := range r.Result.Participants {
					m := r.Result.Confusion(criterion, size)
					for truth := range m.Models {
						for fitted := range m.Models {
							p, n, ok := of.part(m, truth, fitted)
							out := []any{m.Criterion, size, m.Models[truth], m.Models[fitted], m.Count[truth][fitted], n, nil}
							if ok {
								out[6] = p
							}
							if err := row(out...); err != nil {
								return err
							}
						}
					}
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// title is what a figure is called.
func (r *Report) title(of string) string {
	title := r.Study.Title
	if title == "" {
		title = r.Study.Name
	}
	return title + ": " + of
}

func (r *Report) figures() error {
	for _, m := range r.Result.Models {
		var axes []figure.RecoveryAxis
		for i := range r.axes {
			a := &r.axes[i]
			if a.Model != m.Name || len(a.Values) < 2 {
				continue
			}
			if n := len(axes); n == 0 || axes[n-1].Axis != a.Name {
				axes = append(axes, figure.RecoveryAxis{Axis: a.Name})
			}
			of := &axes[len(axes)-1]
			of.Panels = append(of.Panels, panelOf(a))
		}
		r.drawn.Add("recovery-"+m.Name, figure.Recovery(r.title("recovery of "+m.Name), m.Name, r.Result.Participants, axes))
	}
	var names []string
	for _, m := range r.Result.Models {
		names = append(names, m.Name)
	}
	for _, of := range []struct {
		name, kind, note string
		part             func(m *recovery.Matrix, truth, fitted int) (float64, int, bool)
	}{
		{"confusion", "Confusion matrix", "P(fitted | true): the part of the datasets of a true model to which each model was fitted. Rows sum to 1.", (*recovery.Matrix).Fitted},
		{"inversion", "Inversion matrix", "P(true | fitted), all models equally probable at first. Columns sum to 1.", (*recovery.Matrix).True},
	} {
		var matrices []figure.Confusion
		for _, size := range r.Result.Participants {
			for criterion, by := range []string{"r", "r of held-out stimuli"} {
				m := r.Result.Confusion(criterion, size)
				c := figure.Confusion{Title: fmt.Sprintf("%s, %s", words.Count(size, "participant"), by)}
				for truth := range names {
					parts := make([]float64, len(names))
					for fitted := range names {
						p, _, ok := of.part(m, truth, fitted)
						if !ok {
							p = math.NaN()
						}
						parts[fitted] = p
					}
					c.Parts = append(c.Parts, parts)
				}
				matrices = append(matrices, c)
			}
		}
		r.drawn.Add(of.name, figure.Confusions(r.title(strings.ToLower(of.kind)), of.kind, of.note, names, matrices))
	}
	return r.drawn.Save(r.out)
}

func panelOf(a *recovery.Axis) figure.RecoveryPanel {
	p := figure.RecoveryPanel{Rho: a.Rho, Low: a.Low, High: a.High}
	if a.Reason != "" {
		p.Rho = math.NaN()
	}
	for _, v := range a.Values {
		p.Labels = append(p.Labels, v.String())
		p.Count = append(p.Count, make([]int, len(a.Values)))
	}
	for i, truth := range a.True {
		p.Count[truth][a.Fitted[i]]++
	}
	return p
}

// Findings say what is recovered at the largest sample size: a line for each
// axis with more than one value, and for each model.
func (r *Report) Findings() []string {
	var all []string
	largest := r.Result.Participants[len(r.Result.Participants)-1]
	for i := range r.axes {
		a := &r.axes[i]
		if a.Participants != largest || len(a.Values) < 2 {
			continue
		}
		if a.Values[0].Word != "" && a.N() > 0 {
			all = append(all, fmt.Sprintf("%s: %s is fitted exactly in %.0f %% of the datasets, by chance in %.0f %%", a.Model, a.Name, 100*a.Exact, 100*a.Chance()))
			continue
		}
		text := fmt.Sprintf("%s: %s is %s", a.Model, a.Name, a.Verdict())
		if a.Reason != "" {
			text += ": " + a.Reason
		} else {
			text += fmt.Sprintf(": rank correlation %s [%s, %s]", words.Decimals(a.Rho, 2), words.Decimals(a.Low, 2), words.Decimals(a.High, 2))
		}
		if bias := a.Bias(); bias != "" {
			text += fmt.Sprintf(", %s in %.0f %% of the datasets", bias, 100*max(a.Above, a.Below))
		}
		all = append(all, text)
	}
	m := r.Result.Confusion(0, largest)
	if len(m.Models) < 2 {
		return all
	}
	for truth, name := range m.Models {
		p, _, ok := m.Fitted(truth, truth)
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s is taken for itself in %.0f %% of the datasets", name, 100*p)
		for fitted, other := range m.Models {
			if p, _, _ := m.Fitted(truth, fitted); fitted != truth && m.Count[truth][fitted] > 0 {
				text += fmt.Sprintf(", for %s in %.0f %%", other, 100*p)
			}
		}
		all = append(all, text)
	}
	return all
}

func (r *Report) warnings() []string {
	all := []string{"Simulated participants judge as one of the models does, but for noise. People do not: with them, models and parameters are recovered no better than here."}
	if u := r.Result.Unjudged; u > 0 {
		all = append(all, fmt.Sprintf("At %s of the points an observer has no posterior, since it takes what it sees for impossible; its participants do not answer there.", words.Decimals(u, 3)))
	}
	reached := 0
	for i := range r.Stimuli {
		if r.Stimuli[i].Reached {
			reached++
		}
	}
	if n := len(r.Stimuli); reached < n {
		all = append(all, fmt.Sprintf("Of %s, %s do not reach the agent's goal: they end where they were stopped.", words.Count(n, "simulated plan"), words.Thousands(n-reached)))
	}
	return all
}

// recoveryPage is what report.html of a recovery shows.
type recoveryPage struct {
	report.Page
	Manifest *Manifest
	Findings []string
	Axes     *report.Matrix
	Recovery []*report.Plate
	Matrices []*report.Plate
}

func (r *Report) writePage(w io.Writer) error {
	return recoveryTemplate.Execute(w, r.page())
}

func (r *Report) page() *recoveryPage {
	m := &r.Manifest
	p := &recoveryPage{
		Page: report.Page{
			Title: r.title("recovery of models and parameters"), About: fmt.Sprintf("What is fitted to participants that were simulated at known settings. Domain: %s. Study: %s.", m.Domain, m.Study),
			Version: m.Version, Seed: m.Seed, Warnings: m.Warnings,
			Methods: r.methods(), Citations: []string{wilsonCollins, report.SoftwareCitation(m.Version)},
		},
		Manifest: m, Findings: m.Recovered, Axes: r.axesTable(),
	}
	for _, grid := range r.Config.Models {
		if _, ok := model.ByName(grid.Model); ok {
			p.Grid = append(p.Grid, report.NewGridRow(&grid, m.Parameters[grid.Model]))
		}
	}
	place := func(name, caption string) *report.Plate {
		svg, _ := r.drawn.SVG(name)
		return p.Place(svg, caption)
	}
	p.Matrices = append(p.Matrices,
		place("confusion", confusionCaption),
		place("inversion", "Inversion matrices: P(true | fitted), the probability that a model is the true one if it fits best."))
	for _, model := range r.Result.Models {
		p.Recovery = append(p.Recovery, place("recovery-"+model.Name, recoveryCaption(model.Name)))
	}
	if m.StudyHash != "" {
		p.AddInput("the study", m.StudyHash)
		p.AddInput("the study with the plans that are judged", m.JudgedHash)
	}
	p.AddInputs(m.Inputs)
	return p
}

// axesTable has a row a model and axis; the columns are sample sizes, and what follows of the largest.
func (r *Report) axesTable() *report.Matrix {
	t := &report.Matrix{Columns: []string{"Parameter"}}
	for _, size := range r.Result.Participants {
		t.Columns = append(t.Columns, words.Count(size, "participant"))
	}
	t.Columns = append(t.Columns, "Exact (by chance)", "With the most participants")
	for i := range r.axes {
		a := &r.axes[i]
		if a.Participants == r.Result.Participants[0] {
			t.Rows = append(t.Rows, report.Row{Name: a.Model, Cells: []string{a.Name}})
		}
		of := &t.Rows[len(t.Rows)-1]
		text := words.None
		if a.Reason == "" {
			text = fmt.Sprintf("%s [%s, %s]", words.Decimals(a.Rho, 2), words.Decimals(a.Low, 2), words.Decimals(a.High, 2))
		}
		of.Cells = append(of.Cells, text)
		if len(of.Cells) == len(r.Result.Participants)+1 {
			verdict := a.Verdict()
			switch {
			case a.Reason != "" && verdict == "not recovered":
				verdict += ", " + a.Reason
			case a.Reason != "":
				verdict = a.Reason
			case a.Bias() != "":
				verdict += ", " + a.Bias()
			}
			exact := words.None
			if len(a.Values) > 1 && a.N() > 0 {
				exact = fmt.Sprintf("%s (%s)", words.Decimals(a.Exact, 2), words.Decimals(a.Chance(), 2))
			}
			of.Cells = append(of.Cells, exact, verdict)
		}
	}
	return t
}

func (r *Report) methods() []string {
	m, c := &r.Manifest, r.Result
	plans := fmt.Sprintf("Simulated participants see the %s of the study.", words.Count(len(r.Study.Stimuli), "stimulus"))
	if r.Stimuli != nil {
		plans = fmt.Sprintf("Simulated participants see %s, %d on each problem of the study, in which agents of known settings act. The models of the grid take turns as agents in a random order, and so do the parameter sets of each and the goals of a problem; study/stimuli.csv tells which acted. A plan ends at the agent's goal, or after twice the steps of the study's plan; it has the judgement steps of the study, moved in proportion.",
			words.Count(len(r.Stimuli), "simulated plan"), m.Trajectories)
	}
	observers := fmt.Sprintf("Of each model, %s were simulated. Those of a dataset judge by one parameter set of the grid, drawn in turns, so that each has been true about as often. What the observer of a set infers comes from one sweep of the grid, and what is fitted from another with a seed of its own: they share no random number.", words.Count(c.Config.Datasets, "dataset"))
	if r.Config.Inference.Method != sweep.Marginal {
		observers += " Observers infer by marginal inference, without the noise of particles; the models are fitted by Sequential Inverse Plan Search as sweep.yaml has it."
	}
	who := "Each stimulus has participants of its own."
	if c.Linked {
		who = "The same participants judge all stimuli."
	}
	form := "which is rounded to multiples of 0.05 that sum to 1"
	if c.Answers == recovery.Selection {
		form = "in which the goals at least half as probable as the most probable one are ticked, and count as equally probable"
	}
	participants := fmt.Sprintf("What a participant believes of n goals at a judgement step is a draw from a Dirichlet distribution with the parameters c [%v q + %v / n], where q is the posterior, and c the participant's own concentration, log-normal with a median of %v and a log-scale standard deviation of %v; %s. %s A smaller sample has the first participants of a larger one.",
		1-c.Noise.Lapse, c.Noise.Lapse, c.Noise.Concentration, c.Noise.Spread, form, who)
	fits := "Each model is fitted to the mean judgements of a dataset as to people's: the parameter set of the highest Pearson's r over all points (stimulus, judgement step, goal). Where a set has no posterior but people answered, it is even over the goals. The fitted model is the one with the highest r, or, by the other criterion, the one with the highest r of held-out stimuli, each predicted by the parameter set that fits all others best, so that many parameter sets are no advantage."
	statistics := fmt.Sprintf("Rank correlations are Spearman's, of the true and the fitted values over the datasets of the true model, with mean ranks for equal values, and 95%% percentile intervals over %s resamples of the datasets; other plans, or other random numbers in the sweeps, are not in these. A parameter is called recovered from .70 on, recovered in part from .40 on, and below that, or where the interval has 0 or one value is fitted to all, not recovered; fitted too high, or too low, if a quarter of the datasets are on that side and few on the other. The confusion matrix is P(fitted | true), the inversion matrix P(true | fitted) with all models equally probable at first (Wilson and Collins 2019). All random numbers derive from the seed %d.", words.Thousands(recovery.Resamples), m.Seed)
	return []string{plans, observers, participants, fits, statistics}
}

const wilsonCollins = `@article{wilson2019ten,
  author  = {Wilson, Robert C. and Collins, Anne G. E.},
  title   = {Ten simple rules for the computational modeling of behavioral data},
  journal = {eLife},
  volume  = {8},
  pages   = {e49547},
  year    = {2019},
  doi     = {10.7554/eLife.49547}
}`
