package command

import (
	"runtime"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

// PrintVersion prints the version and what it was built with and for.
func PrintVersion(term *terminal.Terminal) {
	term.Print("foible %s (%s, %s/%s)", cli.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersion(term *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.AtMost(0),
		Run:   func(*cobra.Command, []string) { PrintVersion(term) },
	}
}
