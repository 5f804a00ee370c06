package study

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/words"
)

// exclusions counts the rows that the column exclude takes out. Its text is
// the reason; empty, 0, no and false keep the row.
type exclusions struct {
	rows    int
	reasons []string // in order of first appearance
	counts  []int
}

// add reports whether a row is out. err is a number, which is no reason: cells
// may have slipped.
func (e *exclusions) add(reason string) (out bool, err error) {
	switch strings.ToLower(reason) {
	case "", "0", "no", "false":
		return false, nil
	case "1", "yes", "true", "x":
		reason = "no reason given"
	default:
		if decimal.MatchString(reason) {
			return false, fmt.Errorf("exclude is %s: write why, or 1", quote(reason))
		}
	}
	e.rows++
	i := slices.Index(e.reasons, reason)
	if i < 0 {
		i = len(e.reasons)
		e.reasons, e.counts = append(e.reasons, reason), append(e.counts, 0)
	}
	e.counts[i]++
	return true, nil
}

// String is "too fast (12), asleep (3)".
func (e *exclusions) String() string {
	parts := make([]string, len(e.reasons))
	for i, reason := range e.reasons {
		parts[i] = fmt.Sprintf("%s (%s)", reason, words.Thousands(e.counts[i]))
	}
	return strings.Join(parts, ", ")
}
