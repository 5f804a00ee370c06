package domains

import (
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
)

// patterns are regular expressions of the schema in words.
var patterns = map[string]string{
	"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$": "only small letters, digits and, between them, hyphens",
}

// rules checks a message, decoded from YAML, by the rules that stand with its fields.
func (l *lint) rules(root *yaml.Node, m proto.Message) {
	err := protovalidate.Validate(m)
	var broken *protovalidate.ValidationError
	if !errors.As(err, &broken) {
		if err != nil {
			l.report(root, "%v", err)
		}
		return
	}
	for _, v := range broken.Violations {
		n, key := root, ""
		there := true
		for _, step := range v.Proto.GetField().GetElements() {
			key = step.GetFieldName()
			if n, there = child(n, key); !there {
				break
			}
			if name := step.GetStringKey(); step.HasStringKey() {
				n, _ = child(n, name)
				key = name
			} else if i := step.GetIndex(); step.HasIndex() && n.Kind == yaml.SequenceNode {
				n = n.Content[i]
			}
		}
		text := v.Proto.GetMessage()
		switch rule := v.Proto.GetRuleId(); {
		case !there:
			l.report(n, "no key %q, which is needed", key)
		case rule == "required" || rule == "map.min_pairs":
			l.report(n, "%s is empty", key)
		case rule == "repeated.unique":
			l.report(n, "%s has the same value twice", key)
		case rule == "string.in":
			allowed := strings.TrimSuffix(strings.TrimPrefix(text, "must be in list ["), "]")
			l.report(n, "%s is %q; it can be %s", key, n.Value, words.Options(n.Value, strings.Split(allowed, ", ")))
		case rule == "string.pattern":
			l.report(n, "%s is %q; it can have %s", key, n.Value, patterns[v.RuleValue.String()])
		default:
			l.report(n, "%s is %s; it %s", key, n.Value, text)
		}
	}
}

// child is the value of a key, or the mapping itself where it has no such key.
func child(n *yaml.Node, key string) (value *yaml.Node, ok bool) {
	for name, value := range pairs(n) {
		if name.Value == key {
			return value, true
		}
	}
	return n, false
}

// inSweep places an error of a sweep's configuration: at the option that it is about, if at one.
func inSweep(file string, src []byte, err error) error {
	var option *codec.OptionError
	root, broken := parse(file, src)
	if broken != nil || !errors.As(err, &option) {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, key := range option.Path {
		root, _ = child(root, key)
	}
	return &pddl.Error{Pos: pddl.Pos{File: file, Line: root.Line, Column: root.Column}, Message: option.Message}
}
