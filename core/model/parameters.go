package model

import (
	"strconv"
)

// Parameters has one field for every axis; a model uses only its own and
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
	model, a := Find(s.Model), FindAxis(axis)
	if model == nil || a == nil || !model.Has(axis) {
		return Setting{}, false
	}
	return *a.slot(&s.Parameters), true
}

// Has says whether the model of a parameter set has an axis.
func (s *ParameterSet) Has(axis string) bool {
	model := Find(s.Model)
	return model != nil && model.Has(axis)
}

// Set gives an axis its setting; the axis must exist.
func (s *ParameterSet) Set(axis string, to Setting) {
	a := FindAxis(axis)
	if a == nil {
		panic("model: no axis " + axis)
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
	model := Find(s.Model)
	if model == nil {
		return b
	}
	for i, axis := range model.Axes {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, axis...), '=')
		b = FindAxis(axis).slot(&s.Parameters).append(b)
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
