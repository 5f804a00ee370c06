package command

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

	"foible.dev/foible/coordinator"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	"github.com/spf13/cobra"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const studyFile = "study.yaml"

// openStudy finds a study: a directory, its study.yaml, the name of a domain
// for the domain's sample, or "" for the first sample.
func openStudy(name string) (fs.FS, error) {
	if name == "" {
		return domains.All[0].Sample, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		if d, ok := domains.ByName(name); ok {
			return d.Sample, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no directory %s: name one that holds %s, or a sample: %s", words.Quoted(name), studyFile, words.Options(name, domains.Names()))
		}
		return nil, fmt.Errorf("cannot read the study %s: %w", words.Quoted(name), cause(err))
	}
	if !info.IsDir() {
		if filepath.Base(name) != studyFile {
			return nil, fmt.Errorf("%s is a file: name the directory that holds %s", words.Quoted(name), studyFile)
		}
		name = filepath.Dir(name)
	}
	if _, err := os.Stat(filepath.Join(name, studyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read %s: %w", words.Quoted(filepath.Join(name, studyFile)), cause(err))
	} else if err != nil {
		return nil, fmt.Errorf("the directory %s holds no %s; `foible sample DIR` writes a study to start from", words.Quoted(name), studyFile)
	}
	return studyDir(name)
}

// examined is a study and a sweep, and what is wrong with them.
type examined struct {
	study    *domains.Study // what could be read of it; nil if nothing could
	findings study.Findings // of the study, and of its use with the sweep
	config   *foiblev1.SweepConfig
	err      error  // what is wrong with the sweep; config is nil if it cannot be read
	beyond   error  // the limit of a coordinator, unless it was started with other ones, that the sweep exceeds
	usable   string // flags that leave out the models that cannot be used; "" if all can, or none
}

// examine finds all that is wrong with a study and a sweep of it: whatever can be looked at
// is looked at, and models are tried for so long. The error is that of ctx, if it ends before.
func examine(ctx context.Context, fsys fs.FS, choice *SweepChoice, limit time.Duration) (*examined, error) {
	x := &examined{}
	x.study, x.findings = domains.Draft(fsys)
	domain := &domains.All[0] // its sweep is no worse than another's
	if x.study != nil {
		domain = x.study.Domain
	}
	x.config, x.err = choice.config(fsys, domain)
	if x.study == nil {
		return x, nil
	}
	check := study.Check
	if x.findings.Err() != nil {
		check = study.CheckTasks // counts would be wrong
	}
	checked, err := check(ctx, x.study.Study)
	if err != nil {
		return nil, err
	}
	var models study.Findings
	if x.err == nil {
		if models, err = x.tryModels(ctx, limit); err != nil {
			return nil, err
		}
		var large study.Findings
		large, x.err = x.checkSizes()
		models = append(models, large...)
		x.beyond = beyondDefaults(x.study, x.config)
	}
	if study.Merge(x.findings, checked).Err() != nil {
		x.usable = "" // leaving out models is not enough
	}
	x.findings = study.Merge(x.findings, checked, x.study.CheckProblems(), models)
	return x, nil
}

// beyondDefaults says which limit of a coordinator, unless it was started with other ones, a sweep exceeds.
func beyondDefaults(s *domains.Study, config *foiblev1.SweepConfig) error {
	limits := coordinator.DefaultLimits()
	return limits.CheckSweep(&foiblev1.Sweep{StudyHash: s.Hash, StudyName: s.Name, Config: config, Stimuli: s.Shapes()})
}

// tryModels finds which models of the sweep cannot be used.
func (x *examined) tryModels(ctx context.Context, limit time.Duration) (study.Findings, error) {
	c, err := codec.Config(x.config)
	if err != nil {
		return nil, err
	}
	sets, err := c.ParameterSets()
	if err != nil {
		return nil, err
	}
	sets = kindsOf(sets)
	trying, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	usable, err := x.study.CheckModels(trying, sets, inference.DefaultLimits)
	if err != nil {
		return nil, err
	}
	if len(usable.Sets) > 0 && len(usable.Sets) < len(sets) {
		x.usable = usableFlags(usable.Sets, sets)
	}
	return usable.Findings, nil
}

// kindsOf has one parameter set for all that can be used, or not, for the same reasons: a grid may have many.
func kindsOf(sets []sweep.ParameterSet) []sweep.ParameterSet {
	type kind struct {
		model, value string
		confuses     bool
	}
	var kinds []sweep.ParameterSet
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

// checkSizes finds the stimuli of which a result would be too large. The error is of the sweep as a whole.
func (x *examined) checkSizes() (study.Findings, error) {
	c, err := codec.Config(x.config)
	if err != nil {
		return nil, err
	}
	sets, err := c.ParameterSets()
	if err != nil {
		return nil, err
	}
	shapes := codec.Shapes(x.study.Shapes())
	if len(sets) == 0 || len(shapes) == 0 {
		return nil, nil
	}
	plan, err := c.Plan(sets, shapes, sweep.CellsPerJob(len(sets), shapes, c.Fit.Runs, leastParallel))
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var found study.Findings
	for _, large := range plan.Oversized(&c) {
		i := slices.IndexFunc(x.study.Stimuli, func(st study.Stimulus) bool { return st.ID == large.Stimulus })
		if i < 0 {
			err = fmt.Errorf("sweep: %w", large)
			continue
		}
		st := &x.study.Stimuli[i]
		found = append(found, study.Finding{Severity: study.Error, Pos: st.Pos, Stimulus: st.ID, Message: strings.TrimPrefix(large.Error(), "stimulus "+st.ID+": ")})
	}
	return found, err
}

// usableFlags are those by which a sweep has only the usable ones of its parameter sets, of
// which all with one model, and of boltzmann one value, are usable or none.
func usableFlags(usable, all []sweep.ParameterSet) string {
	var models, values []string
	count := func(sets []sweep.ParameterSet) (n int) {
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

// prepare opens a study and its sweep to be run, and prints what is wrong with them.
func prepare(ctx context.Context, term *Terminal, name string, choice SweepChoice) (*domains.Study, *foiblev1.SweepConfig, error) {
	fsys, err := openStudy(name)
	if err != nil {
		return nil, nil, err
	}
	x, err := examine(ctx, fsys, &choice, briefCheckTime)
	if err != nil {
		return nil, nil, interrupted(ctx, err)
	}
	for _, f := range x.findings {
		if f.Severity != study.Note {
			term.say("%s", f)
		}
	}
	switch {
	case x.findings.Err() != nil && x.usable != "":
		return nil, nil, fmt.Errorf("some models cannot be used with the study, so nothing was run; `%s` leaves them out", x.usable)
	case x.findings.Err() != nil:
		return nil, nil, errors.New("the study has errors, so nothing was run")
	}
	return x.study, x.config, x.err
}

// judgedSomewhere says whether anybody judged anything.
func judgedSomewhere(s *domains.Study) bool {
	return slices.ContainsFunc(s.Stimuli, func(st study.Stimulus) bool {
		return slices.ContainsFunc(st.Human.Mean, func(row []float64) bool { return row != nil })
	})
}

// judgedOr refuses a study without judgements, unless that is what is wanted.
func judgedOr(s *domains.Study, without bool) error {
	if without || judgedSomewhere(s) {
		return nil
	}
	return fmt.Errorf("%s has no human judgements to compare models with: add responses or means to study.yaml. What models infer without them, `foible infer` says of one stimulus, and this command of all with --without-judgements", s.Name)
}

// methodText says in words how a sweep infers.
func methodText(m *foiblev1.SweepConfig) string {
	c, err := codec.Config(m)
	if err != nil {
		return err.Error()
	}
	exact := true
	for _, grid := range c.Models {
		model, _ := sweep.ModelByName(grid.Model)
		exact = exact && model.Exact
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

func withoutJudgementsFlag(c *cobra.Command, without *bool) {
	c.Flags().BoolVar(without, "without-judgements", false, "go on though the study has no human judgements, to get the posteriors")
}

// sweepID is the id that the coordinator will give.
func sweepID(s *domains.Study, config *foiblev1.SweepConfig) (string, error) {
	c, err := codec.Config(config)
	if err != nil {
		return "", err
	}
	sets, err := c.ParameterSets()
	if err != nil {
		return "", err
	}
	return s.Name + "-" + c.ID(s.Hash, Version(), sets), nil
}

// leastParallel slots are what a coordinator cuts jobs for.
const leastParallel = 8
