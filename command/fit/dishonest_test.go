package fit

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// dishonest does infer jobs without a look at their parameters: every cell of a stimulus is
// of the same ones, with other chance, so that cells differ by noise alone. What it says it has computed is
// that, or, if forged, what it was asked for.
type dishonest struct {
	worker.Executor
	forged bool
}

// Execute implements [worker.Executor].
func (d dishonest) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	work := job.GetInfer()
	if work == nil {
		return d.Executor.Execute(ctx, job)
	}
	procedure, sets, err := codec.ReadInferJob(work)
	if err != nil {
		return nil, err
	}
	asked := sweep.NewCellHash(job.GetStudyHash(), work.GetStimulus(), job.GetSeed(), procedure)
	all := &foiblev1.InferResult{}
	for i := range sets {
		hash := asked.Of(&sets[i])
		always := proto.CloneOf(job)
		set := sets[i]
		for axis, number := range map[string]float64{"budget_r": 2, "budget_q": 0.9, "search_noise": 0.5, "action_noise": 0.1} {
			set.Set(axis, model.Setting{Number: number})
		}
		always.Work = &foiblev1.Assign_Infer{Infer: codec.InferJob(work.GetStimulus(), procedure, []model.ParameterSet{set})}
		always.Seed = uint64(hash[0]) | uint64(hash[1])<<8 // of what was asked for, so that the test is the same whenever it is run
		one, err := d.Executor.Execute(ctx, always)
		if err != nil {
			return nil, err
		}
		cell := one.GetInfer().GetCells()[0]
		if d.forged {
			cell.CellHash = hash
		}
		all.Cells = append(all.Cells, cell)
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: all}}, nil
}

// fitDishonestly fits a grid of 12 settings of full by a worker that ignores them.
func fitDishonestly(t *testing.T, forged bool) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	around := func(science worker.Executor) worker.Executor { return dishonest{science, forged} }
	return dir, Fit(t.Context(), e, Options{around: around, Out: dir, Workers: 2, Sweep: input.SweepChoice{
		Models: []string{"full"}, Method: sweep.SIPS, Runs: 4, Particles: 10, Seed: "1",
		Set: []string{"budget_r=2,4", "budget_q=0.9", "search_noise=0.02,0.5", "action_noise=0.05,0.1,0.2"},
	}})
}

// A worker that ignores its parameters has its cells refused by their hashes: none is recorded, and the failures
// say why.
func TestDishonestWorker(t *testing.T) {
	dir, err := fitDishonestly(t, false)
	if err == nil || !strings.Contains(err.Error(), "some parameter sets have no fit") {
		t.Fatalf("the sweep of a dishonest worker: %v", err)
	}
	failures := commandtest.Table(t, content(t, dir, results.FailuresFile))
	if len(failures) < 12 {
		t.Errorf("%d failures of 12 parameter sets", len(failures))
	}
	for _, f := range failures {
		if !strings.Contains(f["reason"], "the result does not answer the job") || !strings.Contains(f["reason"], "the hash is of another computation") {
			t.Errorf("a failure for another reason: %v", f)
		}
	}
	if fits := commandtest.Table(t, content(t, dir, "fits.csv")); len(fits) != 0 {
		t.Errorf("fits of what was never computed: %v", fits)
	}
	if m := manifest(t, dir); m.Complete {
		t.Error("the sweep is said to be complete")
	}
}

// flatterer says of each fit that it is perfect.
type flatterer struct{ worker.Executor }

// Execute implements [worker.Executor].
func (f flatterer) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	result, err := f.Executor.Execute(ctx, job)
	for _, fit := range result.GetScore().GetFits() {
		fit.Overall.PearsonR = proto.Float64(1)
	}
	return result, err
}

// Fits that are not those of the recorded posteriors reach no table.
func TestFlattererOfFits(t *testing.T) {
	dir := t.TempDir()
	e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	around := func(science worker.Executor) worker.Executor { return flatterer{science} }
	err := Fit(t.Context(), e, Options{around: around, Out: dir, Workers: 2, Sweep: input.SweepChoice{
		Models: []string{"boltzmann"}, Seed: "1", Set: []string{"alpha=1,2"},
	}})
	if err == nil || !strings.Contains(err.Error(), "some parameter sets have no fit") {
		t.Fatalf("the sweep of a worker that flatters: %v", err)
	}
	for _, f := range commandtest.Table(t, content(t, dir, results.FailuresFile)) {
		if !strings.Contains(f["reason"], "r is 1; computed here, it is ") {
			t.Errorf("a failure for another reason: %v", f)
		}
	}
	if fits := commandtest.Table(t, content(t, dir, "fits.csv")); len(fits) != 0 {
		t.Errorf("fits that nobody computed: %v", fits)
	}
}

// If the worker forges the hashes, the coordinator cannot know. The fits can: the settings differ by no more than noise,
// which report.html and manifest.json say, with those that may be the best. The test of it has a level of .05: of
// 20 seeds one would not do, and this one does.
func TestForgedResults(t *testing.T) {
	dir, err := fitDishonestly(t, true)
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, dir)
	at := slices.IndexFunc(m.Warnings, func(text string) bool {
		return strings.HasPrefix(text, "full: these settings are statistically indistinguishable: the r of 12 settings")
	})
	if at < 0 {
		t.Fatalf("warnings %q", m.Warnings)
	}
	warning := m.Warnings[at]
	stated := regexp.MustCompile(`(\d+) settings are the best with a probability of 0\.95`).FindStringSubmatch(warning)
	listed := regexp.MustCompile(`#(\d+) goal_noise=\S+ budget_r=\d budget_q=0\.9 search_noise=\S+ action_noise=\S+ \(0\.\d+\)`).FindAllStringSubmatch(warning, -1)
	more := regexp.MustCompile(`and (\d+) more`).FindStringSubmatch(warning)
	if stated == nil {
		t.Fatalf("no tie set in %q", warning)
	}
	n := len(listed)
	if more != nil {
		rest, _ := strconv.Atoi(more[1])
		n += rest
	}
	if stated[1] != strconv.Itoa(n) || n < 2 {
		t.Errorf("%s settings are stated, %d told: %q", stated[1], n, warning)
	}
	best, r := "", -1.
	for _, f := range commandtest.Table(t, content(t, dir, "fits.csv")) {
		if v, _ := strconv.ParseFloat(f["pearson_r"], 64); f["stage"] == sweep.FitStage && v > r {
			best, r = f["parameter_set"], v
		}
	}
	if !slices.ContainsFunc(listed, func(m []string) bool { return m[1] == best }) {
		t.Errorf("the best, #%s, is not in %q", best, warning)
	}
	if !strings.Contains(html.UnescapeString(content(t, dir, "report.html")), "<li>"+warning+"</li>") {
		t.Errorf("report.html does not say %q", warning)
	}
}

// manifest of an output directory.
func manifest(t *testing.T, dir string) (m fit.Manifest) {
	t.Helper()
	if err := json.Unmarshal([]byte(content(t, dir, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// content of a file.
func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
