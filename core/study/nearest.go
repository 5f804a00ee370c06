package study

import (
	"regexp"
	"strconv"
	"strings"
)

// nearest is the one of known that name was probably meant to be, or "".
// Names that differ only in their numbers are different names.
func nearest(name string, known []string) string {
	for _, k := range known {
		if canonical(k) == canonical(name) {
			return k
		}
	}
	best, least := "", max(1, len([]rune(name))/3)+1
	if len(name) < 3 {
		return ""
	}
	for _, k := range known {
		if withoutDigits(k) == withoutDigits(name) {
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

// didYouMean is "; did you mean X?", or nothing.
func didYouMean(name string, known []string) string {
	if n := nearest(name, known); n != "" {
		return "; did you mean " + quote(n) + "?"
	}
	return ""
}

// quote is a text as messages show it: on one line, and not too long.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60]) + "…"
	}
	return strconv.Quote(s)
}

// spreadsheetDate is what a spreadsheet makes of ids such as 1-1.
var spreadsheetDate = func() *regexp.Regexp {
	const month = `(jan|feb|mar|m(ä|a)?rz|apr|may|mai|jun|jul|aug|sept?|o[ck]t|nov|de[cz])[a-z]*\.?`
	return regexp.MustCompile(`(?i)^([0-9]{1,2}[-. ]+` + month + `|` + month + `[-. ]+[0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4})$`)
}()

var (
	digits    = regexp.MustCompile(`[0-9]+`)
	pointZero = regexp.MustCompile(`\.0+$`)
)

// canonical is equal for ids that differ only in formatting: 001, 1 and 1.0.
func canonical(id string) string {
	id = pointZero.ReplaceAllString(strings.ToLower(id), "")
	return digits.ReplaceAllStringFunc(id, func(d string) string {
		if d = strings.TrimLeft(d, "0"); d == "" {
			return "0"
		}
		return d
	})
}

func withoutDigits(s string) string { return digits.ReplaceAllString(strings.ToLower(s), "#") }

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
