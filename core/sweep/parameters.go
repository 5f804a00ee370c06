package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// Parameters has one field for every axis; a model uses its own ones alone and
// the others are zero.
type Parameters struct {
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

func compareSettings(a, b Setting) int {
	return cmp.Or(cmp.Compare(a.Word, b.Word), cmp.Compare(a.Number, b.Number))
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

// CellHash identifies a cell: what was computed, of what, from which seed.
func CellHash(studyHash, stimulus string, seed uint64, runs int, set *ParameterSet) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(runs))
	return Hash([]byte("cell"), []byte(studyHash), []byte(stimulus), b[:], []byte(set.String()))
}
