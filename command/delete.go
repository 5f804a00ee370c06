package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	xterm "golang.org/x/term"

	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// DeleteOptions say which sweeps to delete.
type DeleteOptions struct {
	Coordinator Target
	Sweeps      []string // their ids
	Yes         bool     // without asking
}

// Delete removes sweeps that have ended, and their results, from a coordinator's disk. It removes none if one of them is
// not there, or has not ended.
func Delete(ctx context.Context, term *Terminal, o DeleteOptions) error {
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	var all []*foiblev1.Sweep
	for i, id := range o.Sweeps {
		if slices.Contains(o.Sweeps[:i], id) {
			continue
		}
		m, err := c.sweep(ctx, id)
		if err != nil {
			return err
		}
		if unended(m.GetState()) {
			return fmt.Errorf("sweep %s is %s; end it with `foible cancel%s %[1]s` first", id, stateText(m), c.flags())
		}
		all = append(all, m)
	}
	if !o.Yes {
		if !xterm.IsTerminal(int(os.Stdin.Fd())) || !xterm.IsTerminal(int(os.Stderr.Fd())) {
			return usagef("what is deleted cannot be had back: say --yes to delete %s", words.Count(len(all), "sweep"))
		}
		for _, m := range all {
			fmt.Fprintf(term.Err, "%s: %s, %s done\n", m.GetSweepId(), stateText(m), cells(m))
		}
		if !confirmed(os.Stdin, term.Err, fmt.Sprintf("Delete %s with all results?", words.Count(len(all), "sweep"))) {
			term.say("Nothing is deleted.")
			return nil
		}
	}
	for _, m := range all {
		if _, err := c.sweeps.DeleteSweep(ctx, &foiblev1.DeleteSweepRequest{SweepId: m.GetSweepId()}); err != nil {
			return c.explainSweep(ctx, m.GetSweepId(), err)
		}
		fmt.Fprintf(term.Out, "%s: deleted\n", m.GetSweepId())
	}
	return nil
}

// confirmed asks a question that y or yes agrees to; all else, and no answer, does not.
func confirmed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	line, _ := bufio.NewReader(in).ReadString('\n') // what is read before an error counts
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
