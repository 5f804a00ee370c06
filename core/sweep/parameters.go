package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	model, _ := ModelByName(s.Model)
	a, ok := AxisByName(axis)
	if !ok || !slices.Contains(model.Axes, axis) {
		return Setting{}, false
	}
	return *a.slot(&s.Parameters), true
}

// Set gives an axis its setting; the axis must exist.
func (s *ParameterSet) Set(axis string, to Setting) {
	a, ok := AxisByName(axis)
	if !ok {
		panic("sweep: no axis " + axis)
	}
	*a.slot(&s.Parameters) = to
}

// String is the canonical form, e.g. "boltzmann alpha=0.5 value=optimal
// unreachable_value=-1000": equal strings, equal parameters.
func (s *ParameterSet) String() string {
	return s.Model + " " + s.Settings()
}

// Settings is the canonical form without the model.
func (s *ParameterSet) Settings() string {
	model, _ := ModelByName(s.Model)
	parts := make([]string, len(model.Axes))
	for i, axis := range model.Axes {
		setting, _ := s.Get(axis)
		parts[i] = axis + "=" + setting.String()
	}
	return strings.Join(parts, " ")
}

// String is the word, or the shortest decimal that reads back as the number.
func (v Setting) String() string {
	if v.Word != "" {
		return v.Word
	}
	return strconv.FormatFloat(v.Number, 'g', -1, 64)
}

// Hash is SHA-256 over length-prefixed parts: the echo by which a coordinator
// knows that a result answers the question that it asked.
func Hash(parts ...[]byte) []byte {
	h := sha256.New()
	var n [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return h.Sum(nil)
}

// CellHash identifies a cell: what was computed, of what, how, from which seed.
func CellHash(studyHash, stimulus string, seed uint64, p Procedure, set *ParameterSet) []byte {
	return Hash([]byte("cell"), []byte(studyHash), []byte(stimulus), fmt.Append(nil, seed), []byte(p.String()), []byte(set.String()))
}

// ID names a sweep computed by a version of Foible: equal ids, equal results.
// It is short enough to type.
func (c *Config) ID(studyHash, version string, sets []ParameterSet) string {
	parts := [][]byte{
		[]byte("sweep"), []byte(studyHash), []byte(version), fmt.Append(nil, c.Seed),
		[]byte(c.Procedure(FitStage).String()), []byte(c.Procedure(ReportStage).String()), fmt.Appendf(nil, "%+v", c.Bootstrap),
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
	// Runs are the posteriors of single runs, [run][judgement step][goal], each
	// as complete as Rows; fewer than two say nothing of the Monte-Carlo error.
	Runs [][][]float64
}

// Predict takes the judgement steps out of a cell.
func (s *Shape) Predict(c *Cell) Prediction {
	p := Prediction{Rows: c.Posterior, Undefined: c.Undefined != nil}
	if !c.Judged {
		p.Rows = rows(c.Posterior, s.JudgementSteps)
	}
	for _, run := range c.Runs {
		if len(run) >= len(p.Rows) {
			p.Runs = append(p.Runs, run[:len(p.Rows)])
		}
	}
	return p
}

// ScoreHash identifies a fit: what was scored, against what, with which resamples.
func ScoreHash(studyHash string, seed uint64, b Bootstrap, set *ParameterSet, predictions []Prediction) []byte {
	parts := [][]byte{[]byte("score"), []byte(studyHash), fmt.Appendf(nil, "seed=%d bootstrap=%d %v", seed, b.Resamples, b.Units), []byte(set.String())}
	for _, p := range predictions {
		bits := strconv.AppendBool(nil, p.Undefined)
		for _, rows := range append([][][]float64{p.Rows}, p.Runs...) {
			bits = binary.LittleEndian.AppendUint64(bits, uint64(len(rows)))
			for _, row := range rows {
				for _, x := range row {
					bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(x))
				}
			}
		}
		parts = append(parts, bits)
	}
	return Hash(parts...)
}
