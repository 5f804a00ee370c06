package codec_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// judgedJob are cells of marginal inference at the judgement steps: a whole one, one that
// ends before the second of them, one that has none, and one without runs.
func judgedJob() []result.Cell {
	whole, ended, nothing, single := marginal(), marginal(), marginal(), marginal()
	ended.Posterior, ended.Evidence, ended.Undefined = ended.Posterior[:1], ended.Evidence[:1], &result.Undefined{Step: 1, Reason: "why"}
	ended.Runs = result.RunsOf([][]float64{{0.1, 0.9}}, [][]float64{{1, 0}}, [][]float64{{-2, 3}})
	nothing.Posterior, nothing.Evidence, nothing.Undefined = [][]float64{}, nil, &result.Undefined{Step: 0, Reason: "why not"}
	nothing.Runs = result.Runs{}
	single.Runs, single.Samples = result.Runs{}, 7
	cells := []result.Cell{whole, ended, nothing, single}
	for i := range cells {
		cells[i].Judge(shape().JudgementSteps)
	}
	cells[2].Posterior = [][]float64{}
	return cells
}

// hashesOf made-up cells, end to end.
func hashesOf(n int) []byte {
	var all []byte
	for i := range n {
		all = append(all, slices.Repeat([]byte{byte(i + 1)}, hashing.HashSize)...)
	}
	return all
}

// What a job has at judgement steps arrives to the last bit, packed where there is room for it.
func TestInferResult(t *testing.T) {
	exact := cell()
	exact.Judge(shape().JudgementSteps)
	filter := filtered()
	filter.Judge(shape().JudgementSteps)
	whole := judgedJob()[0]
	for name, test := range map[string]struct {
		cells  []result.Cell
		packed bool
	}{
		"marginal":          {judgedJob(), true},
		"exact":             {[]result.Cell{exact, exact}, true},
		"one":               {[]result.Cell{whole}, true},
		"none":              {nil, false},
		"steps":             {[]result.Cell{marginal(), marginal()}, false},
		"a cell with steps": {[]result.Cell{whole, cell()}, false},
		"filters":           {[]result.Cell{filter, filter}, false},
		"two models":        {[]result.Cell{whole, exact}, false},
	} {
		hashes := hashesOf(len(test.cells))
		m := sent(t, codec.InferResult(test.cells, hashes))
		if packed := m.GetJudged() != nil; packed != test.packed || packed && len(m.GetCells()) > 0 {
			t.Errorf("%s: %v", name, m)
		}
		got, err := codec.ReadCells(m, shape())
		if err != nil || !reflect.DeepEqual(got, test.cells) {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", name, got, err, test.cells)
		}
		if n := codec.CellCount(m); n != len(test.cells) {
			t.Errorf("%s: %d cells", name, n)
		}
		for i := range test.cells {
			if hash := hashes[i*hashing.HashSize:][:hashing.HashSize]; !slices.Equal(codec.CellHash(m, i), hash) || codec.CellJudged(m, i) != test.cells[i].Judged {
				t.Errorf("%s: cell %d has the hash %x, judged %v", name, i, codec.CellHash(m, i), codec.CellJudged(m, i))
			}
		}
	}
}

