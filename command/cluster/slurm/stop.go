package slurm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

func newStop(term *terminal.Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "stop",
		Short: "Stop workers and coordinator, and keep what is recorded",
		Args:  cli.AtMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return Stop(c.Context(), term, dir) },
	}
	dirFlag(c, &dir)
	return c
}

// Stop ends workers and coordinator. What is recorded stays.
func Stop(ctx context.Context, term *terminal.Terminal, dir string) error {
	d, r, err := findDir(dir)
	if err != nil {
		return err
	}
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	state, err := d.state()
	if err != nil {
		return err
	}
	if state == stateRunning { // before anything else, so that nobody comes back
		if err := d.setState(stateStopped); err != nil {
			return err
		}
	}
	if err := commands.Cancel(ctx, r.names(true)...); err != nil {
		return err
	}
	if err := errors.Join(awaitEnd(ctx, term, d), commands.Cancel(ctx, r.names(false)...)); err != nil {
		return err
	}
	if state == stateEnded {
		term.Say("The sweep had ended; its tables and figures are in %s.", words.Quoted(d.path(resultsDir)))
		return nil
	}
	term.Say("Stopped; what is recorded stays in %s. `foible cluster slurm restart --dir %s` goes on from there.", words.Quoted(r.Data), words.Quoted(string(d)))
	return nil
}

// awaitEnd waits until the coordinator, which sees the state, has ended.
func awaitEnd(ctx context.Context, term *terminal.Terminal, d sweepDir) error {
	address, err := d.target().Current()
	if err != nil {
		return nil // it has never begun
	}
	for deadline := time.Now().Add(leaveTime + time.Minute); ; {
		conn, err := net.DialTimeout("tcp", address, answerTimeout)
		if err != nil {
			return nil
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			return fmt.Errorf("the coordinator still answers at %s; does it see %s there?", address, words.Quoted(d.path(stateFile)))
		}
		if pause(ctx, pollInterval/2) != nil {
			return cli.ErrInterrupted
		}
	}
}
