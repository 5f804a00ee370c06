package fit

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// unable does jobs, but for the cells of some models.
type unable struct {
	worker.Executor
	shapes  map[string]sweep.Shape // by stimulus
	reasons map[string]string      // by model
}

// Execute implements [worker.Executor].
func (u unable) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	out, err := u.Executor.Execute(ctx, job)
	work := job.GetInfer()
	if work == nil || err != nil {
		return out, err
	}
	p, sets, err := codec.ReadInferJob(work)
	if err != nil {
		return nil, err
	}
	shape := u.shapes[work.GetStimulus()]
	cells, err := codec.ReadCells(out.GetInfer(), &shape)
	if err != nil {
		return nil, err
	}
	var hashes []byte
	for i := range cells {
		if reason := u.reasons[sets[i].Model]; reason != "" {
			cells[i] = result.FailedCell(reason)
			if p.Detail == sweep.DetailJudged {
				cells[i].Judge(shape.JudgementSteps)
			}
		}
		hashes = append(hashes, codec.CellHash(out.GetInfer(), i)...)
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult(cells, hashes)}}, nil
}

// Two models of which no cell can be computed: each cell is tried once, the cause is said once for each model, without a
// line of a log, and the other models have all of their fits. The tables do not depend on how the work was shared.
func TestFitWithFailedCells(t *testing.T) {
	domain, _ := domains.ByName("block-words")
	study, found := domains.Load(domain.Sample)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	shapes := map[string]sweep.Shape{}
	for _, shape := range codec.Shapes(study.Shapes()) {
		shapes[shape.Stimulus] = shape
	}
	config := filepath.Join(t.TempDir(), "sweep.yaml")
	text := `models:
  boltzmann: {alpha: [0.125, 0.25, 0.5, 1, 2]}
  goal-lesioned: {budget_r: [1], budget_q: [0.1], search_noise: [0.1], action_noise: [0.1]}
  action-lesioned: {goal_noise: [0], budget_r: [1], budget_q: [0.1], search_noise: [0.1, 0.2]}
inference: {method: sips}
fit: {runs: 1, particles_per_goal: 2}
report: {runs: 0}
bootstrap: {resamples: 20}
seed: 1
`
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var written []map[string]string
	for _, workers := range []int{1, 3} {
		var out, log bytes.Buffer
		e := &terminal.Terminal{Out: &out, Err: &bytes.Buffer{}, Logger: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})}
		around := func(science worker.Executor) worker.Executor {
			return unable{science, shapes, map[string]string{"goal-lesioned": "no heuristic", "action-lesioned": "too many states"}}
		}
		dir := t.TempDir()
		err := Fit(t.Context(), e, Options{around: around, Study: "block-words", Out: dir, Workers: workers, Sweep: input.SweepChoice{File: config}})
		if err == nil || !strings.Contains(err.Error(), "24 cells could not be computed, ") || !strings.Contains(err.Error(), results.FailuresFile) {
			t.Errorf("fit ended with %v", err)
		}
		if log.Len() > 0 {
			t.Errorf("the log says\n%s", log.String())
		}
		for _, want := range []string{"goal-lesioned: no fit: no heuristic (8 cells)\n", "action-lesioned: no fit: too many states (16 cells)\n"} {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("it is not said once %q:\n%s", want, out.String())
			}
		}
		fits := map[string]int{}
		for _, f := range commandtest.Table(t, content(t, dir, "fits.csv")) {
			if f["stage"] == sweep.FitStage && f["pearson_r"] != "" {
				fits[f["model"]]++
			}
		}
		if fits["boltzmann"] != 5 || len(fits) != 1 {
			t.Errorf("fits of %v", fits)
		}
		if n := len(commandtest.Table(t, content(t, dir, results.FailuresFile))); n != 24 {
			t.Errorf("%d failures", n)
		}
		if m := manifest(t, dir); m.Complete {
			t.Error("the sweep is said to be complete")
		}
		files := map[string]string{}
		for _, name := range []string{"fits.csv", results.FailuresFile, "posteriors.csv", "degeneracy.csv", "report.html"} {
			files[name] = content(t, dir, name)
		}
		written = append(written, files)
	}
	for name := range written[0] {
		if written[0][name] != written[1][name] {
			t.Errorf("%s is not the same with one worker and with three", name)
		}
	}
}

// A fit of which cells could not be computed is called again in the same directory, where they can: it says that they are
// tried again, and its outputs are those of a fit of which nothing failed.
func TestFitTriesAgain(t *testing.T) {
	domain, _ := domains.ByName("block-words")
	study, found := domains.Load(domain.Sample)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	shapes := map[string]sweep.Shape{}
	for _, shape := range codec.Shapes(study.Shapes()) {
		shapes[shape.Stimulus] = shape
	}
	fit := func(dir string, reasons map[string]string) (said string, err error) {
		var log bytes.Buffer
		e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &log, Logger: hclog.NewNullLogger()}
		around := func(science worker.Executor) worker.Executor { return unable{science, shapes, reasons} }
		err = Fit(t.Context(), e, Options{
			around: around,
			Study:  "block-words", Out: dir, Workers: 2,
			Sweep: input.SweepChoice{Models: []string{"boltzmann", "plan-lesioned"}, Set: []string{"alpha=0.5,1", "goal_noise=0.1", "action_noise=0.1"}, Method: sweep.SIPS, Runs: 2, Particles: 2},
		})
		return log.String(), err
	}
	fresh, dir := t.TempDir(), t.TempDir()
	if _, err := fit(fresh, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := fit(dir, map[string]string{"plan-lesioned": "no memory"}); err == nil {
		t.Fatal("nothing has failed")
	}
	said, err := fit(dir, nil)
	if err != nil || !strings.Contains(said, " cells that could not be computed are tried again.\n") || !strings.Contains(said, "Fitting ") {
		t.Errorf("%v\n%s", err, said)
	}
	for _, name := range []string{"fits.csv", "posteriors.csv", "degeneracy.csv", "report.html"} {
		if content(t, dir, name) != content(t, fresh, name) {
			t.Errorf("%s differs from that of a fit of which nothing failed", name)
		}
	}
	if said, err = fit(dir, nil); err != nil || !strings.Contains(said, "has been fitted before") || strings.Contains(said, "tried again") {
		t.Errorf("%v\n%s", err, said)
	}
}
