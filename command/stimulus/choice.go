// Package stimulus has the commands on one stimulus of a study: infer and
// simulate. Read [StimulusChoice] first.
package stimulus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
)

// StimulusChoice says which agents to take to one stimulus.
type StimulusChoice struct {
	Study    string
	Stimulus string
	Models   []string
	Set      []string // axis=value for every model that has the axis
	Seed     string
	// Inference is how minds are inferred; a simulation uses only ActionNoiseKind of it.
	Inference sweep.Inference
}

// DefaultSeed is the seed of commands that are given none; it is that of the default sweep.
const DefaultSeed = 2021

// InferenceFlag is a flag for one of the words of [sweep.Inference].
type InferenceFlag struct {
	Name, Usage string
	Words       []string
	Field       func(*sweep.Inference) *string
}

// ActionNoiseKind is the flag of what action_noise means.
var ActionNoiseKind = InferenceFlag{
	"action-noise-kind", "what action_noise is: the `kind` of the paper (total) or of its code (per_action_odds)",
	[]string{"total", "per_action_odds"},
	func(in *sweep.Inference) *string { return &in.ActionNoiseKind },
}

// InferenceFlags lists them all.
var InferenceFlags = []InferenceFlag{
	{
		"method", "`method` of inference: marginal, or sips, the published particle filter",
		input.Methods,
		func(in *sweep.Inference) *string { return &in.Method },
	},
	{
		"observe", "`how` states are seen, by sips: noisy, exact",
		[]string{"noisy", "exact"},
		func(in *sweep.Inference) *string { return &in.Observe },
	},
	{
		"filters", "`filters` of sips over goals: joint, or per_goal, in which no goal can die",
		[]string{"joint", "per_goal"},
		func(in *sweep.Inference) *string { return &in.Filters },
	},
	{
		"resample", "`when` sips resamples: ess (below --resample-threshold), always, never",
		[]string{"ess", "always", "never"},
		func(in *sweep.Inference) *string { return &in.Resample },
	},
	{
		"resample-kind", "`how` sips resamples: residual, systematic, multinomial",
		[]string{"residual", "systematic", "multinomial"},
		func(in *sweep.Inference) *string { return &in.ResampleKind },
	},
	{
		"rejuvenate", "`move` of sips after resampling: none, replan, goal, mixed",
		[]string{"none", "replan", "goal", "mixed"},
		func(in *sweep.Inference) *string { return &in.Rejuvenate },
	},
	ActionNoiseKind,
}

// chosen is a choice resolved.
type chosen struct {
	study    *domains.Study
	stimulus *study.Stimulus
	sets     []model.ParameterSet // a model
	unset    []string             // axes that were not set and have the paper's value
	seed     uint64
}

// resolve opens the study and finds what was asked for in it. It prints what is
// wrong with the stimulus.
func resolve(term *terminal.Terminal, c *StimulusChoice) (*chosen, error) {
	if err := checkInference(&c.Inference); err != nil {
		return nil, err
	}
	r := &chosen{seed: DefaultSeed}
	if c.Seed != "" {
		var err error
		if r.seed, err = strconv.ParseUint(c.Seed, 10, 64); err != nil {
			return nil, cli.Usagef("--seed %q: must be a whole number from 0", c.Seed)
		}
	}
	models, err := modelsOf(c.Models)
	if err != nil {
		return nil, err
	}
	settings, err := settingsOf(c.Set, models)
	if err != nil {
		return nil, err
	}
	if r.study, r.stimulus, err = openStimulus(term, c.Study, c.Stimulus); err != nil {
		return nil, err
	}
	for _, m := range models {
		set := model.ParameterSet{Model: m.Name}
		for _, name := range m.Axes {
			setting, given := settings[name]
			if !given {
				axis, _ := model.AxisByName(name)
				var papers bool
				if setting, papers = r.study.Domain.Fitted(m.Name, &axis); papers && !slices.Contains(r.unset, name) {
					r.unset = append(r.unset, name)
				}
			}
			set.Set(name, setting)
		}
		r.sets = append(r.sets, set)
	}
	if s, ok := settings["goal_noise"]; ok && s.Number > 0 && r.study.Domain.Corruptions == nil {
		term.Say("goal_noise changes nothing: goals of %s are not taken for others.", r.study.Domain.Name)
	}
	return r, nil
}

// applies says whether a flag applies to a method of inference.
func (f *InferenceFlag) applies(method string) bool {
	in, _, _ := sweep.DefaultsOf(method)
	return *f.Field(&in) != ""
}

func checkInference(in *sweep.Inference) error {
	for _, f := range InferenceFlags {
		if word := *f.Field(in); f.applies(in.Method) && !slices.Contains(f.Words, word) {
			return cli.Usagef("--%s %q: it can be %s", f.Name, word, words.Options(word, f.Words))
		}
	}
	if in.Method == sweep.Marginal {
		switch {
		case in.Observe != "exact":
			return cli.Usagef("--observe %s: marginal inference takes the observed states as known; leave it out, or add --method sips", in.Observe)
		case !(in.MCSE > 0 && in.MCSE <= 1):
			return cli.Usagef("--mc-se %v: must be above 0, and at most 1", in.MCSE)
		case !(in.PosteriorSE > 0 && in.PosteriorSE <= 1):
			return cli.Usagef("--posterior-se %v: must be above 0, and at most 1", in.PosteriorSE)
		}
		return nil
	}
	if !(in.ResampleThreshold >= 0 && in.ResampleThreshold <= 1) {
		return cli.Usagef("--resample-threshold %v: must lie between 0 and 1", in.ResampleThreshold)
	}
	return nil
}

