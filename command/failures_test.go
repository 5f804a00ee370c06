package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible/core/sweep"
)

// A study on which no planning model has a heuristic: each cell is tried once, the cause is said once for each model,
// without a line of a log, and the models that need none have all of their fits. The tables do not depend on how the work
// was shared.
func TestFitWithoutHeuristic(t *testing.T) {
	study := filepath.Join("testdata", "conditional-effects")
	config := filepath.Join(t.TempDir(), "sweep.yaml")
	text := `models:
  boltzmann: {alpha: [0.125, 0.25, 0.5, 1, 2]}
  action-lesioned: {goal_noise: [0.1], budget_r: [2], budget_q: [0.5], search_noise: [0.1]}
  plan-lesioned: {goal_noise: [0.1, 0.2], action_noise: [0.1, 0.2]}
bootstrap: {resamples: 20}
seed: 1
`
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var written []map[string]string
	for _, workers := range []int{1, 3} {
		var out, log bytes.Buffer
		e := &Env{Out: &out, Err: &bytes.Buffer{}, Logger: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})}
		dir := t.TempDir()
		err := e.Fit(t.Context(), FitOptions{Study: study, Out: dir, Workers: workers, Sweep: SweepChoice{File: config}})
		if err == nil || !strings.Contains(err.Error(), "5 cells could not be computed, ") || !strings.Contains(err.Error(), failuresFile) {
			t.Errorf("fit ended with %v", err)
		}
		if log.Len() > 0 {
			t.Errorf("the log says\n%s", log.String())
		}
		const why = ": no fit: heuristic: "
		for _, want := range []string{"plan-lesioned" + why, "action-lesioned" + why} {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("it is not said once %q:\n%s", want, out.String())
			}
		}
		if !strings.Contains(out.String(), "has no propositional form (4 cells)") || !strings.Contains(out.String(), "has no propositional form (1 cell)") {
			t.Errorf("it is said\n%s", out.String())
		}
		fits := map[string]int{}
		for _, f := range table(t, content(t, dir, "fits.csv")) {
			if f["stage"] == sweep.FitStage && f["pearson_r"] != "" {
				fits[f["model"]]++
			}
		}
		if fits["boltzmann"] != 5 || len(fits) != 1 {
			t.Errorf("fits of %v", fits)
		}
		failures := table(t, content(t, dir, failuresFile))
		if len(failures) != 5 {
			t.Errorf("%d failures", len(failures))
		}
		for _, f := range failures {
			if f["stimulus"] != "s" || !strings.HasPrefix(f["reason"], "heuristic: ") {
				t.Errorf("a failure %v", f)
			}
		}
		if m := manifest(t, dir); m.Complete {
			t.Error("the sweep is said to be complete")
		}
		files := map[string]string{}
		for _, name := range []string{"fits.csv", failuresFile, "posteriors.csv", "degeneracy.csv", "report.html", "figures/scatter-boltzmann.svg"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				files[name] = string(text)
			}
		}
		written = append(written, files)
	}
	names := []string{}
	for name := range written[0] {
		names = append(names, name)
		if written[0][name] != written[1][name] {
			t.Errorf("%s is not the same with one worker and with three", name)
		}
	}
	if !slices.Contains(names, "fits.csv") || len(names) < 5 {
		t.Errorf("compared are %v", names)
	}
}
