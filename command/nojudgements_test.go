package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/fit"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
)

// A study without judgements is refused before anything is run, unless posteriors are what is wanted.
func TestFitWithoutJudgements(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Logger: hclog.NewNullLogger()}
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
	o := fit.Options{Study: "study", Out: "out", Workers: 1, Sweep: input.SweepChoice{Models: []string{"boltzmann"}, Set: []string{"alpha=1"}}}
	if err := fit.Fit(t.Context(), e, o); err == nil || !strings.Contains(err.Error(), "no human judgements to compare models with") || !strings.Contains(err.Error(), "--without-judgements") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("out"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	o.WithoutJudgements = true
	var out bytes.Buffer
	e.Out = &out
	if err := fit.Fit(t.Context(), e, o); err != nil || !strings.Contains(out.String(), "There are no human judgements to compare with") {
		t.Errorf("%v\n%s", err, &out)
	}
	got := commandtest.Files(t, "out")
	if !strings.Contains(got["posteriors.csv"], "\nfit,boltzmann,1,") || strings.Contains(got["report.html"], "NaN") {
		t.Errorf("%s", got["posteriors.csv"])
	}
}
