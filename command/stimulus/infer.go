package stimulus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
)

// InferOptions say what to infer, and how.
type InferOptions struct {
	StimulusChoice
	Runs             int    // of sips, or batches of marginal inference, for models that are not exact
	ParticlesPerGoal int    // of sips
	Out              string // output directory; "": named after study and stimulus
	Overwrite        bool   // what the directory holds of others
}

// Default fills in what was not given as a flag by the defaults of the method,
// and refuses a flag that does not apply to it.
func (o *InferOptions) Default(given func(flag string) bool) error {
	method := o.Inference.Method
	if !slices.Contains(input.Methods, method) {
		return cli.Usagef("--method %q: it can be %s", method, words.Options(method, input.Methods))
	}
	in, _, stage := sweep.DefaultsOf(method)
	for _, f := range InferenceFlags {
		switch {
		case !given(f.Name):
			*f.Field(&o.Inference) = *f.Field(&in)
		case !f.applies(method):
			return doesNotApply(f.Name, method)
		}
	}
	for _, f := range []struct {
		name    string
		methods string
		unset   func()
	}{
		{"resample-threshold", sweep.SIPS, func() { o.Inference.ResampleThreshold = in.ResampleThreshold }},
		{"particles", sweep.SIPS, func() { o.ParticlesPerGoal = stage.ParticlesPerGoal }},
		{"mc-se", sweep.Marginal, func() { o.Inference.MCSE = in.MCSE }},
		{"posterior-se", sweep.Marginal, func() { o.Inference.PosteriorSE = in.PosteriorSE }},
		{"runs", method, func() { o.Runs = stage.Runs }},
	} {
		switch {
		case !given(f.name):
			f.unset()
		case f.methods != method:
			return doesNotApply(f.name, method)
		}
	}
	return nil
}

func doesNotApply(flag, method string) error {
	other := sweep.SIPS
	if method == sweep.SIPS {
		other = sweep.Marginal
	}
	return cli.Usagef("--%s does not apply to --method %s; leave it out, or choose --method %s", flag, method, other)
}

// Infer infers the goal of one stimulus by each of some models in this process:
// the cell of a sweep's reporting runs with the same seed. It prints and writes
// the posteriors by step, and draws them.
func Infer(ctx context.Context, term *terminal.Terminal, o InferOptions) error {
	marginal := o.Inference.Method == sweep.Marginal
	switch {
	case marginal && (o.Runs < 2 || o.Runs > input.MaxRuns):
		return cli.Usagef("--runs %d: must be 2 to %d, to know the error of marginal inference", o.Runs, input.MaxRuns)
	case o.Runs < 1 || o.Runs > input.MaxRuns:
		return cli.Usagef("--runs %d: must be 1 to %d", o.Runs, input.MaxRuns)
	case !marginal && (o.ParticlesPerGoal < 1 || o.ParticlesPerGoal > input.MaxParticles):
		return cli.Usagef("--particles %d: must be 1 to %d", o.ParticlesPerGoal, input.MaxParticles)
	}
	c, err := resolve(term, &o.StimulusChoice)
	if err != nil {
		return err
	}
	config := sweep.Config{Inference: o.Inference, Report: sweep.Stage{Runs: o.Runs, ParticlesPerGoal: o.ParticlesPerGoal}}
	p := config.Procedure(sweep.ReportStage)
	ready, err := c.study.Ready(c.stimulus.ID)
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = "foible-" + c.study.Name + "-" + fileName(c.stimulus.ID)
	}
	about := "stimulus " + c.stimulus.ID + " of " + c.study.Name
	of := output.Owner{Command: "infer", Of: about, About: about}
	if err := output.Free(o.Out, of, o.Overwrite); err != nil {
		return err
	}
	cells, err := inferAll(ctx, ready, c, p)
	if err != nil {
		return cli.Interrupted(ctx, err)
	}
	describe(term, c)
	for i := range c.sets {
		printInference(term, c, &c.sets[i], p, &cells[i])
	}
	if err := output.Write(o.Out, of, nil, func(out *output.Dir) error { return writeInference(out, c, p, cells) }); err != nil {
		return err
	}
	term.Print("Wrote posteriors and figures to %s; look at %s first.", words.Quoted(o.Out), filepath.Join("figures", "storyboard.svg"))
	return nil
}

