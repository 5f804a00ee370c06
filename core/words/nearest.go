package words

import (
	"regexp"
	"strconv"
	"strings"
)

// maxNameBytes bounds the names that are compared, which takes time by the product of their lengths.
const maxNameBytes = 200

// Nearest is the one of known that name was probably meant to be, or "". Names that differ
// only in their numbers are different names, unless they differ only in how these are
// written: see [Canonical].
func Nearest(name string, known []string) string {
	if len(name) > maxNameBytes {
		return ""
	}
	for _, k := range known {
		if Canonical(k) == Canonical(name) {
			return k
		}
	}
	best, least := "", max(1, len([]rune(name))/3)+1
	if len(name) < 3 {
		return ""
	}
	for _, k := range known {
		if len(k) > maxNameBytes || WithoutDigits(k) == WithoutDigits(name) {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	for _, k := range known {
		if best == "" && strings.HasPrefix(strings.ToLower(k), strings.ToLower(name)) {
			best = k
		}
	}
	return best
}

// DidYouMean is "; did you mean X?", for the end of a message about a name that is not
// known, or nothing if none of the known names is near.
func DidYouMean(name string, known []string) string {
	if n := Nearest(name, known); n != "" {
		return "; did you mean " + strconv.Quote(n) + "?"
	}
	return ""
}

// Options lists the names that there are, for a message about one that is not among them,
// and asks whether one of them was meant: a, b, c; did you mean "b"?
func Options(name string, known []string) string {
	return strings.Join(known, ", ") + DidYouMean(name, known)
}

var (
	digits    = regexp.MustCompile(`[0-9]+`)
	pointZero = regexp.MustCompile(`\.0+$`)
)

// Canonical is equal for names that differ only in formatting: 001, 1 and 1.0.
func Canonical(name string) string {
	name = pointZero.ReplaceAllString(strings.ToLower(name), "")
	return digits.ReplaceAllStringFunc(name, func(d string) string {
		if d = strings.TrimLeft(d, "0"); d == "" {
			return "0"
		}
		return d
	})
}

// WithoutDigits is equal for names that differ only in their numbers.
func WithoutDigits(name string) string {
	return digits.ReplaceAllString(strings.ToLower(name), "#")
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			change := 1
			if x[i] == y[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
