package command

import (
	"foible.dev/foible/core/words"
	"github.com/spf13/cobra"
)

// atMost refuses more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("unexpected argument %q: write `%s`", args[n], synopsis(c))
		}
		return nil
	}
}

// exactlyOne asks for the argument, and refuses more.
func exactlyOne(ask string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s, as in `%s`", ask, synopsis(c))
		}
		return atMost(1)(c, args)
	}
}

// synopsis is a command with its arguments.
func synopsis(c *cobra.Command) string { return c.Parent().CommandPath() + " " + c.Use }

func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func unknownCommand(c *cobra.Command, args []string) error {
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
		return usagef("there is no command %q; did you mean `%s %s`?", args[0], c.CommandPath(), near)
	}
	return usagef("there is no command %q", args[0])
}
