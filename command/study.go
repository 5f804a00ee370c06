package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"foible/core/study"
	"foible/domains"
)

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
		return nil, fmt.Errorf("no study %q: give a directory that holds study.yaml, or the name of a sample: %s", name, domains.Names())
	}
	if !info.IsDir() {
		if filepath.Base(name) != "study.yaml" {
			return nil, fmt.Errorf("%s is a file: give the directory that holds study.yaml", name)
		}
		name = filepath.Dir(name)
	}
	if _, err := os.Stat(filepath.Join(name, "study.yaml")); err != nil {
		return nil, fmt.Errorf("%s holds no study.yaml; `foible sample DIR` writes a study to start from", name)
	}
	return os.DirFS(name), nil
}

// loadStudy loads and checks a study, and prints what was found; notes only if asked.
func (e *Env) loadStudy(fsys fs.FS, notes bool) (*domains.Study, error) {
	s, found := domains.Load(fsys)
	if s != nil {
		found = append(found, study.Check(s.Study)...)
	}
	for _, f := range found {
		if f.Severity != study.Note || notes {
			e.say("%s", f)
		}
	}
	if found.Err() != nil {
		return nil, ErrReported
	}
	return s, nil
}

// Check reports everything that is wrong with a study and its sweep.
func (e *Env) Check(name string, choice SweepChoice) error {
	fsys, err := openStudy(name)
	if err != nil {
		return err
	}
	s, found := domains.Load(fsys)
	if s != nil {
		found = append(found, study.Check(s.Study)...)
	}
	counts := map[study.Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
		fmt.Fprintln(e.Out, f)
	}
	if s != nil {
		if _, err := choice.config(fsys, s.Domain); err != nil {
			counts[study.Error]++
			fmt.Fprintln(e.Out, err)
		}
		fmt.Fprintf(e.Out, "%s: %d stimuli of %s\n", s.Name, len(s.Stimuli), s.Domain.Name)
	}
	fmt.Fprintf(e.Out, "%s, %s, %s\n", count(counts[study.Error], "error"), count(counts[study.Warning], "warning"), count(counts[study.Note], "note"))
	if counts[study.Error] > 0 {
		return ErrReported
	}
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Sample writes a sample study into a new directory.
func (e *Env) Sample(domain, dir string) error {
	d, ok := domains.ByName(domain)
	if !ok {
		return usagef("unknown domain %q; there are %s", domain, domains.Names())
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty; give a new directory", dir)
	}
	if err := os.CopyFS(dir, d.Sample); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"domain.pddl": d.PDDL, "sweep.yaml": d.Sweep} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.Out, "wrote a sample study to %s; try: foible check %s && foible fit %s\n", dir, dir, dir)
	return nil
}