func TestMalformedJudgedCells(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, test := range map[string]struct {
		change func(*foiblev1.JudgedCells)
		want   string
	}{
		"hashes cut":           {func(m *foiblev1.JudgedCells) { m.CellHashes = m.CellHashes[1:] }, ": 127 bytes of hashes, of 32 bytes each"},
		"a hash cut":           {func(m *foiblev1.JudgedCells) { m.CellHashes = append(m.CellHashes, 1) }, ": 129 bytes of hashes, of 32 bytes each"},
		"too many hashes":      {func(m *foiblev1.JudgedCells) { m.CellHashes = hashesOf(5) }, ": numbers of runs of 4 cells, want 5"},
		"posterior cut":        {func(m *foiblev1.JudgedCells) { m.Posterior = m.Posterior[1:] }, ": 9 probabilities, want 5 steps of 2 goals"},
		"posterior long":       {func(m *foiblev1.JudgedCells) { m.Posterior = append(m.Posterior, 0.5, 0.5) }, ": 12 probabilities, want 5 steps of 2 goals"},
		"no posterior":         {func(m *foiblev1.JudgedCells) { m.Posterior = nil }, ": 0 probabilities, want 5 steps of 2 goals"},
		"posterior NaN":        {func(m *foiblev1.JudgedCells) { m.Posterior[2] = nan }, ", step 2: probability NaN"},
		"posterior infinite":   {func(m *foiblev1.JudgedCells) { m.Posterior[4] = inf }, ", step 0: probability +Inf"},
		"posterior negative":   {func(m *foiblev1.JudgedCells) { m.Posterior[0], m.Posterior[1] = -0.5, 1.5 }, ", step 0: probability -0.5"},
		"posterior sum off":    {func(m *foiblev1.JudgedCells) { m.Posterior[9] = 0.5 }, ", step 2: probabilities sum to 0.5"},
		"runs cut":             {func(m *foiblev1.JudgedCells) { m.ShortRuns = m.ShortRuns[2:] }, ": 12 probabilities of runs, want 14"},
		"runs long":            {func(m *foiblev1.JudgedCells) { m.ShortRuns = append(m.ShortRuns, 1) }, ": 15 probabilities of runs, want 14"},
		"runs NaN":             {func(m *foiblev1.JudgedCells) { m.ShortRuns[1] = float32(nan) }, ": probabilities sum to NaN"},
		"runs infinite":        {func(m *foiblev1.JudgedCells) { m.ShortRuns[13] = float32(inf) }, ": probabilities sum to +Inf"},
		"runs sum off":         {func(m *foiblev1.JudgedCells) { m.ShortRuns[0] = 1.5 }, ": probabilities sum to 2"},
		"numbers of runs cut":  {func(m *foiblev1.JudgedCells) { m.Runs = m.Runs[1:] }, ": numbers of runs of 3 cells, want 4"},
		"no numbers of runs":   {func(m *foiblev1.JudgedCells) { m.Runs = nil }, ": 14 probabilities of runs, want 0"},
		"other number of runs": {func(m *foiblev1.JudgedCells) { m.Runs[0] = 1 }, ": 14 probabilities of runs, want 10"},
		"negative runs":        {func(m *foiblev1.JudgedCells) { m.Runs[0] = -2 }, ": -2 runs of 2 steps"},
		"absurd runs":          {func(m *foiblev1.JudgedCells) { m.Runs[0] = math.MaxInt32 }, ": 2147483647 runs of 2 steps"},
		"runs of nothing":      {func(m *foiblev1.JudgedCells) { m.Runs[2] = 3 }, ": 3 runs of 0 steps"},
		"evidence cut":         {func(m *foiblev1.JudgedCells) { m.Evidence = m.Evidence[1:] }, ": evidence of 4 steps, want 5"},
		"evidence NaN":         {func(m *foiblev1.JudgedCells) { m.Evidence[4] = nan }, ": a number is NaN"},
		"evidence infinite":    {func(m *foiblev1.JudgedCells) { m.Evidence[0] = -inf }, ": a number is -Inf"},
		"samples cut":          {func(m *foiblev1.JudgedCells) { m.Samples = m.Samples[1:] }, ": samples of 3 cells, want 4"},
		"samples negative":     {func(m *foiblev1.JudgedCells) { m.Samples[3] = -1 }, ": -1 samples"},
		"reachability cut": {
			func(m *foiblev1.JudgedCells) { m.UnreachableFrom = []int32{-1, -1, 2} },
			": reachability of 3 goals, want 4 cells of 2 goals",
		},
		"unreachable from nowhere": {
			func(m *foiblev1.JudgedCells) { m.UnreachableFrom = []int32{-1, 1, -1, 1, -1, 1, -1, 3} },
			": a goal unreachable from step 3 of 2",
		},
		"defined after all":   {func(m *foiblev1.JudgedCells) { m.Undefined = m.Undefined[1:] }, ": 10 probabilities, want 6 steps of 2 goals"},
		"undefined at once":   {func(m *foiblev1.JudgedCells) { m.Undefined[0].Undefined.Step = 0 }, ": 3 runs of 0 steps"},
		"undefined too late":  {func(m *foiblev1.JudgedCells) { m.Undefined[0].Undefined.Step = 3 }, ": undefined from step 3 of 2"},
		"undefined too early": {func(m *foiblev1.JudgedCells) { m.Undefined[0].Undefined.Step = -1 }, ": undefined from step -1 of 2"},
		"no reason":           {func(m *foiblev1.JudgedCells) { m.Undefined[1].Undefined.Reason = "" }, ": undefined from step 0 of 2"},
		"undefined twice":     {func(m *foiblev1.JudgedCells) { m.Undefined[1].Cell = 1 }, ": cell 1 of 4 undefined, after cell 1"},
		"undefined beyond":    {func(m *foiblev1.JudgedCells) { m.Undefined[1].Cell = 4 }, ": cell 4 of 4 undefined, after cell 1"},
		"undefined before":    {func(m *foiblev1.JudgedCells) { m.Undefined[0].Cell = -1 }, ": cell -1 of 4 undefined, after cell -1"},
		"undefined nowhere":   {func(m *foiblev1.JudgedCells) { m.Undefined[0].Undefined = nil }, ": cell 1 of 4 undefined, after cell -1"},
	} {
		m := codec.InferResult(judgedJob(), hashesOf(4))
		test.change(m.GetJudged())
		_, err := codec.ReadCells(sent(t, m), shape())
		refused(t, name, err, "stimulus 1-1"+test.want)
		refused(t, name, codec.CheckCells(sent(t, m), shape()), "stimulus 1-1"+test.want)
	}
	m := codec.InferResult(judgedJob(), hashesOf(4))
	m.Cells = []*foiblev1.Cell{{}}
	_, err := codec.ReadCells(sent(t, m), shape())
	refused(t, "both forms", err, "stimulus 1-1: 1 cells besides packed ones")
	empty := &foiblev1.InferResult{Judged: &foiblev1.JudgedCells{Posterior: []float64{0.5, 0.5}}}
	_, err = codec.ReadCells(sent(t, empty), shape())
	refused(t, "numbers of no cell", err, "stimulus 1-1: 2 probabilities, want 0 steps of 2 goals")
}

