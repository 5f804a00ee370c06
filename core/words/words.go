// Package words writes numbers and lists as a journal has them.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// None stands where there is nothing to say.
const None = "–"

// Thousands writes a whole number with its thousands apart: 100,000.
func Thousands[N int | int32 | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count is a number of things: 1 run, 2 runs, 2 stimuli.
func Count[N int | int32 | int64](n N, thing string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(thing, "us"); ok {
			thing = stem + "i"
		} else {
			thing += "s"
		}
	}
	return Thousands(n) + " " + thing
}

// Decimals writes a value that cannot exceed 1 in size with so many decimals and no
// zero before the point (APA): .985, 1.000, −.020; [None] where it is undefined.
func Decimals(v float64, n int) string {
	if math.IsNaN(v) {
		return None
	}
	return Unpadded(strconv.FormatFloat(v, 'f', n, 64))
}

// Unpadded drops the zero before a point and the sign of zero, and sets a true minus.
func Unpadded(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	if rest, ok := strings.CutPrefix(digits, "0."); ok {
		digits = "." + rest
	}
	if negative && strings.Trim(digits, ".0") != "" {
		return "−" + digits
	}
	return digits
}

// List joins words: a, b and c.
func List(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Quoted is a word as it can be typed in a shell.
func Quoted(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r > 127 || strings.ContainsRune("/._-+,:=@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
