package results

import (
	"testing"

	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/report/fit"
)

// The reasons of failures hold nothing that a terminal obeys, and each stays in its line.
func TestFailuresCommandNoTerminal(t *testing.T) {
	commandtest.CheckPlain(t, "failures of results", func(e *terminal.Terminal) {
		printFailures(e, []fit.Failure{{Model: "full", Reason: commandtest.Hostile, Cells: 1, Of: 2}})
	})
}