// inferAll computes a cell for each model. The error is also that of ctx, if it ends before.
func inferAll(ctx context.Context, s *inference.Stimulus, c *chosen, p sweep.Procedure) ([]result.Cell, error) {
	cells := make([]result.Cell, len(c.sets))
	for i := range c.sets {
		var err error
		if cells[i], err = s.Infer(ctx, &c.sets[i], p, c.seed); err != nil {
			return nil, err
		}
	}
	return cells, nil
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
func describe(term *terminal.Terminal, c *chosen) {
	title := c.study.Name + ", stimulus " + c.stimulus.ID
	if c.stimulus.Category != "" {
		title += " (" + c.stimulus.Category + ")"
	}
	term.Print("%s", title)
	if len(c.unset) > 0 {
		term.Print("Not set, so as the paper fitted it: %s", strings.Join(c.unset, ", "))
	}
}

// printInference prints one model's posteriors and how they came about.
func printInference(term *terminal.Terminal, c *chosen, set *model.ParameterSet, p sweep.Procedure, cell *result.Cell) {
	fmt.Fprintln(term.Out)
	term.Print("%s", set)
	m, _ := model.ByName(set.Model)
	if !m.Exact {
		if budget := budgetText(set); budget != "" {
			term.Print("  %s", budget)
		}
		if p.Method == sweep.Marginal {
			term.Print("  marginal inference, %s, %s searches for each goal and step, %s, seed %d", words.Count(p.Runs, "batch"), words.Thousands(cell.Samples), kindText(p.Inference), c.seed)
		} else {
			term.Print("  %s of %s a goal, %s, seed %d", words.Count(p.Runs, "run"), words.Count(p.ParticlesPerGoal, "particle"), kindText(p.Inference), c.seed)
			term.Print("  observe %s, filters %s, resample %s (%s), rejuvenate %s", p.Observe, p.Filters, resampleText(p.Inference), p.ResampleKind, p.Rejuvenate)
		}
	}
	fmt.Fprintln(term.Out)
	people := "people"
	if c.study.Simulated != "" {
		people = "simulated people"
	}
	term.PrintTable(posteriorTable(c.stimulus, cell, people))
	if c.stimulus.TrueGoal >= 0 {
		term.Print("* the true goal")
	}
	switch {
	case m.Exact:
	case p.Method == sweep.Marginal:
		term.Print("MC SE: largest Monte-Carlo standard error; ln P: log evidence of the steps so far")
		if cell.Mistakes != nil {
			term.Print("Probable mistakes behind an action: Confused, a goal taken for the agent's own; Slip, an action other than intended; Off path, a plan that ends off every shortest path to its goal")
			if _, known := cell.Mistakes.OffPath.Get(); !known {
				term.Print("Off path is %s can be reached", result.PathsUnknown)
			}
		}
	default:
		term.Print("MC SE: largest standard error over runs; ESS: particles that count; Alive: goals that particles have; ln P: log evidence of the steps so far")
	}
	for _, outcome := range outcomes(c.stimulus, set, p, cell) {
		term.Print("%s", outcome)
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
func outcomes(st *study.Stimulus, set *model.ParameterSet, p sweep.Procedure, cell *result.Cell) []string {
	var out []string
	if u := cell.Undefined; u != nil {
		out = append(out, fmt.Sprintf("No posterior from step %d on: %s.", u.Step, u.Reason))
	} else if cell.FailedRuns > 0 {
		out = append(out, fmt.Sprintf("In %s of %s no particle was left before the end; from there on they are left out.", words.Thousands(cell.FailedRuns), words.Count(p.Runs, "run")))
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
func writeInference(out tabular.Output, c *chosen, p sweep.Procedure, cells []result.Cell) error {
	write := func(name string, content func(io.Writer) error) error {
		f, err := out.Create(name)
		if err != nil {
			return err
		}
		return errors.Join(content(f), f.Close())
	}
	if err := writePosteriors(out, c, cells); err != nil {
		return err
	}
	if slices.ContainsFunc(cells, func(cell result.Cell) bool { return cell.Mistakes != nil }) {
		if err := writeMistakes(out, c, cells); err != nil {
			return err
		}
	}
	story, err := storyboard(c, cells)
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
			Procedure: p.String(), Seed: c.seed, Version: cli.Version(),
		}
		for i := range c.sets {
			m.Models = append(m.Models, c.sets[i].String())
		}
		return enc.Encode(m)
	})
}

// inferManifest describes the files next to it.
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

// NewInfer returns the command infer.
func NewInfer(term *terminal.Terminal) *cobra.Command {
	o := InferOptions{StimulusChoice: StimulusChoice{Models: []string{"full"}, Inference: sweep.Inference{Method: sweep.Marginal}}}
	c := &cobra.Command{
		Use:   "infer STUDY STIMULUS",
		Short: "Infer the goal of one stimulus, step by step",
		Long: `Infer takes models to one stimulus and prints the probability of each goal after each action, with the mean judgement
below it where there is one. It writes inference.csv, a time course and a storyboard. An axis that is not set has the
value that the 2021 paper fitted for the domain and the model, or else the middle one of its default grid; what was used
is printed. STUDY is a directory with study.yaml, or the name of a sample: ` + strings.Join(domains.Names(), ", ") + `.`,
		Example: "  foible infer doors-keys-gems 3-1\n  foible infer my-study 1-2 --model full,boltzmann --set action_noise=0.1 --set alpha=1",
		GroupID: cli.GroupLocal, Args: stimulusOfStudy(&o.StimulusChoice), ValidArgsFunction: stimuli,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.Default(c.Flags().Changed); err != nil {
				return err
			}
			return Infer(c.Context(), term, o)
		},
	}
	stimulusFlags(c, &o.StimulusChoice)
	c.Flags().StringSliceVar(&o.Models, "model", o.Models, "`names` of the models: "+strings.Join(model.Names(), ", "))
	cli.Alias(c, "model", "models")
	input.CompleteModels(c, "model")
	in, report := sweep.MarginalInference, sweep.MarginalReport
	c.Flags().IntVar(&o.Runs, "runs", 0, fmt.Sprintf("`number` of batches of samples (default %d), or of runs of sips (default %d), of models that are not exact", report.Runs, sweep.PaperReport.Runs))
	c.Flags().Float64Var(&o.Inference.MCSE, "mc-se", 0, fmt.Sprintf("`target` for the Monte-Carlo standard error of r in a fit with such samples (default %v)", in.MCSE))
	c.Flags().Float64Var(&o.Inference.PosteriorSE, "posterior-se", 0, fmt.Sprintf("`target` for the Monte-Carlo standard error of each probability at a judgement step (default %v)", in.PosteriorSE))
	c.Flags().IntVar(&o.ParticlesPerGoal, "particles", 0, fmt.Sprintf("`number` of particles a goal in a run of sips (default %d)", sweep.PaperReport.ParticlesPerGoal))
	for _, f := range InferenceFlags {
		wordFlag(c, f, &o.Inference)
	}
	c.Flags().Float64Var(&o.Inference.ResampleThreshold, "resample-threshold", 0, fmt.Sprintf("effective sample size, as a `part` of the particles, below which sips resamples (default %v)", sweep.PaperInference.ResampleThreshold))
	c.Flags().StringVar(&o.Out, "out", "", "output `directory` (default: foible-NAME-STIMULUS, by the study's name)")
	cli.OverwriteFlag(c, &o.Overwrite)
	return c
}
