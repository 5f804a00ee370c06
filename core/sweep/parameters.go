package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Parameters has one field for every axis; a model uses its own ones alone and
// the others are zero.
type Parameters struct {
	GoalNoise        Setting
	BudgetR          Setting
	BudgetQ          Setting
	SearchNoise      Setting
	ActionNoise      Setting
	Alpha            Setting
	Value            Setting
	UnreachableValue Setting
}

// ParameterSet is one point of a model's grid.
type ParameterSet struct {
	Model string
	Parameters
}

// Get is the setting of an axis, and whether the model has that axis.
func (s *ParameterSet) Get(axis string) (Setting, bool) {
	model, a := modelOf(s.Model), axisOf(axis)
	if model == nil || a == nil || !model.Has(axis) {
		return Setting{}, false
	}
	return *a.slot(&s.Parameters), true
}

// Has says whether the model of a parameter set has an axis.
func (s *ParameterSet) Has(axis string) bool {
	model := modelOf(s.Model)
	return model != nil && model.Has(axis)
}

// Set gives an axis its setting; the axis must exist.
func (s *ParameterSet) Set(axis string, to Setting) {
	a := axisOf(axis)
	if a == nil {
		panic("sweep: no axis " + axis)
	}
	*a.slot(&s.Parameters) = to
}

// String is the canonical form, e.g. "boltzmann alpha=0.5 value=optimal
// unreachable_value=-1000": equal strings, equal parameters.
func (s *ParameterSet) String() string { return string(s.append(nil)) }

// Settings is the canonical form without the model.
func (s *ParameterSet) Settings() string { return string(s.appendSettings(nil)) }

func (s *ParameterSet) append(b []byte) []byte {
	return s.appendSettings(append(append(b, s.Model...), ' '))
}

func (s *ParameterSet) appendSettings(b []byte) []byte {
	model := modelOf(s.Model)
	if model == nil {
		return b
	}
	for i, axis := range model.Axes {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, axis...), '=')
		b = axisOf(axis).slot(&s.Parameters).append(b)
	}
	return b
}

// String is the word, or the shortest decimal that reads back as the number.
func (v Setting) String() string { return string(v.append(nil)) }

func (v Setting) append(b []byte) []byte {
	if v.Word != "" {
		return append(b, v.Word...)
	}
	return strconv.AppendFloat(b, v.Number, 'g', -1, 64)
}

// HashSize is the length of a hash, in bytes.
const HashSize = sha256.Size

// Hash is SHA-256 over length-prefixed parts: the echo by which a coordinator
// knows that a result answers the question that it asked.
func Hash(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = appendPart(all, part)
	}
	sum := sha256.Sum256(all)
	return sum[:]
}

func appendPart(b, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(part))), part...)
}

// CellHash identifies a cell: what was computed, of what, how, from which seed.
func CellHash(studyHash, stimulus string, seed uint64, p Procedure, set *ParameterSet) []byte {
	return NewCellHash(studyHash, stimulus, seed, p).Of(set)
}

// CellHasher makes the hashes of cells that differ in their parameters alone.
// Not safe for concurrent use.
type CellHasher struct {
	before []byte // length-prefixed parts that all share; the rest of its memory is for the others
	set    setText
}

// NewCellHash is ready for parameter sets.
func NewCellHash(studyHash, stimulus string, seed uint64, p Procedure) *CellHasher {
	h := &CellHasher{}
	for _, part := range [][]byte{[]byte("cell"), []byte(studyHash), []byte(stimulus), fmt.Append(nil, seed), []byte(p.String())} {
		h.before = appendPart(h.before, part)
	}
	return h
}

// Of is the [CellHash] of a parameter set.
func (h *CellHasher) Of(set *ParameterSet) []byte { return h.Append(nil, set) }

// Append appends the [CellHash] of a parameter set, of HashSize bytes.
func (h *CellHasher) Append(b []byte, set *ParameterSet) []byte {
	all := appendPart(h.before, h.set.of(set))
	h.before = all[:len(h.before)]
	sum := sha256.Sum256(all)
	return append(b, sum[:]...)
}

// setText is the canonical form of one parameter set after another. In a grid, one has
// most of what the one before it has.
type setText struct {
	last    ParameterSet
	text    []byte
	ends    []int             // in text: of the model's name, and of each axis
	numbers map[uint64]string // by their bits: those of a grid are few, and writing one is slow
}

