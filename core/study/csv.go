package study

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// cell is one cell of a table: its text without surrounding white space.
type cell struct {
	text string
	pos  pddl.Pos // of its first character, the quote if it is quoted

	// column of the first character of text; 0 when characters of text do not
	// follow each other on one line (doubled quotes, newlines).
	column int
}

// at is the position of the i-th character of the text.
func (c cell) at(i int) pddl.Pos {
	if c.column == 0 {
		return c.pos
	}
	return pddl.Pos{File: c.pos.File, Line: c.pos.Line, Column: c.column + i}
}

// split cuts a text into records of cells (RFC 4180, with white space allowed
// around quotes). Records of empty cells are left out. A record that cannot
// be read is left out and its error returned. beyond is where the text exceeds
// the limits and is not read on; nil if it does not.
func split(file, text string, separator rune, l limits) (records [][]cell, errs []*pddl.Error, beyond *pddl.Error) {
	s := splitter{file: file, src: text, separator: separator, limits: l, line: 1, column: 1}
	for s.peek() != end {
		record, err := s.record()
		switch {
		case s.beyond != nil:
			return nil, nil, s.beyond
		case err != nil:
			errs = append(errs, err)
			for s.peek() != end && s.peek() != '\n' {
				s.next()
			}
			s.next()
		case !blank(record):
			records = append(records, record)
		}
	}
	return records, errs, nil
}

func blank(record []cell) bool {
	for _, c := range record {
		if c.text != "" {
			return false
		}
	}
	return true
}

type splitter struct {
	file         string
	src          string
	separator    rune
	limits       limits
	i            int // in src
	line, column int // column in characters
	cells        int // that have been read
	width        int // cells of the last record
	beyond       *pddl.Error
}

const end rune = -1

func (s *splitter) peek() rune {
	if s.i == len(s.src) {
		return end
	}
	if c := s.src[s.i]; c < utf8.RuneSelf {
		return rune(c)
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.i:])
	return r
}

func (s *splitter) next() {
	if s.i == len(s.src) {
		return
	}
	size := 1
	switch c := s.src[s.i]; {
	case c == '\n':
		s.line, s.column = s.line+1, 0
	case c >= utf8.RuneSelf:
		_, size = utf8.DecodeRuneInString(s.src[s.i:])
	}
	s.i, s.column = s.i+size, s.column+1
}

func (s *splitter) pos() pddl.Pos { return pddl.Pos{File: s.file, Line: s.line, Column: s.column} }

func (s *splitter) ends(r rune) bool { return r == end || r == '\n' || r == s.separator }

func (s *splitter) skipBlanks() {
	for r := s.peek(); !s.ends(r) && unicode.IsSpace(r); r = s.peek() {
		s.next()
	}
}

// record reads one record and the newline behind it.
func (s *splitter) record() ([]cell, *pddl.Error) {
	record := make([]cell, 0, s.width)
	for {
		c, err := s.cell()
		if err != nil {
			return nil, err
		}
		if len(record) == s.limits.columns {
			s.beyond = &pddl.Error{Pos: c.pos, Message: fmt.Sprintf("a row of more than %s cells, which is the limit", words.Thousands(s.limits.columns))}
			return nil, s.beyond
		}
		record = append(record, c)
		more := s.peek() == s.separator
		s.next()
		if !more {
			s.width = len(record)
			return record, nil
		}
	}
}

// limit notes where the limits are exceeded by the cell at a place that began at from.
func (s *splitter) limit(at pddl.Pos, from int) bool {
	switch {
	case s.cells > s.limits.cells:
		s.beyond = &pddl.Error{Pos: at, Message: fmt.Sprintf("the file has more than %s cells, which is the limit", words.Thousands(s.limits.cells))}
	case s.i-from > s.limits.cellBytes:
		s.beyond = &pddl.Error{Pos: at, Message: fmt.Sprintf("a cell of more than %s, which is the limit: is a quote not closed, or a line not ended?", words.Bytes(s.limits.cellBytes))}
	}
	return s.beyond != nil
}

func (s *splitter) cell() (cell, *pddl.Error) {
	s.skipBlanks()
	s.cells++
	c := cell{pos: s.pos(), column: s.column}
	if s.limit(c.pos, s.i) {
		return c, s.beyond
	}
	if s.peek() == '"' {
		return s.quoted(c)
	}
	from := s.i
	for r := s.peek(); !s.ends(r); r = s.peek() {
		if s.limit(c.pos, from) {
			return c, s.beyond
		}
		if r == '"' {
			return c, &pddl.Error{Pos: s.pos(), Message: `a quote inside a cell: put the whole cell in quotes and double this one`}
		}
		s.next()
	}
	c.text = strings.TrimSpace(s.src[from:s.i])
	return c, nil
}

func (s *splitter) quoted(c cell) (cell, *pddl.Error) {
	s.next()
	c.column = s.column
	from := s.i
	var text []rune
	for {
		if s.limit(c.pos, from) {
			return c, s.beyond
		}
		r := s.peek()
		if r == end {
			return c, &pddl.Error{Pos: c.pos, Message: "this quote is never closed"}
		}
		s.next()
		if r == '"' {
			if s.peek() != '"' {
				break
			}
			s.next()
		}
		if r == '"' || r == '\n' {
			c.column = 0
		}
		text = append(text, r)
	}
	s.skipBlanks()
	if !s.ends(s.peek()) {
		return c, &pddl.Error{Pos: s.pos(), Message: "text after a closing quote"}
	}
	trimmed := strings.TrimLeftFunc(string(text), unicode.IsSpace)
	if c.column > 0 {
		c.column += len(text) - len([]rune(trimmed))
	}
	c.text = strings.TrimSpace(trimmed)
	return c, nil
}
