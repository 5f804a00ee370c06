package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain is a text without characters that a terminal obeys, such as those that begin a colour, move the cursor or turn
// the direction of writing: each is written as its number, \u001b. Tabs and ends of lines stay; a byte that is not UTF-8
// is \u00 and its value. In a string of JSON, what is written means the character.
func Plain(text string) string { return escaped(text, false) }

// Line is Plain on one line: ends of lines and tabs are written as \n and \t.
func Line(text string) string { return escaped(text, true) }

func escaped(text string, oneLine bool) string {
	var b strings.Builder
	kept := 0 // bytes of text that are in b
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			r, size = rune(text[i]), 1
		} else if !obeyed(r) || !oneLine && (r == '\n' || r == '\t') {
			continue
		}
		b.WriteString(text[kept:i])
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		kept = i + size
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// obeyed says whether a terminal does something else with a character than to show it.
func obeyed(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r == '\u061c', r == '\u200e', r == '\u200f', '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069': // direction
		return true
	}
	return r == '\u2028' || r == '\u2029' // ends of a line and of a paragraph
}
