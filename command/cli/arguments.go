package cli

import (
	"github.com/spf13/cobra"

	"foible.dev/foible/core/words"
)

// AtMost refuses more than n arguments.
func AtMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return Usagef("unexpected argument %q: write `%s`", args[n], Synopsis(c))
		}
		return nil
	}
}

// ExactlyOne asks for the argument, and refuses more.
func ExactlyOne(ask string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("%s, as in `%s`", ask, Synopsis(c))
		}
		return AtMost(1)(c, args)
	}
}

// Synopsis is a command with its arguments.
func Synopsis(c *cobra.Command) string { return c.Parent().CommandPath() + " " + c.Use }

// OptionalArgument is the argument of a command that takes at most one; "" if it is not there.
func OptionalArgument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// UnknownCommand refuses arguments of a command that has only subcommands, and proposes the one that may be meant.
func UnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := words.Nearest(args[0], names); near != "" {
		return Usagef("there is no command %q; did you mean `%s %s`?", args[0], c.CommandPath(), near)
	}
	return Usagef("there is no command %q", args[0])
}
