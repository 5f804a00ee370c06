package study

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a part of a cell and the character of the cell at which it starts.
type word struct {
	text string
	at   int
}

// listed are the parts of a list between white space, commas or semicolons;
// what stands in parentheses is one word.
func listed(list string) []word {
	var all []word
	var text strings.Builder
	depth, at := 0, 0
	flush := func() {
		if text.Len() > 0 {
			all = append(all, word{text.String(), at - utf8.RuneCountInString(text.String())})
			text.Reset()
		}
	}
	for _, r := range list {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth <= 0 && (unicode.IsSpace(r) || r == ',' || r == ';'):
			flush()
			at++
			continue
		}
		text.WriteRune(r)
		at++
	}
	flush()
	return all
}
