// Package input opens what a user names: a study, and the sweep to make of it
// by a file and by flags. It finds everything that is wrong with both before
// anything is run. Read [Prepare] and [SweepChoice] first.
package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// checkTime is how long commands that run a sweep try whether its models can be used.
const checkTime = 5 * time.Second

// StudyFile is the file that makes a directory a study.
const StudyFile = "study.yaml"

// OpenStudy finds a study: a directory, its study.yaml, the name of a domain
// for the domain's sample, or "" for the first sample.
func OpenStudy(name string) (fs.FS, error) {
	if name == "" {
		return domains.All[0].Sample, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		if d, ok := domains.ByName(name); ok {
			return d.Sample, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no directory %s: name one that holds %s, or a sample: %s", words.Quoted(name), StudyFile, words.Options(name, domains.Names()))
		}
		return nil, fmt.Errorf("cannot read the study %s: %w", words.Quoted(name), cli.Cause(err))
	}
	if !info.IsDir() {
		if filepath.Base(name) != StudyFile {
			return nil, fmt.Errorf("%s is a file: name the directory that holds %s", words.Quoted(name), StudyFile)
		}
		name = filepath.Dir(name)
	}
	if _, err := os.Stat(filepath.Join(name, StudyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read %s: %w", words.Quoted(filepath.Join(name, StudyFile)), cli.Cause(err))
	} else if err != nil {
		return nil, fmt.Errorf("the directory %s holds no %s; `foible sample DIR` writes a study to start from", words.Quoted(name), StudyFile)
	}
	return cli.StudyDir(name)
}

// Examination is a study and a sweep, and what is wrong with them.
type Examination struct {
	Study    *domains.Study // what could be read of it; nil if nothing could
	Findings study.Findings // of the study, and of its use with the sweep
	Config   *foiblev1.SweepConfig
	Err      error  // what is wrong with the sweep; config is nil if it cannot be read
	Beyond   error  // the limit of a coordinator, unless it was started with other ones, that the sweep exceeds
	Usable   string // flags that leave out the models that cannot be used; "" if all can, or none
}

// Examine finds all that is wrong with a study and a sweep of it: whatever can be looked at
// is looked at, and models are tried for so long. The error is that of ctx, if it ends before.
func Examine(ctx context.Context, fsys fs.FS, choice *SweepChoice, limit time.Duration) (*Examination, error) {
	x := &Examination{}
	x.Study, x.Findings = domains.Draft(fsys)
	domain := &domains.All[0] // its sweep is no worse than another's
	if x.Study != nil {
		domain = x.Study.Domain
	}
	x.Config, x.Err = choice.Config(fsys, domain)
	if x.Study == nil {
		return x, nil
	}
	check := study.Check
	if x.Findings.Err() != nil {
		check = study.CheckTasks // counts would be wrong
	}
	checked, err := check(ctx, x.Study.Study)
	if err != nil {
		return nil, err
	}
	var models study.Findings
	if x.Err == nil {
		if models, err = x.tryModels(ctx, limit); err != nil {
			return nil, err
		}
		var large study.Findings
		large, x.Err = x.checkSizes()
		models = append(models, large...)
		x.Beyond = CheckLimits(x.Study, x.Config)
	}
	if study.Merge(x.Findings, checked).Err() != nil {
		x.Usable = "" // leaving out models is not enough
	}
	x.Findings = study.Merge(x.Findings, checked, x.Study.CheckProblems(), models)
	return x, nil
}

// CheckLimits says which limit of a coordinator, unless it was started with other ones, a sweep exceeds.
func CheckLimits(s *domains.Study, config *foiblev1.SweepConfig) error {
	bounds := limits.Default()
	return bounds.CheckSweep(&foiblev1.Sweep{StudyHash: s.Hash, StudyName: s.Name, Config: config, Stimuli: s.Shapes()})
}

// tryModels finds which models of the sweep cannot be used.
func (x *Examination) tryModels(ctx context.Context, limit time.Duration) (study.Findings, error) {
	c, err := codec.Config(x.Config)
	if err != nil {
		return nil, err
	}
	sets := kindsOf(c.Sets)
	trying, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	usable, err := x.Study.CheckModels(trying, sets, inference.DefaultLimits)
	if err != nil {
		return nil, err
	}
	if len(usable.Sets) > 0 && len(usable.Sets) < len(sets) {
		x.Usable = usableFlags(usable.Sets, sets)
	}
	return usable.Findings, nil
}

// kindsOf has one parameter set for all that can be used, or not, for the same reasons: a grid may have many.
func kindsOf(sets []model.ParameterSet) []model.ParameterSet {
	type kind struct {
		model, value string
		confuses     bool
	}
	var kinds []model.ParameterSet
	seen := map[kind]bool{}
	for i := range sets {
		value, _ := sets[i].Get("value")
		k := kind{sets[i].Model, value.Word, sets[i].GoalNoise.Number > 0}
		if !seen[k] {
			seen[k] = true
			kinds = append(kinds, sets[i])
		}
	}
	return kinds
}

// checkSizes finds the stimuli whose results would be too large. The error concerns the sweep as a whole.
func (x *Examination) checkSizes() (study.Findings, error) {
	c, err := codec.Config(x.Config)
	if err != nil {
		return nil, err
	}
	shapes := codec.Shapes(x.Study.Shapes())
	if len(shapes) == 0 {
		return nil, nil
	}
	plan, err := c.Plan(shapes, c.CellsPerJob(shapes, 0))
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var found study.Findings
	for _, large := range plan.Oversized(&c.Config) {
		i := slices.IndexFunc(x.Study.Stimuli, func(st study.Stimulus) bool { return st.ID == large.Stimulus })
		if i < 0 {
			err = fmt.Errorf("sweep: %w", large)
			continue
		}
		st := &x.Study.Stimuli[i]
		found = append(found, study.Finding{Severity: study.Error, Pos: st.Pos, Stimulus: st.ID, Message: strings.TrimPrefix(large.Error(), "stimulus "+st.ID+": ")})
	}
	return found, err
}

// usableFlags are those by which a sweep has only the usable ones of its parameter sets, of
// which all with one model, and of boltzmann one value, are usable or none.
func usableFlags(usable, all []model.ParameterSet) string {
	var models, values []string
	count := func(sets []model.ParameterSet) (n int) {
		for i := range sets {
			if _, ok := sets[i].Get("value"); ok {
				n++
			}
		}
		return n
	}
	for i := range usable {
		if !slices.Contains(models, usable[i].Model) {
			models = append(models, usable[i].Model)
		}
		if value, ok := usable[i].Get("value"); ok && !slices.Contains(values, value.Word) {
			values = append(values, value.Word)
		}
	}
	flags := "--models " + strings.Join(models, ",")
	if len(values) > 0 && count(usable) < count(all) {
		flags += " --set value=" + strings.Join(values, ",")
	}
	return flags
}

// Prepare opens a study and its sweep to be run, and prints what is wrong with them.
func Prepare(ctx context.Context, term *terminal.Terminal, name string, choice SweepChoice) (*domains.Study, *foiblev1.SweepConfig, error) {
	fsys, err := OpenStudy(name)
	if err != nil {
		return nil, nil, err
	}
	x, err := Examine(ctx, fsys, &choice, checkTime)
	if err != nil {
		return nil, nil, cli.Interrupted(ctx, err)
	}
	for _, f := range x.Findings {
		if f.Severity != study.Note {
			term.Say("%s", f)
		}
	}
	switch {
	case x.Findings.Err() != nil && x.Usable != "":
		return nil, nil, fmt.Errorf("some models cannot be used with the study, so nothing was run; `%s` leaves them out", x.Usable)
	case x.Findings.Err() != nil:
		return nil, nil, errors.New("the study has errors, so nothing was run")
	}
	return x.Study, x.Config, x.Err
}

// HasJudgements says whether anybody judged anything.
func HasJudgements(s *domains.Study) bool {
	return slices.ContainsFunc(s.Stimuli, func(st study.Stimulus) bool {
		return slices.ContainsFunc(st.Human.Mean, func(row []float64) bool { return row != nil })
	})
}

// RequireJudgements refuses a study without judgements, unless that is what is wanted.
func RequireJudgements(s *domains.Study, without bool) error {
	if without || HasJudgements(s) {
		return nil
	}
	return fmt.Errorf("%s has no human judgements to compare models with: add responses or means to study.yaml. What models infer without them, `foible infer` says of one stimulus, and this command of all with --without-judgements", s.Name)
}

// MethodText says in words how a sweep infers.
func MethodText(m *foiblev1.SweepConfig) string {
	c, err := codec.Config(m)
	if err != nil {
		return err.Error()
	}
	exact := true
	for _, grid := range c.Models {
		named, _ := model.ByName(grid.Model)
		exact = exact && named.Exact
	}
	if exact {
		return "exact inference"
	}
	more := ""
	if c.TopUp > 1 {
		more = fmt.Sprintf("; settings that may be the best get up to %d times the runs", c.TopUp)
	}
	if c.Inference.Method == sweep.Marginal {
		return fmt.Sprintf("marginal inference, the observed states taken as known, sampled to a standard error of %g in r and of %g in each judged probability",
			c.Inference.MCSE, c.Inference.PosteriorSE) + more
	}
	return fmt.Sprintf("the particle filter of the paper (sips), %s of %s a goal, states observed as %s",
		words.Count(c.Fit.Runs, "run"), words.Count(c.Fit.ParticlesPerGoal, "particle"), c.Inference.Observe) + more
}

// WithoutJudgementsFlag adds --without-judgements.
func WithoutJudgementsFlag(c *cobra.Command, without *bool) {
	c.Flags().BoolVar(without, "without-judgements", false, "run a study without human judgements, for its posteriors only")
}

// SweepID is the id that the coordinator will give.
func SweepID(s *domains.Study, config *foiblev1.SweepConfig) (string, error) {
	c, err := codec.Config(config)
	if err != nil {
		return "", err
	}
	return s.Name + "-" + c.ID(s.Hash, cli.Version()), nil
}

// Trajectories counts trajectories in words.
func Trajectories(n int) string {
	if n == 1 {
		return "1 trajectory"
	}
	return words.Thousands(n) + " trajectories"
}

// Limits of a simulation.
const (
	MaxTrajectories = 100_000
	MaxSteps        = 100_000
)
