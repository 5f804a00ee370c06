package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
)

func newSample(term *terminal.Terminal) *cobra.Command {
	var domain string
	c := &cobra.Command{
		Use:     "sample DIR",
		Short:   "Write a sample study, to start from",
		Long:    "Sample writes a study with simulated participants to a new directory, with its domain and its sweep, to be changed.",
		GroupID: cli.GroupLocal, Args: cli.ExactlyOne("name the directory to write"),
		RunE: func(_ *cobra.Command, args []string) error { return Sample(term, domain, args[0]) },
	}
	c.Flags().StringVar(&domain, "domain", domains.All[0].Name, "`domain` of the study: "+strings.Join(domains.Names(), ", "))
	cli.Complete(c, "domain", domains.Names()...)
	return c
}

// Sample writes a sample study into a new directory.
func Sample(term *terminal.Terminal, domain, dir string) error {
	d, ok := domains.ByName(domain)
	if !ok {
		return cli.Usagef("--domain %q: it can be %s", domain, words.Options(domain, domains.Names()))
	}
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s is not empty; name a new directory", words.Quoted(dir))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write to %s: %w; name a new directory", words.Quoted(dir), cli.Cause(err))
	}
	if err := writeSample(d, dir); err != nil {
		return fmt.Errorf("cannot write to %s: %w; name another directory", words.Quoted(dir), cli.Cause(err))
	}
	term.Print("Wrote a sample study to %s; try `foible check %[1]s` and `foible fit %[1]s`.", words.Quoted(dir))
	return nil
}

// writeSample adds the domain and the sweep to the files of a sample, to be changed too.
func writeSample(d *domains.Domain, dir string) error {
	if err := os.CopyFS(dir, d.Sample); err != nil {
		return err
	}
	spec, err := fs.ReadFile(d.Sample, input.StudyFile)
	if err != nil {
		return err
	}
	spec = append(spec, "domain_pddl: domain.pddl\n"...)
	for name, content := range map[string][]byte{input.StudyFile: spec, "domain.pddl": d.PDDL, "sweep.yaml": d.Sweep} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
