package command

import (
	"runtime"

	"github.com/spf13/cobra"
)

// PrintVersion prints the version and what it was built with and for.
func PrintVersion(term *Terminal) {
	term.print("foible %s (%s, %s/%s)", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersion(term *Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  atMost(0),
		Run:   func(*cobra.Command, []string) { PrintVersion(term) },
	}
}
