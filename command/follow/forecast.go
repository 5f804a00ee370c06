package follow

import (
	"fmt"

	"foible.dev/foible/core/words"
)

// worthSaying is the duration in seconds from which a forecast is printed.
const worthSaying = 60.

// Forecast is how long sweeps are to take, by a pilot.
type Forecast struct {
	Expected, Low, High float64 // seconds, as busy as the machine was
	Cells               int     // that the pilot ran
}

// String is "" unless it may take long.
func (f *Forecast) String() string {
	if f == nil || f.High < worthSaying {
		return ""
	}
	return fmt.Sprintf("It will take about %s (%s to %s), by a pilot of %s; `foible estimate` looks longer.", Duration(f.Expected), Duration(f.Low), Duration(f.High), words.Count(f.Cells, "cell"))
}

// Duration is a number of seconds in words, such as 12 min.
func Duration(seconds float64) string {
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
