package domains

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// lint walks YAML and schema together.
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

// inFile orders errors of one file.
func inFile(a, b *pddl.Error) int {
	return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
}

func (l *lint) message(what string, n *yaml.Node, d protoreflect.MessageDescriptor) {
	if !l.mapping(what, n) {
		return
	}
	for key, value := range pairs(n) {
		field := d.Fields().ByTextName(key.Value)
		if field == nil {
			l.report(key, "unknown key %q; there are %s", key.Value, words.Options(key.Value, fieldNames(d)))
			continue
		}
		switch {
		case field.IsMap() && value.Tag == "!!null":
			l.report(value, "%s is empty", key.Value)
		case field.IsMap():
			if l.mapping(key.Value, value) {
				for name, item := range pairs(value) {
					l.message(name.Value, item, field.MapValue().Message())
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
func (l *lint) mapping(what string, n *yaml.Node) bool {
	if n.Tag == "!!null" {
		return false
	}
	if n.Kind != yaml.MappingNode {
		l.report(n, "%s must have keys, as in `key: value`", what)
		return false
	}
	seen := map[string]int{}
	for key := range pairs(n) {
		if key.Kind != yaml.ScalarNode {
			l.report(key, "a key must be a word")
			continue
		}
		if line, ok := seen[key.Value]; ok {
			l.report(key, "%s is given twice; first on line %d", key.Value, line)
		}
		seen[key.Value] = key.Line
	}
	return true
}

// number and whole are how numbers are written.
var (
	number = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
	whole  = regexp.MustCompile(`^-?(0|[1-9]\d*)$`)
)

func (l *lint) value(key string, n *yaml.Node, field protoreflect.FieldDescriptor) {
	if field.Message() != nil {
		l.message(key, n, field.Message())
		return
	}
	if n.Kind != yaml.ScalarNode {
		l.report(n, "%s must be a single value", key)
		return
	}
	if n.Tag == "!!null" {
		l.report(n, "%s has no value", key)
		return
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch kind := field.Kind(); kind {
	case protoreflect.DoubleKind, protoreflect.Int32Kind, protoreflect.Uint64Kind:
		if quoted {
			l.report(n, "%s is the text %q; write the number without quotes", key, n.Value)
			return
		}
		if x, err := strconv.ParseFloat(n.Value, 64); !number.MatchString(n.Value) || err != nil || math.IsInf(x, 0) {
			l.report(n, "%s is %q, not a number", key, n.Value)
			return
		}
		l.integer(key, n, kind)
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

// integer checks a number of a kind that may be integer.
func (l *lint) integer(key string, n *yaml.Node, kind protoreflect.Kind) {
	var err error
	switch {
	case kind == protoreflect.DoubleKind:
		return
	case !whole.MatchString(n.Value):
		l.report(n, "%s is %q, not a whole number", key, n.Value)
		return
	case kind == protoreflect.Int32Kind:
		_, err = strconv.ParseInt(n.Value, 10, 32)
	case n.Value[0] == '-':
		l.report(n, "%s is %s; it must not be negative", key, n.Value)
		return
	default:
		_, err = strconv.ParseUint(n.Value, 10, 64)
	}
	if err != nil {
		l.report(n, "%s is %s, which is too large", key, n.Value)
	}
}

func fieldNames(d protoreflect.MessageDescriptor) []string {
	names := make([]string, d.Fields().Len())
	for i := range names {
		names[i] = d.Fields().Get(i).TextName()
	}
	return names
}
