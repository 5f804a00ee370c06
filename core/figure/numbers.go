package figure

import (
	"math"
	"strconv"

	"foible.dev/foible/core/words"
)

// number writes a value that cannot exceed 1 in size, a correlation or a
// probability, with two decimals and no leading zero (APA): .87, 1.00, −.20.
func number(v float64) string {
	return words.Unpadded(strconv.FormatFloat(v, 'f', 2, 64))
}

// interval writes bounds: [.85, .89].
func interval(low, high float64) string {
	return "[" + number(low) + ", " + number(high) + "]"
}

func finite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// bounded reports whether there is an interval to draw.
func bounded(low, high float64) bool {
	return finite(low, high) && low < high
}

// correlation reports whether r can be one.
func correlation(r float64) bool {
	return -1 <= r && r <= 1
}

// known reports whether there is a ceiling.
func known(ceiling float64) bool {
	return 0 < ceiling && ceiling <= 1
}
