package active

import (
	"strings"
	"unicode"
)

// maxReason bounds the reason of a failure, in bytes.
const maxReason = 2000

// printable is what a worker says, without what a terminal would obey, and not too long.
func Printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}
