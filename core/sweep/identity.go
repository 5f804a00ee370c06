package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
)

// CellHash identifies a cell: what was computed, of what, how, from which seed.
func CellHash(studyHash, stimulus string, seed uint64, p Procedure, set *model.ParameterSet) []byte {
	return NewCellHash(studyHash, stimulus, seed, p).Of(set)
}

// CellHasher makes the hashes of cells that differ only in their parameters.
// Not safe for concurrent use.
type CellHasher struct {
	before []byte // length-prefixed parts that all share; the rest of its memory is for the others
	set    model.Text
}

// NewCellHash is ready for parameter sets.
func NewCellHash(studyHash, stimulus string, seed uint64, p Procedure) *CellHasher {
	h := &CellHasher{}
	for _, part := range [][]byte{[]byte("cell"), []byte(studyHash), []byte(stimulus), fmt.Append(nil, seed), []byte(p.String())} {
		h.before = hashing.AppendPart(h.before, part)
	}
	return h
}

// Of is the [CellHash] of a parameter set.
func (h *CellHasher) Of(set *model.ParameterSet) []byte { return h.Append(nil, set) }

// Append appends the [CellHash] of a parameter set, of HashSize bytes.
func (h *CellHasher) Append(b []byte, set *model.ParameterSet) []byte {
	all := hashing.AppendPart(h.before, h.set.Of(set))
	h.before = all[:len(h.before)]
	sum := sha256.Sum256(all)
	return append(b, sum[:]...)
}

// ScoreHash identifies a fit: what was scored, against what, with which resamples.
func ScoreHash(studyHash string, seed uint64, b Bootstrap, set *model.ParameterSet, predictions []result.Prediction) []byte {
	return NewScoreHash(studyHash, seed, b).Of(set, predictions)
}

// ScoreHasher makes the hashes of fits that differ in their parameters and
// predictions only. Not safe for concurrent use.
type ScoreHasher struct {
	before []byte // length-prefixed parts that all share; the rest of its memory is for the others
	set    model.Text
}

// NewScoreHash is ready for parameter sets.
func NewScoreHash(studyHash string, seed uint64, b Bootstrap) *ScoreHasher {
	h := &ScoreHasher{}
	for _, part := range [][]byte{[]byte("score"), []byte(studyHash), fmt.Appendf(nil, "seed=%d bootstrap=%d %v", seed, b.Resamples, b.Units)} {
		h.before = hashing.AppendPart(h.before, part)
	}
	return h
}

// Of is the [ScoreHash] of what a parameter set predicts.
func (h *ScoreHasher) Of(set *model.ParameterSet, predictions []result.Prediction) []byte {
	all := hashing.AppendPart(h.before, h.set.Of(set))
	for i := range predictions {
		p := &predictions[i]
		at := len(all)
		all = strconv.AppendBool(binary.LittleEndian.AppendUint64(all, 0), p.Undefined)
		if p.Failed {
			all = append(all, " failed"...)
		}
		all = binary.LittleEndian.AppendUint64(all, uint64(len(p.Rows)))
		for _, row := range p.Rows {
			all = hashing.AppendBytes(all, row)
		}
		for run := range p.Runs.Len() {
			all = binary.LittleEndian.AppendUint64(all, uint64(p.Runs.Rows()))
			all = p.Runs.AppendBytes(all, run)
		}
		binary.LittleEndian.PutUint64(all[at:], uint64(len(all)-at-8))
	}
	h.before = all[:len(h.before)]
	sum := sha256.Sum256(all)
	return sum[:]
}

// ID names a sweep computed by a version of Foible: equal ids, equal results.
// It is short enough to type.
func (c *Resolved) ID(studyHash, version string) string {
	parts := [][]byte{
		[]byte("sweep"), []byte(studyHash), []byte(version), fmt.Append(nil, c.Seed),
		[]byte(c.Procedure(FitStage).String()), []byte(c.Procedure(ReportStage).String()), fmt.Appendf(nil, "%+v", c.Bootstrap),
	}
	if c.TopUp > 1 {
		parts = append(parts, fmt.Appendf(nil, "top_up=%d", c.TopUp))
	}
	for i := range c.Sets {
		parts = append(parts, []byte(c.Sets[i].String()))
	}
	return hex.EncodeToString(hashing.Hash(parts...)[:5])
}
