package answer

import (
	"fmt"
	"strings"
	"unicode"

	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
)

// Computation is the first result of a job that is computed twice.
type Computation struct {
	Worker, Host string             // id of the worker, and where it runs
	Cells        []codec.CellDigest // one a parameter set
}

// Compare says which cells of a job differ between two computations; nil if none does.
func (c *Computation) Compare(o *Computation, job *sweep.Job, stimulus string) error {
	differ, first := 0, 0
	for i := range c.Cells {
		if c.Cells[i] != o.Cells[i] {
			if differ == 0 {
				first = i
			}
			differ++
		}
	}
	if differ == 0 {
		return nil
	}
	who := fmt.Sprintf("the worker on %s and the worker on %s", c.Host, o.Host)
	if c.Worker == o.Worker {
		who = fmt.Sprintf("the worker on %s, asked twice,", c.Host)
	}
	more := ""
	if differ > 1 {
		more = fmt.Sprintf(" and %d other parameter sets", differ-1)
	}
	return fmt.Errorf("%s computed different numbers for stimulus %s, %s%s; whichever is wrong may have computed other wrong ones",
		who, stimulus, &job.Sets[first], more)
}

// maxReason bounds the reason of a failure, in bytes.
const maxReason = 2000

// Printable is what a worker says, without what a terminal would obey, and not too long.
func Printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}
