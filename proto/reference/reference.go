// Package reference makes a reference of study.yaml and sweep.yaml from the
// comments and rules of their .proto files, so that it is always that of the program.
//
// Read [Documents] first.
package reference

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/bufbuild/protocompile"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"foible.dev/foible/core/model"
	"foible.dev/foible/proto"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Document is a file that users write.
type Document struct {
	Name  string // of the file
	About string
	// Fields in their order; those of a nested message follow it.
	Fields []Field
}

// Field is a key of a document.
type Field struct {
	Path  string // keys from the top, joined by dots; NAME stands for a key of the user's choice, [] for an element of a list
	Type  string // in words
	Rules string // what its values must be; "" if any will do
	About string
}

// documents are the messages that files are read into.
var documents = []struct {
	name, about string
	message     protobuf.Message
}{
	{
		"study.yaml", "The files of a study, and facts about the experiment. File names are relative to the directory of study.yaml; `{stimulus}` stands for the id of a stimulus.",
		(*foiblev1.Study)(nil),
	},
	{
		"sweep.yaml", "The models and parameters to try, and how to infer and to score. Everything but `models` has a default.",
		(*foiblev1.SweepConfig)(nil),
	},
}

// Documents returns all documents. The error is of .proto files that cannot be read.
func Documents() ([]Document, error) {
	comments, err := comments()
	if err != nil {
		return nil, err
	}
	all := make([]Document, len(documents))
	for i, d := range documents {
		m := d.message.ProtoReflect().Descriptor()
		all[i] = Document{Name: d.name, About: d.about}
		all[i].add(m, "", comments)
	}
	return all, nil
}

// add adds the fields of a message that stands at a path.
func (d *Document) add(m protoreflect.MessageDescriptor, path string, comments map[protoreflect.FullName]string) {
	fields := m.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		at := path + string(f.Name())
		rules := protobuf.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
		facts := rulesOf(rules)
		if axis, ok := model.AxisByName(string(f.Name())); ok && m.FullName() == "foible.v1.ModelConfig" {
			facts = append(facts, "default "+values(axis.Default))
		}
		d.Fields = append(d.Fields, Field{Path: at, Type: typeOf(f), Rules: strings.Join(facts, "; "), About: comments[f.FullName()]})
		switch {
		case f.IsMap():
			if inner := f.MapValue().Message(); inner != nil {
				d.add(inner, at+".NAME.", comments)
			}
		case f.Message() != nil && f.IsList():
			d.add(f.Message(), at+"[].", comments)
		case f.Message() != nil:
			d.add(f.Message(), at+".", comments)
		}
	}
}

// values lists the values of a parameter.
func values(all []model.Setting) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.String()
	}
	return strings.Join(texts, ", ")
}

// typeOf is a field's type in words.
func typeOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "mapping"
	case f.IsList():
		return kindOf(f) + ", or a list"
	}
	return kindOf(f)
}

func kindOf(f protoreflect.FieldDescriptor) string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return "number"
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return "whole number"
	case protoreflect.MessageKind:
		return "mapping"
	}
	return "text"
}

// rulesOf are the rules of a field in words.
func rulesOf(r *validate.FieldRules) []string {
	if r == nil {
		return nil
	}
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.GetRequired() {
		say("required")
	}
	if s := r.GetString(); s != nil {
		if len(s.GetIn()) > 0 {
			say("one of %s", strings.Join(s.GetIn(), ", "))
		}
		if s.GetPattern() != "" {
			say("matches the regular expression `%s`", s.GetPattern())
		}
		if s.GetMaxLen() > 0 {
			say("at most %d characters", s.GetMaxLen())
		}
	}
	// Bounds of numbers have the same fields in all rules of a kind.
	r.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Message() == nil || !strings.HasSuffix(string(f.Message().Name()), "Rules") {
			return true
		}
		bounds := map[string]string{"gt": "above", "gte": "at least", "lt": "below", "lte": "at most"}
		v.Message().Range(func(bound protoreflect.FieldDescriptor, x protoreflect.Value) bool {
			if text, ok := bounds[string(bound.Name())]; ok {
				say("%s %s", text, numberText(x))
			}
			return true
		})
		return true
	})
	if l := r.GetRepeated(); l != nil {
		if l.GetUnique() {
			say("no value twice")
		}
		all = append(all, rulesOf(l.GetItems())...)
	}
	if r.GetMap().GetMinPairs() > 0 {
		say("at least %d", r.GetMap().GetMinPairs())
	}
	slices.Sort(all) // Range has no order
	return all
}

func numberText(v protoreflect.Value) string {
	if x, ok := v.Interface().(float64); ok {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return v.String()
}

// comments are the comments of all messages and fields, by their full names.
var comments = sync.OnceValues(func() (map[protoreflect.FullName]string, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			Accessor: func(path string) (io.ReadCloser, error) { return proto.Files.Open(path) },
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), "foible/v1/study.proto", "foible/v1/sweep.proto")
	if err != nil {
		return nil, fmt.Errorf("read the comments of .proto files: %w", err)
	}
	all := map[protoreflect.FullName]string{}
	for _, file := range files {
		note := func(d protoreflect.Descriptor) {
			text := file.SourceLocations().ByDescriptor(d).LeadingComments
			all[d.FullName()] = strings.Join(strings.Fields(text), " ")
		}
		messages := file.Messages()
		for i := range messages.Len() {
			m := messages.Get(i)
			note(m)
			for k := range m.Fields().Len() {
				note(m.Fields().Get(k))
			}
		}
	}
	return all, nil
})

// Markdown is a document as a page.
func (d *Document) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\nThis page is made from the program's own definitions; `foible docs %s` prints it.\n\n", d.Name, d.About, strings.TrimSuffix(d.Name, ".yaml"))
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	escape := strings.NewReplacer("|", `\|`)
	for _, f := range d.Fields {
		value := f.Type
		if f.Rules != "" {
			value += "; " + f.Rules
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Path, escape.Replace(value), escape.Replace(f.About))
	}
	return b.String()
}
