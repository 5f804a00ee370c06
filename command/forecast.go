package command

import (
	"fmt"

	"foible.dev/foible/core/words"
)

// foretold is how long sweeps are to take, by a pilot.
type foretold struct {
	expected, low, high float64 // seconds, as busy as the machine was
	cells               int     // that the pilot ran
}

// String is "" unless it may take long.
func (f *foretold) String() string {
	if f == nil || f.high < worthSaying {
		return ""
	}
	return fmt.Sprintf("It will take about %s (%s to %s), by a pilot of %s; `foible estimate` looks longer.", took(f.expected), took(f.low), took(f.high), words.Count(f.cells, "cell"))
}

// took is a time of so many seconds as people say it.
func took(seconds float64) string {
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	}
	return fmt.Sprintf("%.1f days", seconds/24/3600)
}
