package study

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	decimal = regexp.MustCompile(`^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$`)
	integer = regexp.MustCompile(`^([+-]?[0-9]+)([.,]0*)?$`)
)

// slack is the rounding that arithmetic, not people, leaves in a probability.
const slack = 1e-9

// probability reads a number in [0, 1], with decimal point or comma. err says
// what is wrong with the text.
func probability(text string) (p float64, err error) {
	if !decimal.MatchString(text) {
		if strings.HasSuffix(text, "%") {
			return 0, fmt.Errorf("%s is a percentage: write a number from 0 to 1", quote(text))
		}
		if first, _ := utf8.DecodeRuneInString(text); unicode.IsLetter(first) {
			return 0, fmt.Errorf("%s is not a number; %s", quote(text), acceptedWords(false))
		}
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	p, err = strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	switch {
	case p > 1+slack && p <= 100:
		return 0, fmt.Errorf("probability %s is above 1 (percentages must be divided by 100)", text)
	case p > 1+slack:
		return 0, fmt.Errorf("probability %s is above 1", text)
	case p < -slack:
		return 0, fmt.Errorf("probability %s is negative", text)
	case err != nil:
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	return min(1, max(0, p)), nil
}

// decimals is how many digits the text of a number has behind its point.
func decimals(text string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	n := 0
	if i := strings.IndexAny(mantissa, ".,"); i >= 0 {
		n = len(mantissa) - i - 1
	}
	e, _ := strconv.Atoi(exponent)
	return max(0, n-e)
}

// step reads a number of actions.
func step(text string) (int, error) {
	m := integer.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("step %s is not a whole number", quote(text))
	}
	k, err := strconv.Atoi(m[1])
	switch {
	case strings.HasPrefix(m[1], "-") && k != 0:
		return 0, fmt.Errorf("step %s is negative", text)
	case err != nil:
		return 0, fmt.Errorf("step %s is too large", text)
	}
	return k, nil
}

// unlike is the text of x with a number of significant digits, or more if it would otherwise be
// the text of another number.
func unlike(x, other float64, digits int) string {
	text := strconv.FormatFloat(x, 'g', digits, 64)
	for x != other && text == strconv.FormatFloat(other, 'g', digits, 64) {
		digits++
		text = strconv.FormatFloat(x, 'g', digits, 64)
	}
	return text
}
