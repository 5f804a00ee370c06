package command

import (
	"context"
	"fmt"
	"strings"

	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Retry tries again what has failed of a sweep, and prints how the sweep stands.
func Retry(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		retried, err := c.sweeps.RetrySweep(ctx, &foiblev1.RetrySweepRequest{SweepId: id})
		if err == nil {
			sayRetried(term, retried.GetSweep(), retried.GetRetried())
		}
		return retried, err
	})
}

// sayRetried says what of a sweep is tried again; nothing if that is nothing.
func sayRetried(term *Terminal, m *foiblev1.Sweep, r *foiblev1.Retried) {
	if r == nil {
		return
	}
	var what []string
	if n := int(r.GetJobs()); n > 0 {
		what = append(what, words.Count(n, "failed job"))
	}
	if n := int(r.GetCells()); n > 0 {
		what = append(what, words.Count(n, "cell")+" that could not be computed")
	}
	is := "are"
	if r.GetJobs()+r.GetCells() == 1 {
		is = "is"
	}
	when := ""
	if m.GetRetryDue() {
		when = " when all other jobs of the sweep are done"
	}
	term.say("%s %s tried again%s.", strings.Join(what, " and "), is, when)
}

// retryAdvice is the command that tries again what failed of a sweep.
func (c *client) retryAdvice(id string) string {
	return fmt.Sprintf("`foible retry%s %s`", c.flags(), id)
}
