package command

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"foible/core/figure"
	"foible/core/inference"
	"foible/core/study"
	"foible/core/sweep"
	"foible/domains"
)

// InferOptions say what to infer, and how.
type InferOptions struct {
	StimulusChoice
	Runs             int // of models that are not exact
	ParticlesPerGoal int
	Out              string // output directory; "": named after study and stimulus
}

// Infer infers the goal of one stimulus by each of some models in this process:
// the cell of a sweep's reporting runs with the same seed. It prints and writes
// the posteriors by step, and draws them.
func (e *Env) Infer(ctx context.Context, o InferOptions) error {
	switch {
	case o.Runs < 1 || o.Runs > maxRuns:
		return usagef("--runs %d: must be 1 to %d", o.Runs, maxRuns)
	case o.ParticlesPerGoal < 1 || o.ParticlesPerGoal > maxParticles:
		return usagef("--particles %d: must be 1 to %d", o.ParticlesPerGoal, maxParticles)
	}
	c, err := e.resolve(&o.StimulusChoice)
	if err != nil {
		return err
	}
	p := sweep.Procedure{
		StageName: sweep.ReportStage,
		Stage:     sweep.Stage{Runs: o.Runs, ParticlesPerGoal: o.ParticlesPerGoal},
		Inference: o.Inference,
	}
	ready, err := c.study.Ready(c.stimulus.ID)
	if err != nil {
		return err
	}
	cells, err := inferAll(ctx, ready, c, p)
	if err != nil {
		return err
	}
	e.describe(c)
	for i := range c.sets {
		e.printInference(c, &c.sets[i], p, &cells[i])
	}
	if o.Out == "" {
		o.Out = "foible-" + c.study.Name + "-" + fileName(c.stimulus.ID)
	}
	if err := writeInference(directory(o.Out), c, p, cells); err != nil {
		return cannotWrite(o.Out, "--out", err)
	}
	fmt.Fprintf(e.Out, "Wrote posteriors and figures to %s; look at %s first.\n", quoted(o.Out), filepath.Join("figures", "storyboard.svg"))
	return nil
}

// inferAll computes a cell for each model, unless it is interrupted.
func inferAll(ctx context.Context, s *inference.Stimulus, c *chosen, p sweep.Procedure) ([]sweep.Cell, error) {
	cells := make([]sweep.Cell, len(c.sets))
	done := make(chan error, 1)
	go func() {
		for i := range c.sets {
			var err error
			if cells[i], err = s.Infer(&c.sets[i], p, c.seed); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		return cells, err
	case <-ctx.Done():
		return nil, ErrInterrupted
	}
}

// fileName is an id as a part of a file name.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, id)
}

// describe prints what the models are taken to.
func (e *Env) describe(c *chosen) {
	fmt.Fprintf(e.Out, "%s, stimulus %s", c.study.Name, c.stimulus.ID)
	if c.stimulus.Category != "" {
		fmt.Fprintf(e.Out, " (%s)", c.stimulus.Category)
	}
	fmt.Fprintln(e.Out)
	if len(c.unset) > 0 {
		fmt.Fprintf(e.Out, "Not set, so as the paper fitted it: %s\n", strings.Join(c.unset, ", "))
	}
}

// printInference prints one model's posteriors and how they came about.
func (e *Env) printInference(c *chosen, set *sweep.ParameterSet, p sweep.Procedure, cell *sweep.Cell) {
	fmt.Fprintf(e.Out, "\n%s\n", set)
	model, _ := sweep.ModelByName(set.Model)
	if !model.Exact {
		if budget := budgetText(set); budget != "" {
			fmt.Fprintf(e.Out, "  %s\n", budget)
		}
		fmt.Fprintf(e.Out, "  %s of %s a goal, %s, seed %d\n", count(p.Runs, "run"), count(p.ParticlesPerGoal, "particle"), kindText(p.Inference), c.seed)
		fmt.Fprintf(e.Out, "  observe %s, filters %s, resample %s (%s), rejuvenate %s\n", p.Observe, p.Filters, resampleText(p.Inference), p.ResampleKind, p.Rejuvenate)
	}
	fmt.Fprintln(e.Out)
	people := "people"
	if c.study.Simulated != "" {
		people = "simulated people"
	}
	posteriorTable(c.stimulus, cell, people).print(e.Out)
	if c.stimulus.TrueGoal >= 0 {
		fmt.Fprintln(e.Out, "* the true goal")
	}
	if !model.Exact {
		fmt.Fprintln(e.Out, "MC SE: largest standard error over runs; ESS: particles that count; Alive: goals that particles have;")
		fmt.Fprintln(e.Out, "ln P: log evidence of the steps so far")
	}
	for _, outcome := range outcomes(c.stimulus, set, p, cell) {
		fmt.Fprintln(e.Out, outcome)
	}
}

