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

// Count is a number of things: 1 run, 2 runs, 2 batches, 2 stimuli.
func Count[N int | int32 | int64](n N, thing string) string {
	if n != 1 {
		switch stem, ends := strings.CutSuffix(thing, "us"); {
		case ends:
			thing = stem + "i"
		case strings.HasSuffix(thing, "ch"):
			thing += "es"
		default:
			thing += "s"
		}
	}
	return Thousands(n) + " " + thing
}

// Decimals writes a value that cannot exceed 1 in size with a number of decimals and no
// zero before the point (APA): .985, 1.000, −.020; [None] where it is undefined.
func Decimals(v float64, n int) string { return Unpadded(Fixed(v, n)) }

// Fixed writes a value with a number of decimals, for a terminal: 0.985, -0.020; [None] where it
// is undefined or not finite.
func Fixed(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return None
	}
	return strconv.FormatFloat(v, 'f', n, 64)
}

// Error writes a standard error to two significant digits, and at most five decimals, so that
// one which is not 0 is never written as 0: 0.012, 0.00042, < 0.00001; 0 if it is exactly that,
// and [None] where it is undefined.
func Error(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return None
	case v == 0:
		return "0"
	case v < 0.5e-5:
		return "< 0.00001"
	}
	const most = 5
	decimals := min(most, max(0, 1-int(math.Floor(math.Log10(v)))))
	return Fixed(v, decimals)
}

// Signed is Fixed with a plus before what is positive: +0.109, -0.020.
func Signed(v float64, n int) string {
	if text := Fixed(v, n); text == None || strings.HasPrefix(text, "-") {
		return text
	}
	return "+" + Fixed(v, n)
}

// Interval writes two ends: [0.844, 0.943]; with signs, [+0.025, +0.217].
func Interval(low, high float64, n int, signed bool) string {
	write := Fixed
	if signed {
		write = Signed
	}
	return "[" + write(low, n) + ", " + write(high, n) + "]"
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

// Bytes is a size in the largest binary unit that it reaches: 512 B, 1.5 MiB, 64 MiB. A size that is no whole number of
// the unit is rounded down to a tenth; [ParseBytes] reads the text again.
func Bytes[N int | int64](n N) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	unit, at := int64(1), 0
	for at+1 < len(units) && int64(n) >= 1024*unit {
		unit, at = 1024*unit, at+1
	}
	whole, tenth := int64(n)/unit, int64(n)%unit*10/unit
	if tenth == 0 {
		return fmt.Sprintf("%d %s", whole, units[at])
	}
	return fmt.Sprintf("%d.%d %s", whole, tenth, units[at])
}

// byteUnits are the units that ParseBytes knows, in small letters.
var byteUnits = map[string]float64{
	"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
}

// ParseBytes reads a size such as 64MiB, 1.5 GB or 1000, which is one in bytes. K, M, G and T by themselves are binary units.
func ParseBytes(text string) (int64, error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit, known := byteUnits[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if bytes := n * unit; known && err == nil && bytes >= 0 && bytes < 1<<62 {
		return int64(bytes), nil
	}
	return 0, fmt.Errorf("%q is no size; write it as in 64MiB or 2GiB", text)
}
