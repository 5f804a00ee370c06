package main_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// A parameter or a model is one row of a table in core/sweep, and what means it elsewhere. Where that is missing, this
// test says so.
func TestParametersAreComplete(t *testing.T) {
	models, err := os.ReadFile("docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile("docs/reference/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	messages := []protoreflect.ProtoMessage{&foiblev1.ModelConfig{}, &foiblev1.ParameterSet{}, &foiblev1.ParameterColumns{}}
	for _, axis := range model.Axes {
		for _, m := range messages {
			d := m.ProtoReflect().Descriptor()
			if d.Fields().ByName(protoreflect.Name(axis.Name)) == nil {
				t.Errorf("%s: the message %s in sweep.proto has no such field", axis.Name, d.Name())
			}
		}
		if axis.Symbol == "" || axis.Meaning == "" || len(axis.Default) == 0 {
			t.Errorf("%s: its row has no symbol, meaning or default", axis.Name)
		}
		if err := survives(axis); err != nil {
			t.Errorf("%s: proto/codec: %v", axis.Name, err)
		}
		if fits := slices.IndexFunc(tabular.Tables, func(t tabular.Table) bool { return t.Name == "fits" }); !slices.Contains(tabular.Tables[fits].Columns, axis.Name) {
			t.Errorf("%s: fits.csv has no such column (core/tabular/schema.go)", axis.Name)
		}
		for page, text := range map[string][]byte{"docs/models.md": models, "docs/reference/sweep.md": reference} {
			if !strings.Contains(string(text), axis.Name+"`") {
				t.Errorf("%s: %s does not explain it", axis.Name, page)
			}
		}
		if !slices.ContainsFunc(model.Models, func(m model.Model) bool { return m.Has(axis.Name) }) {
			t.Errorf("%s: no model has it", axis.Name)
		}
	}
	for _, m := range model.Models {
		if m.Meaning == "" || !strings.Contains(string(models), "`"+m.Name+"`") {
			t.Errorf("%s: its row has no meaning, or docs/models.md does not explain it", m.Name)
		}
		for _, axis := range m.Axes {
			if _, ok := model.AxisByName(axis); !ok {
				t.Errorf("%s: no parameter %s", m.Name, axis)
			}
		}
	}
}

// survives sends each default of a parameter through messages and back.
func survives(axis model.Axis) error {
	for _, m := range model.Models {
		if !m.Has(axis.Name) {
			continue
		}
		for _, value := range axis.Default {
			set := model.ParameterSet{Model: m.Name}
			for _, name := range m.Axes {
				other, _ := model.AxisByName(name)
				set.Set(name, other.Default[0])
			}
			set.Set(axis.Name, value)
			read, err := codec.ReadParameterSet(codec.ParameterSet(&set))
			if err != nil {
				return err
			}
			if got, _ := read.Get(axis.Name); got != value {
				return fmt.Errorf("%s of %s comes back as %s", value, m.Name, got)
			}
		}
	}
	return nil
}
