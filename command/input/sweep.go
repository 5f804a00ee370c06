package input

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/reflect/protoreflect"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// SweepChoice says which sweep to make of a study.
type SweepChoice struct {
	File      string   // a sweep.yaml; without one the study's own, else the domain's
	Models    []string // keep only these
	Set       []string // axis=value[,value...] for every model that has the axis
	Preset    string   // "published": the domain's grids, inferred as in the paper and its code; in place of the study's sweep
	Method    string   // of inference, with its defaults; "" leaves the sweep's
	Runs      int      // runs a cell of the fit stage; 0 leaves them
	Particles int      // particles a goal in the fit stage of sips; 0 leaves them
	// Targets of marginal inference for the Monte-Carlo standard errors of r and of
	// each probability at a judgement step; 0 leaves them.
	MCSE, PosteriorSE float64
	TopUp             int    // most times the runs of the fit stage that contenders get; 0 leaves it
	Seed              string // the sweep's seed; "" leaves it
}

// As in the rules of foible.v1.StageConfig and foible.v1.SweepConfig.
const (
	MaxRuns      = sweep.MaxRuns
	MaxParticles = 10_000_000
	maxTopUp     = 1000
)

const published = "published"

// Config resolves the choice.
func (c *SweepChoice) Config(fsys fs.FS, domain *domains.Domain) (*foiblev1.SweepConfig, error) {
	m, err := c.base(fsys, domain)
	if err != nil {
		return nil, err
	}
	if len(c.Models) > 0 {
		kept := map[string]*foiblev1.ModelConfig{}
		for _, name := range c.Models {
			if _, ok := model.ByName(name); !ok {
				return nil, cli.Usagef("--models: unknown model %q; it can be %s", name, words.Options(name, model.Names()))
			}
			kept[name] = m.GetModels()[name] // a model that the sweep does not name has its default axes
			if kept[name] == nil {
				kept[name] = &foiblev1.ModelConfig{}
			}
		}
		m.Models = kept
	}
	if err := SetAxes(m, c.Set); err != nil {
		return nil, err
	}
	if c.Runs < 0 || c.Runs > MaxRuns {
		return nil, cli.Usagef("--runs %d: must be 1 to %d", c.Runs, MaxRuns)
	}
	if c.Particles < 0 || c.Particles > MaxParticles {
		return nil, cli.Usagef("--particles %d: must be 1 to %d", c.Particles, MaxParticles)
	}
	if c.TopUp < 0 || c.TopUp > maxTopUp {
		return nil, cli.Usagef("--top-up %d: must be 1 to %d, 1 being none", c.TopUp, maxTopUp)
	}
	if !(c.MCSE >= 0 && c.MCSE <= 1) {
		return nil, cli.Usagef("--mc-se %v: must be above 0, and at most 1", c.MCSE)
	}
	if !(c.PosteriorSE >= 0 && c.PosteriorSE <= 1) {
		return nil, cli.Usagef("--posterior-se %v: must be above 0, and at most 1", c.PosteriorSE)
	}
	if err := c.method(m); err != nil {
		return nil, err
	}
	if m.Fit == nil {
		_, fit, _ := sweep.DefaultsOf(m.GetInference().GetMethod())
		m.Fit = &foiblev1.StageConfig{Runs: int32(fit.Runs)}
	}
	if c.Runs > 0 {
		m.Fit.Runs = int32(c.Runs)
	}
	if c.Particles > 0 {
		m.Fit.ParticlesPerGoal = int32(c.Particles)
	}
	if c.TopUp > 0 {
		m.TopUp = int32(c.TopUp)
	}
	if m.Inference == nil {
		m.Inference = &foiblev1.InferenceConfig{}
	}
	if c.MCSE > 0 {
		m.Inference.McSe = &c.MCSE
	}
	if c.PosteriorSE > 0 {
		m.Inference.PosteriorSe = &c.PosteriorSE
	}
	if c.Seed != "" {
		if m.Seed, err = strconv.ParseUint(c.Seed, 10, 64); err != nil {
			return nil, cli.Usagef("--seed %q: must be a whole number from 0", c.Seed)
		}
	}
	if _, err := codec.Config(m); err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return m, nil
}

