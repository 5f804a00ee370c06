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

	"foible/core/study"
	"foible/core/sweep"
	"foible/core/words"
	"foible/domains"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
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
	return os.DirFS(name), nil
}

// examine loads a study and finds everything wrong with it. The study is nil if there are errors.
func examine(ctx context.Context, fsys fs.FS) (*domains.Study, study.Findings, error) {
	s, found := domains.Load(fsys)
	if s != nil {
		checked, err := study.Check(ctx, s.Study)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, checked...)
	}
	if found.Err() != nil {
		return nil, found, nil
	}
	return s, found, nil
}

// prepare opens a study and its sweep to be run, and prints what is wrong with the study.
func (e *Env) prepare(ctx context.Context, name string, choice SweepChoice) (*domains.Study, *foiblev1.SweepConfig, error) {
	fsys, err := openStudy(name)
	if err != nil {
		return nil, nil, err
	}
	s, found, err := examine(ctx, fsys)
	if err != nil {
		return nil, nil, interrupted(ctx, err)
	}
	for _, f := range found {
		if f.Severity != study.Note {
			e.say("%s", f)
		}
	}
	if s == nil {
		return nil, nil, errors.New("the study has errors, so nothing was run")
	}
	config, err := choice.config(fsys, s.Domain)
	return s, config, err
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

// Check reports everything that is wrong with a study and its sweep.
func (e *Env) Check(ctx context.Context, name string, choice SweepChoice) error {
	fsys, err := openStudy(name)
	if err != nil {
		return err
	}
	s, found, err := examine(ctx, fsys)
	if err != nil {
		return interrupted(ctx, err)
	}
	domain := &domains.All[0] // its sweep is no worse than another's
	if s != nil {
		domain = s.Domain
		fmt.Fprintf(e.Out, "%s: %d stimuli of %s\n", s.Name, len(s.Stimuli), s.Domain.Name)
	}
	counts := map[study.Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
		fmt.Fprintln(e.Out, f)
	}
	if config, err := choice.config(fsys, domain); err == nil {
		fmt.Fprintln(e.Out, "sweep: "+methodText(config))
	} else {
		for line := range strings.Lines(err.Error()) {
			counts[study.Error]++
			fmt.Fprintln(e.Out, strings.TrimSpace(line))
		}
	}
	fmt.Fprintf(e.Out, "%s, %s, %s\n", words.Count(counts[study.Error], "error"), words.Count(counts[study.Warning], "warning"), words.Count(counts[study.Note], "note"))
	if counts[study.Error] > 0 {
		return ErrReported
	}
	return nil
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

// Sample writes a sample study into a new directory.
func (e *Env) Sample(domain, dir string) error {
	d, ok := domains.ByName(domain)
	if !ok {
		return usagef("--domain %q: it can be %s", domain, words.Options(domain, domains.Names()))
	}
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s is not empty; name a new directory", words.Quoted(dir))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write to %s: %w; name a new directory", words.Quoted(dir), cause(err))
	}
	if err := writeSample(d, dir); err != nil {
		return fmt.Errorf("cannot write to %s: %w; name another directory", words.Quoted(dir), cause(err))
	}
	fmt.Fprintf(e.Out, "Wrote a sample study to %s; try `foible check %[1]s` and `foible fit %[1]s`.\n", words.Quoted(dir))
	return nil
}

// writeSample adds the domain and the sweep to the files of a sample, to be changed too.
func writeSample(d *domains.Domain, dir string) error {
	if err := os.CopyFS(dir, d.Sample); err != nil {
		return err
	}
	spec, err := fs.ReadFile(d.Sample, studyFile)
	if err != nil {
		return err
	}
	spec = append(spec, "domain_pddl: domain.pddl\n"...)
	for name, content := range map[string][]byte{studyFile: spec, "domain.pddl": d.PDDL, "sweep.yaml": d.Sweep} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
