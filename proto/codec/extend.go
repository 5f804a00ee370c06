package codec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Extend is a configuration with more values of axes, by model. The values that
// an axis has, its defaults if it names none, keep their order. New ones take
// their place among numbers that ascend, else they come last; so the parameter
// sets of the configuration keep their order too.
func Extend(m *foiblev1.SweepConfig, more map[string]*foiblev1.ModelConfig) (*foiblev1.SweepConfig, error) {
	m = proto.CloneOf(m)
	for name, added := range more {
		named := m.GetModels()[name]
		if named == nil {
			m.Models[name] = added // a configuration has models
			continue
		}
		has := axes(named)
		for name, values := range axes(added) {
			if len(has[name]) == 0 {
				axis, _ := model.AxisByName(name)
				has[name] = axis.Default
			}
			setAxis(named, name, union(has[name], values))
		}
	}
	_, err := Config(m)
	return m, err
}

// union adds settings to those that there are.
func union(has, more []model.Setting) []model.Setting {
	byNumber := func(a, b model.Setting) int { return cmp.Compare(a.Number, b.Number) }
	ascending := slices.IsSortedFunc(has, byNumber)
	all := slices.Clone(has)
	for _, v := range more {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if ascending { // words have equal numbers, and stay
		slices.SortStableFunc(all, byNumber)
	}
	return all
}

// setAxis replaces the values of an axis; see axes.
func setAxis(m *foiblev1.ModelConfig, name string, values []model.Setting) {
	r := m.ProtoReflect()
	field := r.Descriptor().Fields().ByTextName(name)
	list := r.NewField(field).List()
	for _, v := range values {
		switch field.Kind() {
		case protoreflect.StringKind:
			list.Append(protoreflect.ValueOfString(v.Word))
		case protoreflect.Int32Kind:
			list.Append(protoreflect.ValueOfInt32(int32(v.Number)))
		default:
			list.Append(protoreflect.ValueOfFloat64(v.Number))
		}
	}
	r.Set(field, protoreflect.ValueOfList(list))
}

// SetAxis gives an axis of a model the values that a user wrote.
func SetAxis(m *foiblev1.ModelConfig, name string, texts []string) error {
	axis, ok := model.AxisByName(name)
	if !ok {
		return fmt.Errorf("unknown axis %q; there are %s", name, words.Options(name, model.AxisNames()))
	}
	values := make([]model.Setting, len(texts))
	for i, text := range texts {
		v := &values[i]
		if len(axis.Words) > 0 {
			v.Word = text
		} else {
			var err error
			if v.Number, err = strconv.ParseFloat(text, 64); err != nil {
				return fmt.Errorf("%q is not a number", text)
			}
		}
		if err := axis.Check(*v); err != nil {
			return err
		}
	}
	setAxis(m, name, values)
	return nil
}
