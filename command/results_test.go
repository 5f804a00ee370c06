package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/core/report"
	"foible.dev/foible/core/sweep"
)

// The first model is told from each of the others, with the sign; a difference
// that is not defined, or is of two others, is left to the report.
func TestDifferencesArePrinted(t *testing.T) {
	change := func(value, low, high float64) sweep.Difference {
		return sweep.Difference{N: 9, PearsonR: sweep.Change{Value: value, Defined: true, Intervals: []sweep.Interval{
			{Unit: "participants", Low: low, High: high}, {Unit: "both", Low: low - 0.25, High: high},
		}}}
	}
	for _, c := range []struct {
		all  []report.Difference
		want string
	}{
		{nil, ""},
		{[]report.Difference{
			{Model: "full", Other: "goal-lesioned", Difference: change(-0.125, -0.25, 0.125)},
			{Model: "full", Other: "plan-lesioned"},
			{Model: "full", Other: "boltzmann", Difference: change(0.1875, 0.125, 0.25)},
			{Model: "goal-lesioned", Other: "boltzmann", Difference: change(0.5, 0.25, 0.75)},
		}, "Difference in r, with 95% intervals of both models on the same resamples:\n" +
			"full - goal-lesioned  -0.125  [-0.250, +0.125] by participants  [-0.500, +0.125] by both\n" +
			"full - boltzmann      +0.188  [+0.125, +0.250] by participants  [-0.125, +0.250] by both\n"},
	} {
		var out bytes.Buffer
		printDifferences((&Terminal{Out: &out}), c.all, 0)
		if out.String() != c.want {
			t.Errorf("got\n%s\nwant\n%s", &out, c.want)
		}
	}
}

// Numbers that may be none are written by the package words: a verb for numbers in what these files print would write NaN.
func TestNumbersAreWrittenByWords(t *testing.T) {
	number := regexp.MustCompile(`%[-+0-9.]*[efgG]`)
	for _, name := range []string{"compare.go", "results.go", "recover.go", "submit.go", "screen.go", "posterior_table.go", "infer.go", "simulate.go", "warnings.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if verb := number.FindString(line); verb != "" && !strings.Contains(line, "ResampleThreshold") && !strings.Contains(line, "%.3g\", x)") {
				t.Errorf("%s:%d: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// A study without judgements is refused before anything is run, unless posteriors are what is wanted.
func TestFitWithoutJudgements(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	e := &Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Logger: hclog.NewNullLogger()}
	if err := Sample(e, "block-words", "study"); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("study/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, line := range strings.Split(string(config), "\n") {
		if !strings.HasPrefix(line, "responses:") && !strings.HasPrefix(line, "means:") && !strings.HasPrefix(line, "participants") {
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile("study/study.yaml", []byte(strings.Join(kept, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	o := FitOptions{Study: "study", Out: "out", Workers: 1, Sweep: SweepChoice{Models: []string{"boltzmann"}, Set: []string{"alpha=1"}}}
	if err := Fit(t.Context(), e, o); err == nil || !strings.Contains(err.Error(), "no human judgements to compare models with") || !strings.Contains(err.Error(), "--without-judgements") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("out"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	o.WithoutJudgements = true
	var out bytes.Buffer
	e.Out = &out
	if err := Fit(t.Context(), e, o); err != nil || !strings.Contains(out.String(), "There are no human judgements to compare with") {
		t.Errorf("%v\n%s", err, &out)
	}
	got := files(t, "out")
	if !strings.Contains(got["posteriors.csv"], "\nfit,boltzmann,1,") || strings.Contains(got["report.html"], "NaN") {
		t.Errorf("%s", got["posteriors.csv"])
	}
}
