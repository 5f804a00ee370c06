package codec

import (
	"fmt"
	"iter"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// InferResult is the message of a job's cells, with their hashes end to end: packed where
// each of them fits, see [foiblev1.JudgedCells].
func InferResult(cells []result.Cell, hashes []byte) *foiblev1.InferResult {
	if packs(cells) {
		m := pack(cells)
		m.CellHashes = hashes
		return &foiblev1.InferResult{Judged: m}
	}
	m := &foiblev1.InferResult{Cells: make([]*foiblev1.Cell, len(cells))}
	for i := range cells {
		m.Cells[i] = Cell(&cells[i])
		m.Cells[i].CellHash = take(&hashes, hashing.HashSize)
	}
	return m
}

// packs says whether cells have nothing for which a packed message has no room.
func packs(cells []result.Cell) bool {
	var evidence, reach bool // some cell has it
	for i := range cells {
		c := &cells[i]
		evidence = evidence || c.Evidence != nil
		reach = reach || c.UnreachableFrom != nil
	}
	for i := range cells {
		c := &cells[i]
		switch {
		case !c.Judged, c.SE != nil, c.ESS != nil, c.Alive != nil, c.FailedRuns != 0, c.LogEvidence != nil, c.Mistakes != nil,
			evidence && len(c.Evidence) != len(c.Posterior),
			reach && c.UnreachableFrom == nil,
			c.Runs.Len() > 0 && c.Runs.Rows() != len(c.Posterior):
			return false
		}
	}
	return len(cells) > 0
}

func pack(cells []result.Cell) *foiblev1.JudgedCells {
	m := &foiblev1.JudgedCells{}
	var posterior, evidence, numbers int
	runs, samples := false, false // some cell has them
	for i := range cells {
		c := &cells[i]
		if n := len(c.Posterior); n > 0 {
			posterior += n * len(c.Posterior[0])
		}
		evidence += len(c.Evidence)
		numbers += len(c.Runs.Short())
		runs, samples = runs || c.Runs.Len() > 0, samples || c.Samples != 0
	}
	m.Posterior, m.Evidence = make([]float64, 0, posterior), make([]float64, 0, evidence)
	m.ShortRuns = make([]float32, 0, numbers)
	for i := range cells {
		c := &cells[i]
		for _, row := range c.Posterior {
			m.Posterior = append(m.Posterior, row...)
		}
		m.Evidence = append(m.Evidence, c.Evidence...)
		m.ShortRuns = append(m.ShortRuns, c.Runs.Short()...)
		if runs {
			m.Runs = append(m.Runs, int32(c.Runs.Len()))
		}
		if samples {
			m.Samples = append(m.Samples, int32(c.Samples))
		}
		for _, step := range c.UnreachableFrom {
			m.UnreachableFrom = append(m.UnreachableFrom, int32(step))
		}
		if u := c.Undefined; u != nil {
			m.Undefined = append(m.Undefined, &foiblev1.UndefinedCell{
				Cell: int32(i), Undefined: undefined(u),
			})
		}
	}
	return m
}

// CellCount is the number of cells of a message.
func CellCount(m *foiblev1.InferResult) int {
	if j := m.GetJudged(); j != nil {
		return len(j.GetCellHashes()) / hashing.HashSize
	}
	return len(m.GetCells())
}

// CellHash is the hash of a cell of a message.
func CellHash(m *foiblev1.InferResult, i int) []byte {
	if j := m.GetJudged(); j != nil {
		return j.GetCellHashes()[i*hashing.HashSize : (i+1)*hashing.HashSize]
	}
	return m.GetCells()[i].GetCellHash()
}

// CellJudged says whether a cell of a message has rows of judgement steps only.
func CellJudged(m *foiblev1.InferResult, i int) bool {
	return m.GetJudged() != nil || m.GetCells()[i].GetJudged()
}

// FailedCells are the cells of a message that could not be computed, by their places, and why.
func FailedCells(m *foiblev1.InferResult) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for _, cell := range m.GetJudged().GetUndefined() {
			if u := cell.GetUndefined(); u.GetFailed() && !yield(int(cell.GetCell()), u.GetReason()) {
				return
			}
		}
		for i, c := range m.GetCells() {
			if u := c.GetUndefined(); u.GetFailed() && !yield(i, u.GetReason()) {
				return
			}
		}
	}
}

