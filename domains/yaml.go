package domains

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"buf.build/go/protoyaml"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/pddl"
)

// decode reads YAML into a message whose fields are the schema, and checks the
// rules that stand with them. A single value may stand for a list of one. What YAML and
// protobuf would quietly convert is refused: quoted numbers, words for numbers,
// keys given twice. Every error has its place in the file; they are in its order.
func decode(file string, src []byte, into proto.Message) []*pddl.Error {
	root, err := parse(file, src)
	if err != nil {
		return []*pddl.Error{err}
	}
	l := lint{file: file}
	if l.message("the file", root, into.ProtoReflect().Descriptor()); len(l.errors) == 0 {
		options := protoyaml.UnmarshalOptions{CustomUnmarshaler: listsOfOne{}}
		if err := options.Unmarshal(withoutMark(src), into); err != nil {
			return []*pddl.Error{{Pos: pddl.Pos{File: file, Line: 1, Column: 1}, Message: err.Error()}}
		}
		l.rules(root, into)
	}
	slices.SortStableFunc(l.errors, inFile)
	return l.errors
}

// parse is the top-level node of YAML.
func parse(file string, src []byte) (*yaml.Node, *pddl.Error) {
	at := func(line, column int, message string) *pddl.Error {
		return &pddl.Error{Pos: pddl.Pos{File: file, Line: line, Column: column}, Message: message}
	}
	for i, line := range bytes.Split(withoutMark(src), []byte("\n")) {
		if n := bytes.IndexByte(line, 0); n >= 0 {
			return nil, at(i+1, utf8.RuneCount(line[:n])+1, "a NUL character (UTF-16?): save the file as UTF-8")
		}
		if text := string(line); !utf8.ValidString(text) {
			sound := text[:strings.IndexRune(strings.ToValidUTF8(text, "\ufffd"), '\ufffd')]
			return nil, at(i+1, utf8.RuneCountInString(sound)+1, "a byte that is not UTF-8: save the file as UTF-8")
		}
	}
	documents := yaml.NewDecoder(bytes.NewReader(withoutMark(src)))
	var first, second yaml.Node
	if err := documents.Decode(&first); errors.Is(err, io.EOF) {
		return nil, at(1, 1, "the file is empty")
	} else if err != nil {
		return nil, yamlError(file, src, err)
	}
	if err := documents.Decode(&second); err == nil {
		return nil, at(second.Line, second.Column, "a second document after `---`: keep one, or put it in a file of its own")
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(file, src, err)
	}
	return first.Content[0], nil
}

// keys are the top-level keys of YAML that decode has accepted, with their values, in order.
func keys(src []byte) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if root, err := parse("", src); err == nil {
			pairs(root)(yield)
		}
	}
}

// pairs are the keys of a mapping with their values, in order.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

func withoutMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\ufeff")) }

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

var (
	yamlPlace = regexp.MustCompile(`line (\d+): `)
	// early are complaints whose line is one too small.
	early = regexp.MustCompile(`^did not find expected (<|node|'-'|key|',')`)
)

// advice is what may be the cause of a complaint of the YAML parser.
var advice = map[string]string{
	"did not find expected key":                      "; a text that begins with a bracket or a quote needs quotes round all of it, and the keys of one level stand below each other",
	"did not find expected ',' or '}'":               "; is a bracket closed?",
	"did not find expected ',' or ']'":               "; is a bracket closed?",
	"found character that cannot start any token":    "; a text that begins with @, % or a backquote needs quotes",
	"mapping values are not allowed in this context": `; a text that holds ": " needs quotes, and a key with keys below it has no value of its own`,
}

// yamlError places an error of the YAML parser, which knows only the line.
func yamlError(file string, src []byte, err error) *pddl.Error {
	e := &pddl.Error{Pos: pddl.Pos{File: file, Line: 1}, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := yamlPlace.FindStringSubmatch(e.Message); m != nil {
		e.Pos.Line, _ = strconv.Atoi(m[1])
		e.Message = strings.Replace(e.Message, m[0], "", 1)
		if early.MatchString(e.Message) {
			e.Pos.Line++
		}
	}
	lines := strings.Split(strings.TrimRight(string(withoutMark(src)), " \t\r\n"), "\n")
	e.Pos.Line = min(e.Pos.Line, len(lines))
	line := lines[e.Pos.Line-1]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if tab := strings.IndexByte(indent, '\t'); tab >= 0 {
		e.Pos.Column, e.Message = tab+1, "a tab before the key: YAML is indented by spaces"
		return e
	}
	e.Pos.Column = len(indent) + 1
	e.Message = "not YAML: " + e.Message + advice[e.Message]
	return e
}