// ordinary are n cells of 5 goals, 7 judgement steps and 4 runs, and what they are of.
func ordinary(n int) ([]result.Cell, *sweep.Shape) {
	row := []float64{0.2, 0.2, 0.2, 0.2, 0.2}
	rows := slices.Repeat([][]float64{row}, 7)
	one := result.Cell{
		Judged: true, Posterior: rows, Runs: result.RunsOf(rows, rows, rows, rows), Samples: 4096,
		Filter: result.Filter{Evidence: make([]float64, 7)},
	}
	one.Judge(nil)
	return slices.Repeat([]result.Cell{one}, n), &sweep.Shape{Stimulus: "1-1", Goals: 5, Actions: 20, JudgementSteps: []int{0, 3, 6, 9, 12, 15, 18}}
}

// A packed cell is its numbers, its hash, and less than a dozen bytes: 12 bytes a
// probability of 8 and 4 of its runs in single precision, 8 a step.
func TestJudgedCellsAreSmall(t *testing.T) {
	const n = 1024
	cells, _ := ordinary(n)
	m := &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult(cells, hashesOf(n))}}
	size, want := proto.Size(m), n*(5*7*(8+4*4)+7*8+hashing.HashSize+12)
	if size > want {
		t.Errorf("%d bytes, want %d at most", size, want)
	}
}

// To read a packed job takes as much memory at once as its cells need, not a piece a cell.
func TestJudgedCellsAreReadAtOnce(t *testing.T) {
	const n = 1024
	cells, shape := ordinary(n)
	m := codec.InferResult(cells, hashesOf(n))
	for name, read := range map[string]func() error{
		"read":  func() error { _, err := codec.ReadCells(m, shape); return err },
		"check": func() error { return codec.CheckCells(m, shape) },
		"predict": func() error {
			_, err := codec.CellPredictions([]*foiblev1.InferResult{m}, []sweep.Shape{*shape}, n)
			return err
		},
	} {
		var err error
		if allocations := testing.AllocsPerRun(2, func() { err = read() }); err != nil || allocations > 16 {
			t.Errorf("%s: %v allocations, %v", name, allocations, err)
		}
	}
}

// A score job has what its parameter sets predict in either form.
func TestReadScored(t *testing.T) {
	cells := judgedJob()
	shapes := []sweep.Shape{*shape(), *shape()}
	recorded := codec.InferResult(cells, hashesOf(len(cells)))
	judged := &foiblev1.ScoreJob{Scored: make([]*foiblev1.Scored, len(cells)), Judged: []*foiblev1.InferResult{recorded, recorded}}
	unpacked := &foiblev1.InferResult{}
	var one foiblev1.ScoreJob
	want := make([][]result.Prediction, len(cells))
	for i := range cells {
		judged.Scored[i] = &foiblev1.Scored{}
		unpacked.Cells = append(unpacked.Cells, codec.Cell(&cells[i]))
		of := shapes[0].Predict(&cells[i])
		want[i] = []result.Prediction{of, of}
		one.Scored = append(one.Scored, &foiblev1.Scored{Predictions: codec.Predictions(want[i])})
	}
	mixed := &foiblev1.ScoreJob{Scored: judged.Scored, Judged: []*foiblev1.InferResult{recorded, unpacked}}
	for name, m := range map[string]*foiblev1.ScoreJob{"judged": judged, "one of them unpacked": mixed, "one by one": &one} {
		got, err := codec.ReadScored(sent(t, m), shapes)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d sets, %v", name, len(got), err)
		}
		for i := range want { // the hash is of all numbers
			set := model.ParameterSet{Model: "full"}
			if a, b := sweep.ScoreHash("", 1, sweep.Bootstrap{}, &set, got[i]), sweep.ScoreHash("", 1, sweep.Bootstrap{}, &set, want[i]); !slices.Equal(a, b) {
				t.Errorf("%s: set %d: got %+v, want %+v", name, i, got[i], want[i])
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*foiblev1.ScoreJob)
		want   string
	}{
		"a stimulus less": {func(m *foiblev1.ScoreJob) { m.Judged = m.Judged[1:] }, "cells of 1 stimuli, want 2"},
		"a set less":      {func(m *foiblev1.ScoreJob) { m.Scored = m.Scored[1:] }, "stimulus 1-1: 4 cells for 3 parameter sets"},
		"no cells":        {func(m *foiblev1.ScoreJob) { m.Judged[1] = &foiblev1.InferResult{} }, "stimulus 1-1: 0 cells for 4 parameter sets"},
		"NaN":             {func(m *foiblev1.ScoreJob) { m.Judged[1].Judged.Posterior[0] = math.NaN() }, "stimulus 1-1, step 0: probability NaN"},
	} {
		m := sent(t, judged)
		test.change(m)
		_, err := codec.ReadScored(m, shapes)
		refused(t, name, err, test.want)
	}
}