func kindText(in sweep.Inference) string { return "action noise " + in.ActionNoiseKind }

func resampleText(in sweep.Inference) string {
	if in.Resample == "ess" {
		return fmt.Sprintf("below an ESS of %g of the particles", in.ResampleThreshold)
	}
	return in.Resample
}

// outcomes are what has to be said of a cell besides its posteriors.
func outcomes(st *study.Stimulus, set *sweep.ParameterSet, p sweep.Procedure, cell *sweep.Cell) []string {
	var out []string
	if u := cell.Undefined; u != nil {
		out = append(out, fmt.Sprintf("No posterior from step %d on: %s.", u.Step, u.Reason))
	} else if cell.FailedRuns > 0 {
		out = append(out, fmt.Sprintf("In %d of %s all weights vanished before the end; from there on they are left out.", cell.FailedRuns, count(p.Runs, "run")))
	}
	for goal, from := range cell.UnreachableFrom {
		if from >= 0 {
			v, _ := set.Get("unreachable_value")
			out = append(out, fmt.Sprintf("%s cannot be reached from step %d on, where its value is unreachable_value, %s.", st.Goals[goal].Name, from, v))
		}
	}
	return out
}

// writeInference writes table, figures and manifest.
func writeInference(out directory, c *chosen, p sweep.Procedure, cells []sweep.Cell) error {
	write := func(name string, content func(io.Writer) error) error {
		f, err := out.Create(name)
		if err != nil {
			return err
		}
		return errors.Join(content(f), f.Close())
	}
	if err := write("posteriors.csv", func(w io.Writer) error { return writePosteriors(w, c, cells) }); err != nil {
		return err
	}
	story, err := storyboard(c, p, cells)
	if err != nil {
		return err
	}
	for name, f := range map[string]*figure.Figure{"timecourse": timeCourse(c, cells), "storyboard": story} {
		if err := errors.Join(write("figures/"+name+".svg", f.WriteSVG), write("figures/"+name+".pdf", f.WritePDF)); err != nil {
			return err
		}
	}
	return write("manifest.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		m := inferManifest{
			Study: c.study.Name, StudyHash: c.study.Hash, Simulated: c.study.Simulated, Stimulus: c.stimulus.ID,
			Procedure: p.String(), Seed: c.seed, Version: Version(),
		}
		for i := range c.sets {
			m.Models = append(m.Models, c.sets[i].String())
		}
		return enc.Encode(m)
	})
}

// inferManifest says what the files beside it are of.
type inferManifest struct {
	Study     string   `json:"study"`
	StudyHash string   `json:"study_hash"` // SHA-256 of the study's bundle
	Simulated string   `json:"simulated,omitempty"`
	Stimulus  string   `json:"stimulus"`
	Models    []string `json:"models"`
	Procedure string   `json:"procedure"`
	Seed      uint64   `json:"seed"`
	Version   string   `json:"version"`
}

// writePosteriors writes a row a model, step and goal. The columns of people
// are empty off the judgement steps, those of filters where the model is exact.
func writePosteriors(w io.Writer, c *chosen, cells []sweep.Cell) error {
	table := csv.NewWriter(w)
	header := []string{"model"}
	for i := range sweep.Axes {
		header = append(header, sweep.Axes[i].Name)
	}
	header = append(header, "stimulus", "step", "action", "goal", "probability", "mc_se", "human", "human_se", "ess", "goals_alive", "log_evidence", "outcome")
	rows := [][]string{header}
	for m := range cells {
		cell := &cells[m]
		settings := []string{c.sets[m].Model}
		for i := range sweep.Axes {
			text := ""
			if s, ok := c.sets[m].Get(sweep.Axes[i].Name); ok {
				text = s.String()
			}
			settings = append(settings, text)
		}
		for step := 0; step <= len(c.stimulus.Plan); step++ {
			for goal := range c.stimulus.Goals {
				rows = append(rows, append(settings[:len(settings):len(settings)], posteriorRow(c.stimulus, cell, step, goal)...))
			}
		}
	}
	return table.WriteAll(rows)
}