// method puts the method asked for in place of the sweep's, whose options and stages go with it.
func (c *SweepChoice) method(m *foiblev1.SweepConfig) error {
	switch {
	case c.Method == "":
		return nil
	case !slices.Contains(Methods, c.Method):
		return cli.Usagef("--method %q: it can be %s", c.Method, words.Options(c.Method, Methods))
	case c.Preset == published && c.Method != sweep.SIPS:
		return cli.Usagef("--preset published is of the method sips; leave out one of --preset and --method")
	}
	if was := m.GetInference().GetMethod(); was != c.Method && (was != "" || c.Method != sweep.Marginal) {
		m.Inference = &foiblev1.InferenceConfig{Method: c.Method}
		m.Fit, m.Report = nil, nil
	}
	return nil
}

func (c *SweepChoice) base(fsys fs.FS, domain *domains.Domain) (*foiblev1.SweepConfig, error) {
	switch {
	case c.Preset == published && c.File == "":
		m, err := domains.LoadSweep("sweep.yaml", domain.Sweep)
		if err == nil {
			m.ActionNoiseKind = "per_action_odds"
			m.Inference = &foiblev1.InferenceConfig{Method: sweep.SIPS}
			m.Fit, m.Report = stageConfig(sweep.PaperFit), stageConfig(sweep.PaperReport)
		}
		return m, err
	case c.Preset == published:
		return nil, cli.Usagef("--preset and --sweep both name a sweep; give one of them")
	case c.Preset != "":
		return nil, cli.Usagef("--preset %q: it can be published", c.Preset)
	}
	if c.File != "" {
		src, err := cli.ReadFile(c.File, domains.MaxYAMLBytes)
		if err != nil {
			return nil, fmt.Errorf("--sweep %s: %w", words.Quoted(c.File), cli.Cause(err))
		}
		return domains.LoadSweep(c.File, src)
	}
	src, err := cli.ReadStudyFile(fsys, "sweep.yaml", domains.MaxYAMLBytes)
	if errors.Is(err, fs.ErrNotExist) {
		src, err = domain.Sweep, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep.yaml: %w", err)
	}
	return domains.LoadSweep("sweep.yaml", src)
}

func stageConfig(s sweep.Stage) *foiblev1.StageConfig {
	return &foiblev1.StageConfig{Runs: int32(s.Runs), ParticlesPerGoal: int32(s.ParticlesPerGoal)}
}

// SetAxes makes assignments, each of another axis.
func SetAxes(m *foiblev1.SweepConfig, assignments []string) error {
	given := map[string]bool{}
	for _, assignment := range assignments {
		axis, err := set(m, assignment)
		if err != nil {
			return err
		}
		if given[axis] {
			return cli.Usagef("--set %s is given twice; write all its values as --set %[1]s=value,value", axis)
		}
		given[axis] = true
	}
	return nil
}

// set replaces the values of an axis by `axis=value[,value...]`, and returns the axis.
func set(m *foiblev1.SweepConfig, assignment string) (string, error) {
	name, list, ok := strings.Cut(assignment, "=")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.TrimSpace(list) == "" {
		return "", cli.Usagef("--set %q: write it as axis=value or axis=value,value", assignment)
	}
	axis, ok := model.AxisByName(name)
	if !ok {
		return "", cli.Usagef("--set %q: unknown axis %q; it can be %s", assignment, name, words.Options(name, model.AxisNames()))
	}
	used := false
	for modelName, config := range m.GetModels() {
		named, _ := model.ByName(modelName)
		if !slices.Contains(named.Axes, name) {
			continue
		}
		used = true
		r := config.ProtoReflect()
		field := r.Descriptor().Fields().ByTextName(name)
		values := r.NewField(field).List()
		for text := range strings.SplitSeq(list, ",") {
			value, err := axisValue(&axis, strings.TrimSpace(text))
			if err != nil {
				return "", cli.Usagef("--set %q: %w", assignment, err)
			}
			values.Append(value)
		}
		r.Set(field, protoreflect.ValueOfList(values))
	}
	if !used {
		return "", cli.Usagef("--set %q: none of the sweep's models has the axis %s", assignment, name)
	}
	return name, nil
}

