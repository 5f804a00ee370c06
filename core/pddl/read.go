package pddl

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds the nesting of forms.
const maxDepth = 500

// node is an atom, or a form: a parenthesised list.
type node struct {
	pos  Pos
	form bool
	text string // of an atom
	list []*node
	// glued is the text that stands directly before a variable, as in "clear?a"; else "".
	glued string
}

// head is the text of the first atom of a form, "" if there is none.
func (n *node) head() string {
	if len(n.list) == 0 || n.list[0].form {
		return ""
	}
	return n.list[0].text
}

// String is the node as messages quote it: an atom, or the opening of a form.
func (n *node) String() string {
	switch {
	case !n.form:
		return `"` + n.text + `"`
	case len(n.list) == 0:
		return `"()"`
	case n.list[0].form:
		return `"("`
	default:
		return `"(` + n.list[0].text + `"`
	}
}

func (n *node) keyword() bool { return !n.form && n.text[0] == ':' }

// reader turns a source into nodes.
type reader struct {
	src  []byte
	pos  Pos
	flat bool // forms may not nest
	open []*node
	top  []*node
	// before is the atom that ends where a question mark follows; else "".
	before string
}

// read is the forms and atoms of a source, in order.
func read(file string, src []byte, flat bool) ([]*node, *Error) {
	r := &reader{src: src, pos: Pos{File: file, Line: 1, Column: 1}, flat: flat}
	if err := r.encoding(); err != nil {
		return nil, err
	}
	for len(r.src) > 0 {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	if n := len(r.open); n > 0 {
		return nil, errorf(r.open[n-1].pos, "%s is not closed", r.open[n-1])
	}
	return r.top, nil
}

// encoding drops a byte order mark and refuses what is not UTF-8.
func (r *reader) encoding() *Error {
	if b := r.src; len(b) >= 2 && (b[0] == 0xFF && b[1] == 0xFE || b[0] == 0xFE && b[1] == 0xFF) {
		return errorf(r.pos, "the file is UTF-16: save it as UTF-8")
	}
	if bytes.IndexByte(r.src, 0) >= 0 {
		return errorf(r.pos, "the file holds zero bytes: UTF-16 or not text; save it as UTF-8")
	}
	r.src = bytes.TrimPrefix(r.src, []byte("\xEF\xBB\xBF"))
	return nil
}

func (r *reader) next() *Error {
	c, size := utf8.DecodeRune(r.src)
	switch {
	case c == '\n', c == '\r':
		r.newline()
	case unicode.IsSpace(c):
		r.skip(size)
	case c == ';':
		r.comment()
	case c == '(':
		return r.push()
	case c == ')':
		return r.pop()
	default:
		return r.atom()
	}
	return nil
}

func (r *reader) skip(size int) {
	r.src = r.src[size:]
	r.pos.Column++
}

// newline takes CR, LF or CRLF.
func (r *reader) newline() {
	if r.src[0] == '\r' && len(r.src) > 1 && r.src[1] == '\n' {
		r.src = r.src[1:]
	}
	r.src = r.src[1:]
	r.pos.Line++
	r.pos.Column = 1
}

func (r *reader) comment() {
	end := bytes.IndexAny(r.src, "\r\n")
	if end < 0 {
		end = len(r.src)
	}
	r.src = r.src[end:]
}

func (r *reader) push() *Error {
	if len(r.open) == maxDepth {
		return errorf(r.pos, `"(" is nested more than %d deep`, maxDepth)
	}
	if r.flat && len(r.open) > 0 {
		return errorf(r.open[0].pos, "%s is not closed", r.open[0])
	}
	r.open = append(r.open, &node{pos: r.pos, form: true})
	r.skip(1)
	return nil
}

func (r *reader) pop() *Error {
	n := len(r.open)
	if n == 0 && !r.flat && len(r.top) > 1 {
		return follows(r.top)
	}
	if n == 0 {
		return errorf(r.pos, `")" closes nothing`)
	}
	form := r.open[n-1]
	r.open = r.open[:n-1]
	r.add(form)
	r.skip(1)
	return nil
}

// follows refuses the second of the nodes of a source that is one form.
func follows(top []*node) *Error {
	return errorf(top[1].pos, `%s follows the end of %s: is there a ")" too many before it?`, top[1], top[0])
}

func (r *reader) add(n *node) {
	if len(r.open) == 0 {
		r.top = append(r.top, n)
		return
	}
	in := r.open[len(r.open)-1]
	in.list = append(in.list, n)
}

func (r *reader) atom() *Error {
	n := &node{pos: r.pos}
	rest := r.src
	length := 0
	for length < len(rest) {
		c, size := utf8.DecodeRune(rest[length:])
		if c == utf8.RuneError && size <= 1 {
			return errorf(r.pos, "byte 0x%02X is not UTF-8", rest[length])
		}
		if c == '(' || c == ')' || c == ';' || unicode.IsSpace(c) {
			break
		}
		// No name has a question mark, so that it begins a variable also without a space before it.
		if c == '?' && length > 0 {
			break
		}
		length += size
		r.pos.Column++
	}
	n.text = string(rest[:length])
	r.src = rest[length:]
	if n.text[0] == '?' {
		n.glued, r.before = r.before, ""
	}
	if len(r.src) > 0 && r.src[0] == '?' {
		r.before = n.text
	}
	if n.keyword() {
		if err := r.unclosed(n); err != nil {
			return err
		}
	}
	r.add(n)
	return nil
}

// unclosed finds the form that a keyword shows to lack its parenthesis: sections, which
// begin with a keyword, stand directly in (define ...), and other keywords directly in
// a section.
func (r *reader) unclosed(keyword *node) *Error {
	n := len(r.open)
	if n == 0 {
		return nil
	}
	inner, found := r.open[n-1], keyword.String()
	if len(inner.list) == 0 { // the keyword begins inner
		if n < 3 {
			return nil
		}
		inner, found = r.open[n-2], `"(`+keyword.text+`"`
		if key(inner.head()) == ":length" { // the one section that holds keywords
			return nil
		}
	} else if inner.list[0].keyword() || !r.inSection(n-1) {
		return nil
	}
	return errorf(inner.pos, "%s is not closed before %s at line %d", inner, found, keyword.pos.Line)
}

// inSection reports whether one of the first n open forms begins with a keyword.
func (r *reader) inSection(n int) bool {
	for _, form := range r.open[:n] {
		if len(form.list) > 0 && form.list[0].keyword() {
			return true
		}
	}
	return false
}
