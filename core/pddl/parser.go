package pddl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// parser resolves nodes against a domain and, in a problem, its objects. Its methods
// panic with *Error. Within try, that abandons the part which is tried; the exported
// functions recover the others.
type parser struct {
	domain   *Domain
	problem  *Problem
	scope    []*Parameter // innermost last
	features *features
	errors   Errors // of the parts that were tried
}

// recovered turns the parser's panic into its error.
func recovered(err *error) {
	switch e := recover().(type) {
	case nil:
	case *Error:
		*err = Errors{e}
	case Errors:
		*err = e
	default:
		panic(e)
	}
}

// try parses a part on which no other depends, so that the others are read even if it is
// refused.
func (p *parser) try(parse func()) {
	outer := p.scope
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			p.errors = append(p.errors, e)
			p.scope = outer
		default:
			panic(e)
		}
	}()
	parse()
}

// settle abandons the parse if a part was refused.
func (p *parser) settle() {
	if len(p.errors) > 0 {
		slices.SortStableFunc(p.errors, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
		})
		panic(p.errors)
	}
}

// refuse abandons the parse.
func refuse(pos Pos, format string, args ...any) { panic(errorf(pos, format, args...)) }

// forms reads a source or refuses it.
func forms(file string, src []byte, flat bool) []*node {
	nodes, err := read(file, src, flat)
	if err != nil {
		panic(err)
	}
	return nodes
}

// single is the only form of a source, which holds a whole what.
func single(file string, src []byte, what string) *node {
	nodes := forms(file, src, false)
	if len(nodes) == 0 {
		refuse(Pos{file, 1, 1}, "the file holds no %s", what)
	}
	if !nodes[0].form {
		refuse(nodes[0].pos, `expected "(" to open the %s, found %s`, what, nodes[0])
	}
	if len(nodes) > 1 {
		panic(follows(nodes))
	}
	return nodes[0]
}

// definition splits "(define (kind NAME) section...)".
func definition(n *node, kind string) (name string, sections []*node) {
	if key(n.head()) != "define" {
		refuse(n.pos, `expected "(define (%s ...)", found %s`, kind, n)
	}
	if len(n.list) < 2 || key(n.list[1].head()) != kind {
		at := n
		if len(n.list) > 1 {
			at = n.list[1]
		}
		refuse(at.pos, `expected "(%s NAME)", found %s`, kind, at)
	}
	title := n.list[1]
	if len(title.list) != 2 {
		refuse(title.pos, `expected "(%s NAME)" with one name`, kind)
	}
	for _, section := range n.list[2:] {
		if !section.form || !strings.HasPrefix(section.head(), ":") {
			refuse(section.pos, `expected a section such as "(:%s", found %s`, example(kind), section)
		}
	}
	return label(title.list[1], "the "+kind), n.list[2:]
}

// label is the name of a domain or a problem. Planners take any word for one, such as
// "4x4" or "p01.pddl": nothing else refers to it.
func label(n *node, what string) string {
	if n.form || n.keyword() || n.text[0] == '?' {
		refuse(n.pos, "expected the name of %s, found %s", what, n)
	}
	return n.text
}

func example(kind string) string {
	if kind == "domain" {
		return "action"
	}
	return "init"
}

// nameOf is the name that a node must be.
func nameOf(n *node, what string) string {
	if n.form || !isName(n.text) {
		refuse(n.pos, "expected the name of %s, found %s", what, n)
	}
	return n.text
}

// isName: a letter, then letters, digits, "-" and "_".
func isName(s string) bool {
	for i, c := range s {
		if !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c) && c != '-' && c != '_') {
			return false
		}
	}
	return s != ""
}

func isVariable(s string) bool { return s[0] == '?' && isName(s[1:]) }

// number reads digits with an optional sign and fraction.
func number(n *node) (v float64, ok bool) {
	s := strings.TrimPrefix(n.text, "-")
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsInf(v, 0) {
		refuse(n.pos, "number %s is out of range", n)
	}
	return v + 0, true // -0 is 0
}

func digits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// typed is an entry of a typed list; types are the nodes after its "-".
type typed struct {
	*node
	types []*node
}

// typedList splits "a b - t c". A type is a name or (either ...).
func (p *parser) typedList(nodes []*node) []typed {
	var list []typed
	first := 0
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		if n.form || n.text != "-" {
			if !n.form && len(n.text) > 1 && n.text[0] == '-' && isName(n.text[1:]) {
				refuse(n.pos, `%s needs a space after "-"`, n)
			}
			list = append(list, typed{node: n})
			continue
		}
		p.features.use(typing, n.pos, `"-"`)
		if first == len(list) {
			refuse(n.pos, `"-" has no name before it`)
		}
		if i+1 == len(nodes) {
			refuse(n.pos, `"-" has no type after it`)
		}
		i++
		types := []*node{nodes[i]}
		if nodes[i].form {
			types = either(nodes[i])
		}
		for ; first < len(list); first++ {
			list[first].types = types
		}
	}
	return list
}

func either(n *node) []*node {
	if key(n.head()) != "either" {
		refuse(n.pos, `expected a type or "(either ...)", found %s`, n)
	}
	if len(n.list) == 1 {
		refuse(n.pos, `"(either" names no type`)
	}
	return n.list[1:]
}

// types resolves the types of an entry.
func (p *parser) types(t typed) Types {
	var ts Types
	for _, n := range t.types {
		u := p.domain.Type(nameOf(n, "a type"))
		if u == nil {
			refuse(n.pos, "unknown type %s", n)
		}
		ts = append(ts, u)
	}
	return ts
}

// parameters reads a typed list of variables, each of another name.
func (p *parser) parameters(nodes []*node) []*Parameter {
	ps := p.places(nodes)
	for i, parameter := range ps {
		for _, q := range ps[:i] {
			if key(q.Name) == key(parameter.Name) {
				refuse(parameter.Pos, "variable %q is declared twice", parameter.Name)
			}
		}
	}
	return ps
}

// places reads the typed list of a declared predicate or function, whose variables may
// share a name: only their number and types mean something.
func (p *parser) places(nodes []*node) []*Parameter {
	var ps []*Parameter
	for i, t := range p.typedList(nodes) {
		switch {
		case !t.form && isVariable(t.text):
		case i > 0 && !t.form && strings.HasSuffix(ps[i-1].Name, "-"):
			refuse(ps[i-1].Pos, `%q needs a space before "-"`, ps[i-1].Name)
		default:
			refuse(t.pos, `expected a variable such as "?x", found %s`, t.node)
		}
		p.spaced(t.node)
		ps = append(ps, &Parameter{Pos: t.pos, Name: t.text, Types: p.types(t)})
	}
	return ps
}

// spaced warns of a variable that follows something else without a space.
func (p *parser) spaced(n *node) {
	if n.glued != "" {
		p.warn(n.pos, `a space is missing before %s in "%s%s"`, n, n.glued, n.text)
	}
}

func (p *parser) warn(pos Pos, format string, args ...any) {
	p.features.warnings = append(p.features.warnings, Warning{pos, fmt.Sprintf(format, args...)})
}

// parameterList reads the parenthesised parameters that follow what.
func (p *parser) parameterList(n *node, what string) []*Parameter {
	if !n.form {
		refuse(n.pos, `expected "(" with the variables of %s, found %s`, what, n)
	}
	return p.parameters(n.list)
}

// within parses in a scope with more parameters.
func (p *parser) within(ps []*Parameter, parse func()) {
	outer := p.scope
	p.scope = append(outer[:len(outer):len(outer)], ps...)
	parse()
	p.scope = outer
}
