package model

import (
	"math"
)

// Text is the canonical form of one parameter set after another. In a grid, one has
// most of what the one before it has.
type Text struct {
	last    ParameterSet
	text    []byte
	ends    []int             // in text: of the model's name, and of each axis
	numbers map[uint64]string // by their bits: those of a grid are few, and writing one is slow
}

// Of is good until the next call.
func (t *Text) Of(set *ParameterSet) []byte {
	model := Find(set.Model)
	if model == nil {
		return set.append(nil)
	}
	if len(t.ends) == 0 || set.Model != t.last.Model {
		t.text = append(append(t.text[:0], set.Model...), ' ')
		t.ends = append(t.ends[:0], len(t.text))
	}
	for i, name := range model.Axes {
		slot := FindAxis(name).slot
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

func (t *Text) setting(v Setting) string {
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
