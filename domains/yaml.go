package domains

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"

	"buf.build/go/protovalidate"
	"buf.build/go/protoyaml"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"foible/core/pddl"
)

// decode reads YAML into a message whose fields are the schema, and checks the
// rules beside them. A single value may stand for a list of one. What YAML and
// protobuf would quietly convert is refused: quoted numbers, words for numbers,
// keys given twice. Every error has its place in the file.
func decode(file string, src []byte, into proto.Message) []*pddl.Error {
	var document yaml.Node
	if err := yaml.Unmarshal(withoutMark(src), &document); err != nil {
		return []*pddl.Error{yamlError(file, err)}
	}
	if len(document.Content) == 0 {
		return []*pddl.Error{{Pos: pddl.Pos{File: file, Line: 1, Column: 1}, Message: "the file is empty"}}
	}
	l := lint{file: file}
	l.message(document.Content[0], into.ProtoReflect().Descriptor())
	if len(l.errors) > 0 {
		return l.errors
	}
	err := protoyaml.UnmarshalOptions{
		Path:              file,
		Validator:         rules{},
		CustomUnmarshaler: listsOfOne{},
	}.Unmarshal(withoutMark(src), into)
	return positioned(file, err)
}

// keys are the top-level keys of YAML that decode has accepted, with their values, in order.
func keys(src []byte) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		var document yaml.Node
		if err := yaml.Unmarshal(withoutMark(src), &document); err != nil || len(document.Content) == 0 {
			return
		}
		top := document.Content[0].Content
		for i := 0; i+1 < len(top); i += 2 {
			if !yield(top[i], top[i+1]) {
				return
			}
		}
	}
}

func withoutMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\ufeff")) }

// rules are those written beside the fields.
type rules struct{}

func (rules) Validate(m proto.Message) error { return protovalidate.Validate(m) }

// listsOfOne turns a single value of a repeated field into a list.
type listsOfOne struct{}

func (listsOfOne) Unmarshal(node *yaml.Node, message proto.Message) (bool, error) {
	fields := message.ProtoReflect().Descriptor().Fields()
	for i := 0; i+1 < len(node.Content); i += 2 {
		field := fields.ByTextName(node.Content[i].Value)
		if value := node.Content[i+1]; field != nil && field.IsList() && value.Kind == yaml.ScalarNode {
			node.Content[i+1] = &yaml.Node{
				Kind: yaml.SequenceNode, Tag: "!!seq",
				Line: value.Line, Column: value.Column, Content: []*yaml.Node{value},
			}
		}
	}
	return false, nil
}

// lint walks YAML beside the schema.
type lint struct {
	file   string
	errors []*pddl.Error
}

func (l *lint) report(n *yaml.Node, format string, args ...any) {
	l.errors = append(l.errors, &pddl.Error{
		Pos:     pddl.Pos{File: l.file, Line: n.Line, Column: n.Column},
		Message: fmt.Sprintf(format, args...),
	})
}

func (l *lint) message(n *yaml.Node, d protoreflect.MessageDescriptor) {
	if !l.mapping(n, d.Name()) {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field := d.Fields().ByTextName(key.Value)
		if field == nil {
			l.report(key, "unknown key %q; there are %s", key.Value, fieldNames(d))
			continue
		}
		switch {
		case field.IsMap():
			if l.mapping(value, field.Name()) {
				for j := 1; j < len(value.Content); j += 2 {
					l.message(value.Content[j], field.MapValue().Message())
				}
			}
		case field.IsList() && value.Kind == yaml.SequenceNode:
			if len(value.Content) == 0 {
				l.report(value, "%s is an empty list", key.Value)
			}
			for _, item := range value.Content {
				l.value(key.Value, item, field)
			}
		default:
			l.value(key.Value, value, field)
		}
	}
}

// mapping says whether n has keys, each once; an absent value has none.
func (l *lint) mapping(n *yaml.Node, what protoreflect.Name) bool {
	if n.Tag == "!!null" {
		return false
	}
	if n.Kind != yaml.MappingNode {
		l.report(n, "%s must have keys, as in `key: value`", what)
		return false
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, ok := seen[key.Value]; ok {
			l.report(key, "%s is given twice; first on line %d", key.Value, line)
		}
		seen[key.Value] = key.Line
	}
	return true
}

func (l *lint) value(key string, n *yaml.Node, field protoreflect.FieldDescriptor) {
	if field.Message() != nil {
		l.message(n, field.Message())
		return
	}
	if n.Kind != yaml.ScalarNode {
		l.report(n, "%s must be a single value", key)
		return
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch field.Kind() {
	case protoreflect.DoubleKind, protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Uint64Kind:
		if quoted {
			l.report(n, "%s is the text %q; write the number without quotes", key, n.Value)
			return
		}
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			l.report(n, "%s is %q, not a number", key, n.Value)
			return
		}
		if field.Kind() != protoreflect.DoubleKind && n.Tag != "!!int" {
			l.report(n, "%s is %q, not a whole number", key, n.Value)
		}
	case protoreflect.BoolKind:
		if quoted || n.Value != "true" && n.Value != "false" {
			l.report(n, "%s is %q; it can be true or false", key, n.Value)
		}
	case protoreflect.StringKind:
		if !quoted && n.Tag != "!!str" {
			l.report(n, "%s is %q, which YAML reads as %s; put a text in quotes", key, n.Value, strings.TrimPrefix(n.Tag, "!!"))
		}
	}
}

func fieldNames(d protoreflect.MessageDescriptor) string {
	names := make([]string, d.Fields().Len())
	for i := range names {
		names[i] = d.Fields().Get(i).TextName()
	}
	return strings.Join(names, ", ")
}

var (
	protoyamlPlace = regexp.MustCompile(`^(\d+):(\d+) `)
	yamlPlace      = regexp.MustCompile(`line (\d+): `)
	ruleID         = regexp.MustCompile(` \([a-z0-9_.]+\)$`)
)

// positioned takes protoyaml's joined errors apart; each one says `file:line:column message` and then quotes the line.
func positioned(file string, err error) []*pddl.Error {
	if err == nil {
		return nil
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	out := make([]*pddl.Error, len(all))
	for i, err := range all {
		cause := errors.Unwrap(err)
		if cause == nil {
			cause = err
		}
		e := &pddl.Error{Pos: pddl.Pos{File: file}, Message: ruleID.ReplaceAllString(cause.Error(), "")}
		if m := protoyamlPlace.FindStringSubmatch(strings.TrimPrefix(err.Error(), file+":")); m != nil {
			e.Pos.Line, _ = strconv.Atoi(m[1])
			e.Pos.Column, _ = strconv.Atoi(m[2])
		}
		out[i] = e
	}
	return out
}

// yamlError places an error of the YAML parser, which knows the line alone.
func yamlError(file string, err error) *pddl.Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &pddl.Error{Pos: pddl.Pos{File: file, Line: 1, Column: 1}, Message: message}
	if m := yamlPlace.FindStringSubmatch(message); m != nil {
		e.Pos.Line, _ = strconv.Atoi(m[1])
		e.Message = strings.Replace(message, m[0], "", 1)
	}
	return e
}