// axisValue reads a value that the axis allows.
func axisValue(axis *model.Axis, text string) (protoreflect.Value, error) {
	if text == "" {
		return protoreflect.Value{}, errors.New("a value is missing")
	}
	if len(axis.Words) > 0 {
		if !slices.Contains(axis.Words, text) {
			return protoreflect.Value{}, fmt.Errorf("%s cannot be %q; it can be %s", axis.Name, text, words.Options(text, axis.Words))
		}
		return protoreflect.ValueOfString(text), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return protoreflect.Value{}, fmt.Errorf("%q is not a number", text)
	}
	if !(axis.Min <= x && x <= axis.Max) { // NaN neither
		return protoreflect.Value{}, fmt.Errorf("%s cannot be %s; it must lie in [%g, %g]", axis.Name, text, axis.Min, axis.Max)
	}
	if axis.Whole {
		if x != math.Trunc(x) {
			return protoreflect.Value{}, fmt.Errorf("%s cannot be %s; it must be a whole number", axis.Name, text)
		}
		return protoreflect.ValueOfInt32(int32(x)), nil
	}
	return protoreflect.ValueOfFloat64(x), nil
}

// SweepFlags adds the flags that choose a sweep.
func SweepFlags(c *cobra.Command, s *SweepChoice) {
	c.Flags().StringVar(&s.File, "sweep", "", "sweep `file` to use in place of the study's sweep.yaml")
	c.Flags().StringSliceVar(&s.Models, "models", nil, "`names` of models to sweep, in place of all of the sweep's")
	c.Flags().StringArrayVar(&s.Set, "set", nil, "`axis=value,...` in place of the sweep's values of the axis; may be repeated")
	c.Flags().StringVar(&s.Preset, "preset", "", "published: the paper's grids and particle filter (sips), with the slips of the authors' code (per_action_odds)")
	c.Flags().StringVar(&s.Method, "method", "", "`method` of inference, in place of the sweep's: marginal, or sips, the published particle filter")
	c.Flags().Float64Var(&s.MCSE, "mc-se", 0, "`target` for the Monte-Carlo standard error of r, of marginal inference")
	c.Flags().Float64Var(&s.PosteriorSE, "posterior-se", 0, "`target` for the Monte-Carlo standard error of each probability at a judgement step, of marginal inference")
	c.Flags().IntVar(&s.Particles, "particles", 0, "`number` of particles per goal in a run, of sips")
	c.Flags().IntVar(&s.Runs, "runs", 0, "`number` of runs per cell for sips, or of batches of samples for marginal inference")
	c.Flags().IntVar(&s.TopUp, "top-up", 0, "maximum `factor` by which parameter sets that may be the best get more runs than --runs; the runs double each round until one is left")
	c.Flags().StringVar(&s.Seed, "seed", "", "random seed, a `number`, in place of the sweep's seed")
	cli.Complete(c, "method", Methods...)
	cli.Alias(c, "models", "model")
	CompleteModels(c, "models")
}

// CompleteModels gives a shell the names of models as values of a flag.
func CompleteModels(c *cobra.Command, flag string) {
	cli.Complete(c, flag, model.Names()...)
}

// Methods of inference, the default first.
var Methods = []string{sweep.Marginal, sweep.SIPS}

// Flags are those by which the choice was made.
func (c *SweepChoice) Flags() string {
	var b strings.Builder
	word := func(flag, value string) {
		if value != "" {
			fmt.Fprintf(&b, " --%s %s", flag, words.Quoted(value))
		}
	}
	number := func(flag string, value float64) {
		if value != 0 {
			fmt.Fprintf(&b, " --%s %v", flag, value)
		}
	}
	word("sweep", c.File)
	word("preset", c.Preset)
	word("models", strings.Join(c.Models, ","))
	for _, assignment := range c.Set {
		word("set", assignment)
	}
	word("method", c.Method)
	number("mc-se", c.MCSE)
	number("posterior-se", c.PosteriorSE)
	number("particles", float64(c.Particles))
	number("runs", float64(c.Runs))
	number("top-up", float64(c.TopUp))
	word("seed", c.Seed)
	return b.String()
}

// SetFlag is a --set flag with values of an axis.
func SetFlag(axis string, values []model.Setting) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return fmt.Sprintf(" --set %s=%s", axis, strings.Join(texts, ","))
}

// CompleteStudy completes STUDY: a directory, or the name of a sample.
func CompleteStudy(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return domains.Names(), cobra.ShellCompDirectiveDefault
}
