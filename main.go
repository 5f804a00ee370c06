// Foible fits models of other people's mistakes to human judgements, on one
// machine or on a cluster. Its commands are in the package command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"foible.dev/foible/command"
	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	term := &terminal.Terminal{Out: terminal.Plain(os.Stdout), Err: terminal.Plain(os.Stderr), Logs: terminal.NewLogs(terminal.Plain(os.Stderr))}
	called, err := command.NewRoot(term).ExecuteContextC(ctx)
	os.Exit(exitCode(ctx, term, called, err))
}

// exitCode prints why a command has failed, unless it has said so itself.
func exitCode(ctx context.Context, term *terminal.Terminal, called *cobra.Command, err error) int {
	var usage *cli.UsageError
	var ended *cli.EndedError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, cli.ErrInterrupted), ctx.Err() != nil && errors.Is(err, context.Canceled):
		return cli.ExitInterrupted
	case errors.Is(err, cli.ErrReported):
		return cli.ExitError
	case errors.As(err, &usage):
		term.PrintError(fmt.Errorf("%w (see `%s --help`)", err, called.CommandPath()))
		return cli.ExitUsage
	}
	term.PrintError(err)
	switch {
	case errors.As(err, &ended) && ended.Cancelled:
		return cli.ExitCancelled
	case ended != nil:
		return cli.ExitFailures
	}
	return cli.ExitError
}
