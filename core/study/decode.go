package study

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"foible.dev/foible/core/pddl"
)

// decode gives a file's text without byte order mark, every line ending in
// "\n". UTF-8 needs no mark, UTF-16 does; anything else is refused where it
// shows.
func decode(file string, src []byte) (string, *pddl.Error) {
	start := pddl.Pos{File: file, Line: 1, Column: 1}
	var text string
	switch {
	case bytes.HasPrefix(src, []byte("PK\x03\x04")):
		return "", &pddl.Error{Pos: start, Message: `an Excel or zip file, not text: save it as "CSV UTF-8"`}
	case bytes.HasPrefix(src, []byte{0xFF, 0xFE}), bytes.HasPrefix(src, []byte{0xFE, 0xFF}):
		var order binary.ByteOrder = binary.LittleEndian
		if src[0] == 0xFE {
			order = binary.BigEndian
		}
		if len(src)%2 != 0 {
			return "", &pddl.Error{Pos: start, Message: "UTF-16 with an odd number of bytes: the file is cut off"}
		}
		text = utf16Text(src[2:], order)
		if i := strings.IndexRune(text, utf8.RuneError); i >= 0 {
			return "", &pddl.Error{Pos: position(file, text[:i]), Message: "a character that is not UTF-16"}
		}
	default:
		text = string(bytes.TrimPrefix(src, []byte("\xEF\xBB\xBF")))
		if i := invalid(text); i >= 0 {
			return "", &pddl.Error{Pos: position(file, text[:i]), Message: `a byte that is not UTF-8: save the file as "CSV UTF-8"`}
		}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", &pddl.Error{Pos: position(file, text[:i]), Message: `a NUL character (UTF-16 without byte order mark?): save the file as "CSV UTF-8"`}
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), nil
}

func utf16Text(src []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(src)/2)
	for i := range units {
		units[i] = order.Uint16(src[2*i:])
	}
	return string(utf16.Decode(units))
}

// invalid is the offset of the first byte that is not UTF-8, or -1.
func invalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// position is where the text before it ends. Columns count characters.
func position(file, before string) pddl.Pos {
	before = strings.ReplaceAll(before, "\r\n", "\n")
	before = strings.ReplaceAll(before, "\r", "\n")
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return pddl.Pos{
		File:   file,
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(line) + 1,
	}
}
