package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// toppedUp asks for a sweep whose contenders get up to 8 times the runs.
func (c *cluster) toppedUp(method string) *foiblev1.CreateSweepRequest {
	m := c.staged(6, 3)
	m.Config.TopUp = 8
	m.Config.Inference = &foiblev1.InferenceConfig{Method: method}
	m.Config.Models["full"].ActionNoise = []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4}
	m.Config.Models["plan-lesioned"].GoalNoise = []float64{0.1, 0.2, 0.3}
	return m
}

// again counts how often workers were asked for each cell that is not of the report.
type again struct {
	mu    sync.Mutex
	cells map[string]int // by what was asked for
	times map[string]int // by procedure and parameters, over stimuli
}

func newAgain() *again { return &again{cells: map[string]int{}, times: map[string]int{}} }

func (a *again) note(_ context.Context, job *foiblev1.Assign) error {
	if job.GetInfer() == nil || job.GetInfer().GetStage() == sweep.ReportStage {
		return nil
	}
	p, sets, err := codec.ReadInferJob(job.GetInfer())
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range sets {
		a.cells[job.GetInfer().GetStimulus()+" "+p.String()+" "+sets[i].String()]++
		a.times[p.String()]++
	}
	return nil
}

// Contenders are run again in rounds, each cell once; what comes of it does not depend on the number of workers, nor on
// coordinators that stop and start, and an extended sweep is as a fresh one.
func TestTopUp(t *testing.T) {
	for _, method := range []string{sweep.Marginal, sweep.SIPS} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := newCluster(t, nil)
				asked := newAgain()
				one.work(1, asked.note)
				m := one.toppedUp(method)
				id := one.submit(m)
				s := one.wait(id)
				p := s.GetProgress()
				if s.GetState() != succeeded || p.GetJobsDone() != p.GetJobs() || p.GetCellsDone() != p.GetCells() {
					t.Errorf("%v", s)
				}
				want, _ := one.export(id)
				stages := checkToppedUpCells(t, asked, p)
				one.checkToppedUpFits(s, stages)
				checkToppedUpByMany(t, method, id, want)
				one.checkToppedUpExtended(method, id, asked)
			})
		})
	}
}

// checkToppedUpCells: each cell was computed once, in as many stages as progress says. It returns their cells, by stage.
func checkToppedUpCells(t *testing.T, asked *again, p *foiblev1.Progress) map[string]int64 {
	t.Helper()
	for cell, n := range asked.cells {
		if n != 1 {
			t.Errorf("%s was asked for %d times", cell, n)
		}
	}
	if len(asked.times) < 3 {
		t.Errorf("the test has too few rounds to tell: %v", asked.times)
	}
	stages := map[string]int64{}
	var cells int64
	for _, part := range p.GetStages() {
		stages[part.GetName()] = part.GetCells()
		cells += part.GetCells()
	}
	if n := int64(len(asked.cells)) - stages["fit"]; stages["top_up"] != n || n < 1 || cells != p.GetCells() {
		t.Errorf("%d cells of %d were topped up: %v", n, p.GetCells(), p.GetStages())
	}
	return stages
}

// checkToppedUpFits: each parameter set is listed once, and the best are those of the report.
func (c *cluster) checkToppedUpFits(s *foiblev1.Sweep, stages map[string]int64) {
	t, id, p := c.t, s.GetSweepId(), s.GetProgress()
	t.Helper()
	listed, err := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: id})
	if err != nil {
		t.Fatal(err)
	}
	fits := map[string]*foiblev1.Fit{}
	for _, fit := range listed.GetFits() {
		set, err := codec.ReadParameterSet(fit.GetParameterSet())
		if err != nil || fits[set.String()] != nil {
			t.Errorf("%s is listed twice, or %v", &set, err)
		}
		fits[set.String()] = fit
	}
	if len(fits) != int(stages["fit"]/3) {
		t.Errorf("%d fits are listed, want %d", len(fits), stages["fit"]/3)
	}
	in, err := c.inner.Inside(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	best(c, s)
	if len(in.Chosen) != len(p.GetBest()) {
		t.Errorf("%v are in the report, %d are the best", in.Chosen, len(p.GetBest()))
	}
	for i, best := range p.GetBest() { // of the last round of its model
		if set := in.Sets[in.Chosen[i]]; int(best.GetNumber()) != in.Chosen[i]+1 || best.GetParameterSet().GetModel() != set.Model {
			t.Errorf("the best is %v, and %v is in the report", best, &set)
		}
		set, err := codec.ReadParameterSet(best.GetParameterSet())
		if err != nil || fits[set.String()].GetOverall().GetPearsonR() != best.GetOverall().GetPearsonR() {
			t.Errorf("the best is %v, listed as %v, %v", best, fits[set.String()], err)
		}
	}
}