// ReadCells are the cells of a message, packed or not; each must fit the stimulus
// as in [ReadCell].
func ReadCells(m *foiblev1.InferResult, shape *sweep.Shape) ([]result.Cell, error) {
	if CellCount(m) == 0 {
		return nil, CheckCells(m, shape)
	}
	cells := make([]result.Cell, CellCount(m))
	if err := eachCell(m, shape, func(i int, c *result.Cell) { cells[i] = *c }); err != nil {
		return nil, err
	}
	return cells, nil
}

// VisitCells calls a function with each cell of a message, which is good until it returns. The error says why the cells
// cannot be read.
func VisitCells(m *foiblev1.InferResult, shape *sweep.Shape, visit func(int, *result.Cell)) error {
	return eachCell(m, shape, visit)
}

// CheckCells says why cells of a message cannot be read; nil if they can.
func CheckCells(m *foiblev1.InferResult, shape *sweep.Shape) error {
	return eachCell(m, shape, func(int, *result.Cell) {})
}

// eachCell calls a function with the cells of a message, each valid until it
// returns; its numbers remain.
func eachCell(m *foiblev1.InferResult, shape *sweep.Shape, do func(int, *result.Cell)) error {
	if err := readCells(m, shape, do); err != nil {
		return fmt.Errorf("stimulus %s%w", shape.Stimulus, err)
	}
	return nil
}

// readCells returns an error that begins with what comes after the stimulus.
func readCells(m *foiblev1.InferResult, shape *sweep.Shape, do func(int, *result.Cell)) error {
	var c result.Cell
	if m.GetJudged() == nil {
		var none room
		for i, one := range m.GetCells() {
			c = result.Cell{}
			if err := readCell(one, shape, &none, &c); err != nil {
				return err
			}
			do(i, &c)
		}
		return nil
	}
	if n := len(m.GetCells()); n > 0 {
		return fmt.Errorf(": %d cells besides packed ones", n)
	}
	return readJudged(m.GetJudged(), shape, CellCount(m), do)
}

// readJudged takes n cells of a packed message apart.
func readJudged(m *foiblev1.JudgedCells, shape *sweep.Shape, n int, do func(int, *result.Cell)) error {
	steps, err := judgedSteps(m, shape, n)
	if err != nil {
		return err
	}
	if err := checkLengths(m, shape, steps); err != nil {
		return err
	}
	room := room{rows: make([][]float64, len(m.GetPosterior())/shape.Goals)}
	posterior, runs, evidence, unreachable, undefined := m.GetPosterior(), m.GetShortRuns(), m.GetEvidence(), m.GetUnreachableFrom(), m.GetUndefined()
	one := foiblev1.Cell{Judged: true}
	var c result.Cell
	for i := range n {
		one.Posterior = take(&posterior, steps[i]*shape.Goals)
		if len(m.GetEvidence()) > 0 {
			one.Evidence = take(&evidence, steps[i])
		}
		if len(m.GetRuns()) > 0 {
			one.ShortRuns = take(&runs, int(m.GetRuns()[i])*steps[i]*shape.Goals)
		}
		if len(m.GetSamples()) > 0 {
			one.Samples = m.GetSamples()[i]
		}
		if len(m.GetUnreachableFrom()) > 0 {
			one.UnreachableFrom = take(&unreachable, shape.Goals)
		}
		one.Undefined = nil
		if len(undefined) > 0 && int(undefined[0].GetCell()) == i {
			one.Undefined, undefined = undefined[0].GetUndefined(), undefined[1:]
		}
		c = result.Cell{}
		if err := readCell(&one, shape, &room, &c); err != nil {
			return err
		}
		do(i, &c)
	}
	return nil
}