func posteriorRow(st *study.Stimulus, cell *sweep.Cell, step, goal int) []string {
	row := []string{st.ID, strconv.Itoa(step), actionText(st, step), st.Goals[goal].Name, "", "", "", "", "", "", "", ""}
	if step < len(cell.Posterior) {
		row[4] = numberText(cell.Posterior[step][goal])
		if step < len(cell.SE) {
			row[5] = numberText(cell.SE[step][goal])
		}
	} else if cell.Undefined != nil {
		row[11] = cell.Undefined.Reason
	}
	if mean, se := judged(st, step, goal); !math.IsNaN(mean) {
		row[6] = numberText(mean)
		if !math.IsNaN(se) {
			row[7] = numberText(se)
		}
	}
	for i, values := range [][]float64{cell.ESS, cell.Alive, cell.Evidence} {
		if step < len(values) && !math.IsInf(values[step], 0) {
			row[8+i] = numberText(values[step])
		}
	}
	return row
}

// numberText is the shortest decimal that reads back as the same number.
func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// actionText is the action that led to a step; none to the first.
func actionText(st *study.Stimulus, step int) string {
	if step == 0 {
		return ""
	}
	return st.Plan[step-1].String()
}

// judged is the people's mean at a step and its standard error; NaN where there is none.
func judged(st *study.Stimulus, step, goal int) (mean, se float64) {
	mean, se = math.NaN(), math.NaN()
	for j, k := range st.JudgementSteps {
		if k != step {
			continue
		}
		if j < len(st.Human.Mean) && st.Human.Mean[j] != nil {
			mean = st.Human.Mean[j][goal]
		}
		if j < len(st.Human.SE) && st.Human.SE[j] != nil {
			se = st.Human.SE[j][goal]
		}
	}
	return mean, se
}

// figureTitle names study and stimulus; simulated judgements are never shown as people's.
func figureTitle(s *domains.Study, st *study.Stimulus) string {
	title := s.Title
	if title == "" {
		title = s.Name
	}
	title += ": stimulus " + st.ID
	if st.Category != "" {
		title += ", " + st.Category
	}
	if s.Simulated != "" && !strings.Contains(strings.ToLower(title), "simulated") {
		title += " (simulated participants)"
	}
	return title
}

func timeCourse(c *chosen, cells []sweep.Cell) *figure.Figure {
	panels := make([]figure.CoursePanel, len(c.stimulus.Goals))
	for goal := range panels {
		p := figure.CoursePanel{Goal: c.stimulus.Goals[goal].Name, True: goal == c.stimulus.TrueGoal}
		for _, step := range c.stimulus.JudgementSteps {
			mean, se := judged(c.stimulus, step, goal)
			p.Human = append(p.Human, figure.HumanPoint{Step: step, Mean: mean, SE: se})
		}
		for m := range cells {
			course := figure.Course{Model: c.sets[m].Model}
			for _, row := range cells[m].Posterior {
				course.Probability = append(course.Probability, row[goal])
			}
			p.Models = append(p.Models, course)
		}
		panels[goal] = p
	}
	return figure.TimeCourse(figureTitle(c.study, c.stimulus), panels)
}

func storyboard(c *chosen, p sweep.Procedure, cells []sweep.Cell) (*figure.Figure, error) {
	pictures, err := c.study.Pictures(c.stimulus)
	if err != nil {
		return nil, err
	}
	st := c.stimulus
	story := figure.Story{Title: figureTitle(c.study, st)}
	for g := range st.Goals {
		story.Goals = append(story.Goals, figure.StoryGoal{
			Name: st.Goals[g].Name, Colour: c.study.Domain.Colour(g, st.Goals[g].Name), True: g == st.TrueGoal,
		})
	}
	var notes []string
	for i := range c.sets {
		story.Models = append(story.Models, c.sets[i].Model)
		notes = append(notes, c.sets[i].Model+": "+c.sets[i].Settings())
	}
	story.Note = strings.Join(notes, "; ") + "."
	for j, step := range st.JudgementSteps {
		scene := figure.Scene{Step: step, Action: actionText(st, step)}
		if j < len(pictures) {
			scene.Picture = pictures[j]
		}
		for g := range st.Goals {
			mean, se := judged(st, step, g)
			scene.Human, scene.SE = append(scene.Human, mean), append(scene.SE, se)
		}
		for m := range cells {
			var row []float64
			if step < len(cells[m].Posterior) {
				row = cells[m].Posterior[step]
			}
			scene.Models = append(scene.Models, row)
		}
		story.Scenes = append(story.Scenes, scene)
	}
	return figure.Storyboard(story)
}