// checkToppedUpByMany: three workers, and a coordinator that stops and starts, have the same results.
func checkToppedUpByMany(t *testing.T, method, id string, want []byte) {
	t.Helper()
	many := newCluster(t, nil)
	slow := func(ctx context.Context, _ *foiblev1.Assign) error {
		time.Sleep(300 * time.Millisecond)
		return nil
	}
	drain := []func(){many.work(1, slow), many.work(1, slow), many.work(1, slow)}
	if got := many.submit(many.toppedUp(method)); got != id {
		t.Fatalf("the sweep is %s, not %s", got, id)
	}
	last, stops := int64(-1), 0
	for d := await.Begin(); many.sweep(id).GetState() == running; d.Check(t, "the end of the sweep", many.sweep(id)) {
		if done := many.sweep(id).GetProgress().GetJobsDone(); done >= last+5 {
			last = done
			many.restart()
			stops++
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("the coordinator was stopped %d times", stops)
	if stops < 10 {
		t.Errorf("the coordinator was stopped %d times", stops)
	}
	for _, d := range drain {
		d()
	}
	if got, _ := many.export(id); !bytes.Equal(got, want) {
		t.Error("three workers and a coordinator that stops and starts have other results than one of each")
	}
}

// checkToppedUpExtended: an extended sweep has the results of a fresh one, and computes no cell twice.
func (c *cluster) checkToppedUpExtended(method, id string, asked *again) {
	t := c.t
	t.Helper()
	r, err := c.sweeps.ExtendSweep(t.Context(), &foiblev1.ExtendSweepRequest{SweepId: id, Models: map[string]*foiblev1.ModelConfig{
		"full": {ActionNoise: []float64{0.12, 0.5}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	larger := r.GetSweep()
	c.wait(larger.GetSweepId())
	fresh := newCluster(t, nil)
	fresh.work(2, nil)
	m := fresh.toppedUp(method)
	m.Config = larger.GetConfig()
	if got := fresh.submit(m); got != larger.GetSweepId() {
		t.Errorf("a fresh sweep is %s, the extended one %s", got, larger.GetSweepId())
	}
	fresh.wait(larger.GetSweepId())
	extended, _ := c.export(larger.GetSweepId())
	if got, _ := fresh.export(larger.GetSweepId()); !bytes.Equal(got, extended) {
		t.Error("an extended sweep has other results than a fresh one")
	}
	for cell, n := range asked.cells {
		if n != 1 {
			t.Errorf("extended, %s was asked for %d times", cell, n)
		}
	}
}

// Two coordinators find the same contenders.
func TestTopUpOfReplicas(t *testing.T) {
	a, b := newReplicas(t)
	alone := newCluster(t, nil)
	alone.work(4, nil)
	id := alone.submit(alone.toppedUp(sweep.SIPS))
	alone.wait(id)
	want, _ := alone.export(id)
	asked := newAgain()
	for _, c := range []*cluster{a, b} {
		c.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
			time.Sleep(10 * time.Millisecond)
			return asked.note(ctx, job)
		})
	}
	if got := a.submit(a.toppedUp(sweep.SIPS)); got != id {
		t.Fatalf("the sweep is %s, not %s", got, id)
	}
	for _, c := range []*cluster{b, a} {
		s := c.wait(id)
		if p := s.GetProgress(); s.GetState() != succeeded || p.GetJobsDone() != p.GetJobs() || p.GetCellsDone() != p.GetCells() || p.GetDuplicates() != 0 {
			t.Errorf("%v", s)
		}
		if got, _ := c.export(id); !bytes.Equal(got, want) {
			t.Error("the results differ from those of one coordinator")
		}
	}
	for cell, n := range asked.cells {
		if n != 1 {
			t.Errorf("%s was asked for %d times", cell, n)
		}
	}
}

// Where contenders cannot be run again, their fits before that stand, and the sweep ends.
func TestTopUpFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.toppedUp(sweep.SIPS)
		id := c.submit(m)
		d := &diary{}
		c.work(3, func(ctx context.Context, job *foiblev1.Assign) error {
			if infer := job.GetInfer(); infer.GetStage() == sweep.FitStage && infer.GetSize().GetRuns() > 2 && slices.Contains(models(asked(infer)), "full") {
				return errors.New("not this one")
			}
			return d.note(ctx, job)
		})
		s := c.wait(id)
		if p := s.GetProgress(); s.GetState() != foiblev1.SweepState_SWEEP_STATE_FAILED || p.GetJobsDone() != p.GetJobs() || p.GetCellsDone() != p.GetCells() || p.GetJobsFailed() == 0 {
			t.Errorf("%v", s)
		}
		if got := models(d.report()[stimuli(1)[0].GetStimulus()]); !slices.Contains(got, "full") {
			t.Errorf("the report has %v", got)
		}
	})
}
