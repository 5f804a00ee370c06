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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	term := &command.Terminal{Out: command.Plain(os.Stdout), Err: command.Plain(os.Stderr), Logs: command.NewLogs(command.Plain(os.Stderr))}
	called, err := command.NewRoot(term).ExecuteContextC(ctx)
	os.Exit(exitCode(ctx, term, called, err))
}

// exitCode prints why a command has failed, unless it has said so itself.
func exitCode(ctx context.Context, term *command.Terminal, called *cobra.Command, err error) int {
	var usage *command.UsageError
	var ended *command.EndedError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, command.ErrInterrupted), ctx.Err() != nil && errors.Is(err, context.Canceled):
		return command.ExitInterrupted
	case errors.Is(err, command.ErrReported):
		return command.ExitError
	case errors.As(err, &usage):
		term.PrintError(fmt.Errorf("%w (see `%s --help`)", err, called.CommandPath()))
		return command.ExitUsage
	}
	term.PrintError(err)
	switch {
	case errors.As(err, &ended) && ended.Cancelled:
		return command.ExitCancelled
	case ended != nil:
		return command.ExitFailures
	}
	return command.ExitError
}