func modelsOf(names []string) ([]model.Model, error) {
	var models []model.Model
	for _, name := range names {
		named, ok := model.ByName(name)
		if !ok {
			return nil, cli.Usagef("--model: unknown model %q; it can be %s", name, words.Options(name, model.Names()))
		}
		if slices.ContainsFunc(models, func(m model.Model) bool { return m.Name == name }) {
			return nil, cli.Usagef("--model: %s is there twice", name)
		}
		models = append(models, named)
	}
	if len(models) == 0 {
		return nil, cli.Usagef("--model names no model; it can be %s", strings.Join(model.Names(), ", "))
	}
	return models, nil
}

// settingsOf reads axis=value assignments.
func settingsOf(assignments []string, models []model.Model) (map[string]model.Setting, error) {
	settings := map[string]model.Setting{}
	for _, assignment := range assignments {
		name, text, ok := strings.Cut(assignment, "=")
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		switch {
		case !ok || name == "" || text == "":
			return nil, cli.Usagef("--set %q: write it as axis=value", assignment)
		case strings.Contains(text, ","):
			return nil, cli.Usagef("--set %q: one value only; `foible fit` takes several", assignment)
		}
		axis, ok := model.AxisByName(name)
		if !ok || !slices.ContainsFunc(models, func(m model.Model) bool { return m.Has(name) }) {
			return nil, cli.Usagef("--set %q: %s", assignment, hasNot(models, name))
		}
		if _, twice := settings[name]; twice {
			return nil, cli.Usagef("--set %s is given twice", name)
		}
		setting, err := settingOf(&axis, text)
		if err != nil {
			return nil, cli.Usagef("--set %q: %w", assignment, err)
		}
		settings[name] = setting
	}
	return settings, nil
}

// hasNot says which axes models have.
func hasNot(models []model.Model, axis string) string {
	if len(models) == 1 {
		return fmt.Sprintf("%s has no axis %q; it has %s", models[0].Name, axis, words.Options(axis, models[0].Axes))
	}
	var axes []string
	for _, a := range model.Axes {
		if slices.ContainsFunc(models, func(m model.Model) bool { return m.Has(a.Name) }) {
			axes = append(axes, a.Name)
		}
	}
	return fmt.Sprintf("none of the models has the axis %q; they have %s", axis, words.Options(axis, axes))
}

func settingOf(axis *model.Axis, text string) (model.Setting, error) {
	var s model.Setting
	if len(axis.Words) > 0 {
		s.Word = text
	} else {
		var err error
		if s.Number, err = strconv.ParseFloat(text, 64); err != nil {
			return s, fmt.Errorf("%q is not a number", text)
		}
		if s.Number == 0 {
			s.Number = 0 // not -0
		}
	}
	return s, axis.Check(s)
}

// openStimulus finds a stimulus of a study, and prints what is wrong with it or
// with the study as a whole.
func openStimulus(term *terminal.Terminal, name, id string) (*domains.Study, *study.Stimulus, error) {
	fsys, err := input.OpenStudy(name)
	if err != nil {
		return nil, nil, err
	}
	s, found := domains.Load(fsys)
	if s == nil {
		for _, f := range found {
			term.Say("%s", f)
		}
		return nil, nil, errors.New("the study has errors, so nothing was run")
	}
	ids := make([]string, len(s.Stimuli))
	for i := range s.Stimuli {
		ids[i] = s.Stimuli[i].ID
	}
	if id == "" {
		return nil, nil, cli.Usagef("name a stimulus of %s: %s", s.Name, strings.Join(ids, ", "))
	}
	st, ok := s.Stimulus(id)
	if !ok {
		return nil, nil, fmt.Errorf("%s has no stimulus %q; it has %s", s.Name, id, words.Options(id, ids))
	}
	for _, f := range found {
		if f.Severity == study.Warning && f.Stimulus == id {
			term.Say("%s", f)
		}
	}
	return s, st, nil
}

// StimulusIDs are the ids of a study's stimuli; none if it cannot be read.
func StimulusIDs(name string) []string {
	fsys, err := input.OpenStudy(name)
	if err != nil {
		return nil
	}
	s, _ := domains.Load(fsys)
	if s == nil {
		return nil
	}
	var ids []string
	for i := range s.Stimuli {
		ids = append(ids, s.Stimuli[i].ID)
	}
	return ids
}

func stimulusFlags(c *cobra.Command, o *StimulusChoice) {
	c.Flags().StringArrayVar(&o.Set, "set", nil, "`axis=value` of the model; may be repeated")
	c.Flags().StringVar(&o.Seed, "seed", "", fmt.Sprintf("random seed, a `number` (default %d)", DefaultSeed))
}

func wordFlag(c *cobra.Command, f InferenceFlag, in *sweep.Inference) {
	field := f.Field(in)
	c.Flags().StringVar(field, f.Name, *field, f.Usage)
	cli.Complete(c, f.Name, f.Words...)
}

// stimulusOfStudy takes the arguments STUDY and STIMULUS. A missing stimulus is
// left to the command, which can list the stimuli of the study.
func stimulusOfStudy(o *StimulusChoice) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cli.Usagef("name a study and a stimulus, as in `foible %s`; the samples are %s", c.Use, strings.Join(domains.Names(), ", "))
		}
		o.Study = args[0]
		if len(args) > 1 {
			o.Stimulus = args[1]
		}
		return cli.AtMost(2)(c, args)
	}
}

// stimuli completes STUDY and STIMULUS.
func stimuli(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return StimulusIDs(args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	return input.CompleteStudy(c, args, word)
}
