package views

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"foible.dev/foible/core/words"
)

// significant writes a number to three digits, written out.
func significant(v float64) string {
	switch {
	case v >= 100:
		return words.Thousands(int64(math.Round(v)))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// duration writes a time to two units: 40 s, 2 min 5 s, 3 h 20 min, 2 d 4 h.
func duration(d time.Duration) string {
	units := []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	d = max(d, time.Second)
	for i, u := range units {
		if d < u.of {
			continue
		}
		if i == len(units)-1 {
			return fmt.Sprintf("%d s", d/u.of)
		}
		next := units[i+1]
		d = d.Round(next.of)
		text := fmt.Sprintf("%d %s", d/u.of, u.name)
		if rest := d % u.of / next.of; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, next.name)
		}
		return text
	}
	return "1 s"
}

// coreHours writes seconds of worker slots.
func coreHours(seconds float64) string {
	switch h := seconds / 3600; {
	case h == 0:
		return "0"
	case h < 0.01:
		return "< 0.01"
	default:
		return significant(h)
	}
}

// Sentence begins with a capital and ends with a full stop.
func Sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// monteCarlo writes a Monte-Carlo error; that of exact models is 0.
func monteCarlo(se float64) string {
	if se == 0 {
		return "0"
	}
	return words.Decimals(se, 4)
}
