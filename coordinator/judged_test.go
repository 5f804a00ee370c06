package coordinator_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const judgedSets, judgedStimuli = 2010, 10 // so many that only judgement steps are kept

// packed exports a sweep of so many cells, all jobs of which are to be packed.
func (c *cluster) packed(id string) (results []byte) {
	c.t.Helper()
	if s := c.wait(id); s.GetState() != succeeded {
		c.t.Fatal(s)
	}
	stream, err := c.sweeps.ExportResults(c.t.Context(), &foiblev1.ExportResultsRequest{SweepId: id})
	if err != nil {
		c.t.Fatal(err)
	}
	cells := 0
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.t.Fatal(err)
		}
		infer := m.GetResult().GetInfer()
		if cells += codec.CellCount(infer); infer != nil && infer.GetJudged() == nil {
			c.t.Errorf("job %d is not packed", m.GetJob())
		}
	}
	if cells != judgedSets*judgedStimuli {
		c.t.Errorf("%d cells, want %d", cells, judgedSets*judgedStimuli)
	}
	results, _ = c.export(id)
	return results
}

// TestJudgedJobs: of a large sweep, jobs are recorded and exported packed, and wrong packed answers are refused.
func TestJudgedJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judged := func(r *foiblev1.JobResult) *foiblev1.JudgedCells { return r.GetInfer().GetJudged() }
		c := newCluster(t, nil)
		id := c.submit(c.request(judgedSets, judgedStimuli))
		h := c.join(1, 0)
		job := h.job()
		for want, spoil := range map[string]func(*foiblev1.JobResult){
			"the hash is of another computation":         func(r *foiblev1.JobResult) { judged(r).CellHashes[hashing.HashSize] ^= 1 },
			"bytes of hashes, of 32 bytes each":          func(r *foiblev1.JobResult) { judged(r).CellHashes = append(judged(r).CellHashes, 0) },
			"0 cells for":                                func(r *foiblev1.JobResult) { r.GetInfer().Judged = &foiblev1.JudgedCells{} },
			"1 cells besides packed ones":                func(r *foiblev1.JobResult) { r.GetInfer().Cells = []*foiblev1.Cell{{}} },
			"stimulus s00, step 4: probability NaN":      func(r *foiblev1.JobResult) { judged(r).Posterior[4] = math.NaN() },
			"stimulus s00, step 2: probabilities sum to": func(r *foiblev1.JobResult) { judged(r).Posterior[0] = 0.75 },
			"probabilities, want":                        func(r *foiblev1.JobResult) { judged(r).Posterior = judged(r).Posterior[1:] },
			"3 probabilities of runs, want 0":            func(r *foiblev1.JobResult) { judged(r).ShortRuns = []float32{1, 0, 0} },
			"numbers of runs of 1 cells, want":           func(r *foiblev1.JobResult) { judged(r).Runs = []int32{1} },
			"undefined, after cell -1":                   func(r *foiblev1.JobResult) { judged(r).Undefined = []*foiblev1.UndefinedCell{{}} },
			"only rows of judgement steps: false":        unpack,
		} {
			result := answer(job)
			spoil(result)
			if r := h.tell(job, result); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED || !strings.Contains(r.GetReason(), want) {
				t.Errorf("%v: want %q", r, want)
			}
		}
		h.die()
		c.work(3, nil)
		c.packed(id)
	})
}

// TestGrownToJudged: a sweep that was extended beyond the size of which every step is kept has the results of a fresh one.
func TestGrownToJudged(t *testing.T) {
	var results [2][]byte
	for i := range results {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, nil)
			c.work(3, nil)
			m := c.request(judgedSets, judgedStimuli)
			if i == 0 {
				results[i] = c.packed(c.submit(m))
				return
			}
			axes := m.GetConfig().GetModels()["boltzmann"]
			more := axes.GetAlpha()[judgedSets-20:]
			axes.Alpha = axes.GetAlpha()[:judgedSets-20]
			id := c.submit(m)
			c.wait(id)
			r, err := c.extend(id, more...)
			if err != nil || r.GetExisted() {
				t.Fatalf("%v, %v", r.GetExisted(), err)
			}
			results[i] = c.packed(r.GetSweep().GetSweepId())
		})
	}
	if string(results[0]) != string(results[1]) {
		t.Error("a sweep that has grown has other results")
	}
}

// unpack says the same of all steps.
func unpack(r *foiblev1.JobResult) {
	m := r.GetInfer()
	one := &foiblev1.InferResult{}
	for i := range codec.CellCount(m) {
		one.Cells = append(one.Cells, &foiblev1.Cell{CellHash: codec.CellHash(m, i), Posterior: make([]float64, 15)})
	}
	r.Outcome = &foiblev1.JobResult_Infer{Infer: one}
}
