package command

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/report/compare"
	"foible.dev/foible/core/words"
)

// CompareOptions say which sweeps to compare, and where to write the comparison.
type CompareOptions struct {
	Sweeps    []string // output directories of fit or results
	Out       string   // directory
	Overwrite bool     // what Out holds of others
	// DifferentStudies: the sweeps may be of different studies, compared at what has one name in all.
	DifferentStudies bool
}

// DefaultComparison is where a comparison is written.
const DefaultComparison = "foible-comparison"

// Compare compares the results of sweeps.
func Compare(term *terminal.Terminal, o CompareOptions) error {
	if len(o.Sweeps) < 2 {
		return cli.Usagef("name the output directories of two sweeps or more")
	}
	sweeps, err := o.finished()
	if err != nil {
		return err
	}
	var names []string
	for _, dir := range o.Sweeps {
		path, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		names = append(names, path)
	}
	of := output.Owner{Command: "report", Of: strings.Join(names, "\n"), About: "a comparison of " + words.List(o.Sweeps)}
	if err := output.Free(o.Out, of, o.Overwrite); err != nil {
		return err
	}
	var c *compare.Comparison
	err = output.Write(o.Out, of, nil, func(out *output.Dir) (err error) {
		c, err = compare.Sweeps(out, compare.Options{DifferentStudies: o.DifferentStudies}, sweeps...)
		return err
	})
	if errors.Is(err, compare.ErrDifferentStudies) {
		return fmt.Errorf("%w; with --different-studies they are compared all the same, at the stimuli, steps and goals of one name", err)
	}
	if err != nil {
		return err
	}
	term.PrintTable(comparisonTable(c))
	for _, caution := range c.Cautions {
		term.Print("Warning: %s", caution)
	}
	term.Print("Wrote tables and figures to %s; open %s first.", words.Quoted(o.Out), words.Quoted(filepath.Join(o.Out, "comparison.html")))
	if c.Compared() < 2 {
		return errors.New("nothing could be compared: over the points that the sweeps have in common, not two of the best parameter sets have a defined r")
	}
	return nil
}

// finished returns the sweeps to compare, each with a name of its own.
func (o *CompareOptions) finished() ([]compare.Finished, error) {
	var sweeps []compare.Finished
	for i, dir := range o.Sweeps {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no %s: name output directories of `foible fit` or `foible results`; `foible results SWEEP --out DIR` writes one", words.Quoted(dir))
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, cli.Usagef("%s is a file: name the directory that it is in", words.Quoted(dir))
		}
		if slices.ContainsFunc(o.Sweeps[:i], func(other string) bool { return same(other, dir) }) {
			return nil, cli.Usagef("%s is there twice", words.Quoted(dir))
		}
		if same(o.Out, dir) {
			return nil, cli.Usagef("--out %s is a sweep's own directory", words.Quoted(dir))
		}
		sweeps = append(sweeps, compare.Finished{Name: filepath.Base(filepath.Clean(dir)), Files: cli.ResultsDir(dir)})
	}
	for i := range sweeps { // names that tell them apart
		if slices.ContainsFunc(sweeps, func(s compare.Finished) bool { return s.Name == sweeps[i].Name && s.Files != sweeps[i].Files }) {
			for j := range sweeps {
				sweeps[j].Name = filepath.Clean(o.Sweeps[j])
			}
			break
		}
	}
	return sweeps, nil
}

// comparisonTable has a row for each model of each sweep.
func comparisonTable(c *compare.Comparison) *terminal.Table {
	t := terminal.NewTable("Model", "Sweep", "r over common points", "n", "Difference", "95% interval by stimuli")
	t.Columns[1].Lead = true
	for _, f := range c.Fits {
		if f.N == 0 {
			t.Add(f.Model, f.Sweep, "no fit")
			continue
		}
		difference, interval := "", ""
		if !math.IsNaN(f.Difference) {
			difference = words.Signed(f.Difference, 3)
			if f.MCSE > 0 {
				difference += " ± " + words.Error(f.MCSE)
			}
		}
		if !math.IsNaN(f.Low) {
			interval = words.Interval(f.Low, f.High, 3, true)
		}
		r := "undefined"
		if !math.IsNaN(f.R) {
			r = words.Fixed(f.R, 3)
		}
		t.Add(f.Model, f.Sweep, r, words.Thousands(f.N), difference, interval)
	}
	return t
}

// same reports whether two paths are of one directory.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func newReport(term *terminal.Terminal) *cobra.Command {
	var o CompareOptions
	c := &cobra.Command{
		Use:   "report DIR DIR...",
		Short: "Compare sweeps by their output directories",
		Long: `Report compares sweeps that fit or results wrote: what differs between their settings and inputs, the best
parameter set of each model with its difference from the first sweep's, sensitivity, people against models, and the warnings
of each. It compares at the judged goals, steps and stimuli that all have in common, says what it leaves out, and refuses
sweeps that have nothing in common. Sweeps of different studies, such as a study and its replication, are compared with
--different-studies only: what has one name in them is taken to be one thing. It writes comparison.html, which is one file without script or network, comparison.csv
and settings.csv, each also as Parquet, and the figures. It needs no coordinator.`,
		Example: "  foible report my-fit my-fit-by-sips\n  foible report first-study replication --different-studies --out side-by-side",
		GroupID: cli.GroupLocal, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			o.Sweeps = args
			return Compare(term, o)
		},
	}
	c.Flags().StringVar(&o.Out, "out", DefaultComparison, "output `directory`")
	cli.OverwriteFlag(c, &o.Overwrite)
	c.Flags().BoolVar(&o.DifferentStudies, "different-studies", false, "compare sweeps of different studies, at the stimuli, steps and goals that have one name in all")
	return c
}
