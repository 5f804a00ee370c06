package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/fit"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
)

// Two sweeps of the sample study are put side by side by what fit wrote, as tables, Parquet and a page.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	e := &terminal.Terminal{Out: &out, Err: &bytes.Buffer{}}
	sweeps := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two", "one")}
	for i, seed := range []string{"1", "2"} {
		o := fit.Options{Out: sweeps[i], Workers: 1, Sweep: input.SweepChoice{Models: []string{"boltzmann", "plan-lesioned"}, Set: []string{"alpha=1,2", "action_noise=0.1"}, Seed: seed}}
		if err := fit.Fit(t.Context(), e, o); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	to := filepath.Join(dir, "compared")
	commandtest.Files(t, sweeps[0]) // checks the tables
	if err := Compare(e, CompareOptions{Sweeps: sweeps, Out: to}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The seeds differ: 1 in " + sweeps[0] + " and 2 in " + sweeps[1], "open " + filepath.Join(to, "comparison.html") + " first"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for _, name := range []string{"comparison.html", "comparison.csv", "comparison.parquet", "settings.csv", "settings.parquet", "figures/sensitivity-2.svg", "figures/scatter-plan-lesioned.pdf"} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	commandtest.Files(t, to)
	for name, c := range map[string]struct {
		sweeps []string
		out    string
		usage  bool
		want   string
	}{
		"one":      {sweeps[:1], to, true, "name the output directories of two sweeps or more"},
		"twice":    {[]string{sweeps[0], sweeps[0] + "/."}, to, true, "is there twice"},
		"nothing":  {[]string{sweeps[0], filepath.Join(dir, "none")}, to, false, "`foible results SWEEP --out DIR` writes one"},
		"a file":   {[]string{sweeps[0], filepath.Join(sweeps[1], "fits.csv")}, to, true, "is a file: name the directory that it is in"},
		"no sweep": {[]string{sweeps[0], dir}, to, false, "has no manifest.json: name the output directories"},
		"its own":  {sweeps, sweeps[1], true, "is a sweep's own directory"},
	} {
		err := Compare(e, CompareOptions{Sweeps: c.sweeps, Out: c.out, Overwrite: true})
		if usage := (*cli.UsageError)(nil); err == nil || errors.As(err, &usage) != c.usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(sweeps[1], "comparison.html")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a comparison among a sweep's results: %v", err)
	}
}