// judgedSteps are the numbers of judgement steps at which each of n packed cells has a posterior.
func judgedSteps(m *foiblev1.JudgedCells, shape *sweep.Shape, n int) ([]int, error) {
	all := make([]int, n)
	for i := range all {
		all[i] = len(shape.JudgementSteps)
	}
	last := -1
	for _, u := range m.GetUndefined() {
		at := int(u.GetCell())
		if at <= last || at >= n || u.GetUndefined() == nil {
			return nil, fmt.Errorf(": cell %d of %d undefined, after cell %d", at, n, last)
		}
		steps, err := definedSteps(u.GetUndefined(), shape)
		if err != nil {
			return nil, err
		}
		all[at], last = judgedBefore(steps, shape), at
	}
	return all, nil
}

// checkLengths says what is wrong with the lengths of a packed message of cells that have a posterior at a number of steps.
func checkLengths(m *foiblev1.JudgedCells, shape *sweep.Shape, steps []int) error {
	n := len(steps)
	if size := len(m.GetCellHashes()); size != n*hashing.HashSize {
		return fmt.Errorf(": %d bytes of hashes, of %d bytes each", size, hashing.HashSize)
	}
	if k := len(m.GetRuns()); k != 0 && k != n {
		return fmt.Errorf(": numbers of runs of %d cells, want %d", k, n)
	}
	if k := len(m.GetSamples()); k != 0 && k != n {
		return fmt.Errorf(": samples of %d cells, want %d", k, n)
	}
	if k := len(m.GetUnreachableFrom()); k != 0 && k != n*shape.Goals {
		return fmt.Errorf(": reachability of %d goals, want %d cells of %d goals", k, n, shape.Goals)
	}
	rows, numbers := 0, 0
	for i, of := range steps {
		rows += of
		if len(m.GetRuns()) == 0 {
			continue
		}
		runs := int(m.GetRuns()[i])
		if runs < 0 || runs > sweep.MaxRuns || runs > 0 && of == 0 {
			return fmt.Errorf(": %d runs of %d steps", runs, of)
		}
		numbers += runs * of * shape.Goals
	}
	if k := len(m.GetPosterior()); k != rows*shape.Goals {
		return fmt.Errorf(": %d probabilities, want %d steps of %d goals", k, rows, shape.Goals)
	}
	if k := len(m.GetEvidence()); k != 0 && k != rows {
		return fmt.Errorf(": evidence of %d steps, want %d", k, rows)
	}
	if k := len(m.GetShortRuns()); k != numbers {
		return fmt.Errorf(": %d probabilities of runs, want %d", k, numbers)
	}
	return nil
}

// CellPredictions are what the recorded cells of a number of parameter sets predict, [set][stimulus];
// recorded has those of each stimulus.
func CellPredictions(recorded []*foiblev1.InferResult, shapes []sweep.Shape, sets int) ([][]result.Prediction, error) {
	if len(recorded) != len(shapes) {
		return nil, fmt.Errorf("cells of %d stimuli, want %d", len(recorded), len(shapes))
	}
	predictions := make([][]result.Prediction, sets)
	for i, all := 0, make([]result.Prediction, sets*len(shapes)); i < sets; i++ {
		predictions[i] = take(&all, len(shapes))
	}
	for i, m := range recorded {
		if n := CellCount(m); n != sets {
			return nil, fmt.Errorf("stimulus %s: %d cells for %d parameter sets", shapes[i].Stimulus, n, sets)
		}
		if err := eachCell(m, &shapes[i], func(j int, c *result.Cell) { predictions[j][i] = shapes[i].Predict(c) }); err != nil {
			return nil, err
		}
	}
	return predictions, nil
}

// ReadScored are what the parameter sets of a score job say, [set][stimulus].
func ReadScored(m *foiblev1.ScoreJob, shapes []sweep.Shape) ([][]result.Prediction, error) {
	if len(m.GetJudged()) > 0 {
		return CellPredictions(m.GetJudged(), shapes, len(m.GetScored()))
	}
	goals := make([]int, len(shapes))
	for i := range goals {
		goals[i] = shapes[i].Goals
	}
	predictions := make([][]result.Prediction, len(m.GetScored()))
	for i, one := range m.GetScored() {
		var err error
		if predictions[i], err = ReadPredictions(one.GetPredictions(), goals); err != nil {
			return nil, err
		}
	}
	return predictions, nil
}