// of is good until the next call.
func (t *setText) of(set *ParameterSet) []byte {
	model := modelOf(set.Model)
	if model == nil {
		return set.append(nil)
	}
	if len(t.ends) == 0 || set.Model != t.last.Model {
		t.text = append(append(t.text[:0], set.Model...), ' ')
		t.ends = append(t.ends[:0], len(t.text))
	}
	for i, name := range model.Axes {
		slot := axisOf(name).slot
		now, before := slot(&set.Parameters), slot(&t.last.Parameters)
		if len(t.ends) > i+1 {
			if now.Word == before.Word && math.Float64bits(now.Number) == math.Float64bits(before.Number) {
				continue
			}
			t.text, t.ends = t.text[:t.ends[i]], t.ends[:i+1]
		}
		if i > 0 {
			t.text = append(t.text, ' ')
		}
		t.text = append(append(t.text, name...), '=')
		t.text = append(t.text, t.setting(*now)...)
		t.ends = append(t.ends, len(t.text))
	}
	t.last = *set
	return t.text
}

func (t *setText) setting(v Setting) string {
	if v.Word != "" {
		return v.Word
	}
	bits := math.Float64bits(v.Number)
	text, known := t.numbers[bits]
	if !known {
		if t.numbers == nil {
			t.numbers = map[uint64]string{}
		}
		text = v.String()
		t.numbers[bits] = text
	}
	return text
}

// ID names a sweep computed by a version of Foible: equal ids, equal results.
// It is short enough to type.
func (c *Config) ID(studyHash, version string, sets []ParameterSet) string {
	parts := [][]byte{
		[]byte("sweep"), []byte(studyHash), []byte(version), fmt.Append(nil, c.Seed),
		[]byte(c.Procedure(FitStage).String()), []byte(c.Procedure(ReportStage).String()), fmt.Appendf(nil, "%+v", c.Bootstrap),
	}
	if c.TopUp > 1 {
		parts = append(parts, fmt.Appendf(nil, "top_up=%d", c.TopUp))
	}
	for i := range sets {
		parts = append(parts, []byte(sets[i].String()))
	}
	return hex.EncodeToString(Hash(parts...)[:5])
}

// Prediction is what a parameter set says about one stimulus at its judgement
// steps: [judgement step][goal], without the ones that have no posterior.
type Prediction struct {
	Rows      [][]float64
	Undefined bool // some step has no posterior
	Failed    bool // because the cell could not be computed
	// Runs are the posteriors of single runs, with the rows of Rows; fewer than two
	// say nothing of the Monte-Carlo error.
	Runs Runs
}

// Predict takes the judgement steps out of a cell.
func (s *Shape) Predict(c *Cell) Prediction {
	p := Prediction{Rows: c.Posterior, Undefined: c.Undefined != nil, Failed: c.Failed(), Runs: c.Runs}
	if !c.Judged {
		p.Rows = rows(c.Posterior, s.JudgementSteps)
	}
	return p
}

// ScoreHash identifies a fit: what was scored, against what, with which resamples.
func ScoreHash(studyHash string, seed uint64, b Bootstrap, set *ParameterSet, predictions []Prediction) []byte {
	return NewScoreHash(studyHash, seed, b).Of(set, predictions)
}

// ScoreHasher makes the hashes of fits that differ in their parameters and
// predictions alone. Not safe for concurrent use.
type ScoreHasher struct {
	before []byte // length-prefixed parts that all share; the rest of its memory is for the others
	set    setText
}

// NewScoreHash is ready for parameter sets.
func NewScoreHash(studyHash string, seed uint64, b Bootstrap) *ScoreHasher {
	h := &ScoreHasher{}
	for _, part := range [][]byte{[]byte("score"), []byte(studyHash), fmt.Appendf(nil, "seed=%d bootstrap=%d %v", seed, b.Resamples, b.Units)} {
		h.before = appendPart(h.before, part)
	}
	return h
}

// Of is the [ScoreHash] of what a parameter set predicts.
func (h *ScoreHasher) Of(set *ParameterSet, predictions []Prediction) []byte {
	all := appendPart(h.before, h.set.of(set))
	for i := range predictions {
		p := &predictions[i]
		at := len(all)
		all = strconv.AppendBool(binary.LittleEndian.AppendUint64(all, 0), p.Undefined)
		if p.Failed {
			all = append(all, " failed"...)
		}
		all = binary.LittleEndian.AppendUint64(all, uint64(len(p.Rows)))
		for _, row := range p.Rows {
			all = appendBytes(all, row)
		}
		for run := range p.Runs.Len() {
			all = binary.LittleEndian.AppendUint64(all, uint64(p.Runs.Rows()))
			all = p.Runs.appendBytes(all, run)
		}
		binary.LittleEndian.PutUint64(all[at:], uint64(len(all)-at-8))
	}
	h.before = all[:len(h.before)]
	sum := sha256.Sum256(all)
	return sum[:]
}

// appendBytes appends numbers in double precision, little-endian.
func appendBytes[T float32 | float64](b []byte, xs []T) []byte {
	at := len(b)
	b = slices.Grow(b, 8*len(xs))[:at+8*len(xs)]
	for i, x := range xs {
		binary.LittleEndian.PutUint64(b[at+8*i:], math.Float64bits(float64(x)))
	}
	return b
}
