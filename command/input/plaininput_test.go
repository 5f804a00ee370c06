package input

import (
	"errors"
	"strings"
	"testing"

	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/study"
)

// What is wrong with a study holds nothing that a terminal obeys, and stays in its line.
func TestFindingsCommandNoTerminal(t *testing.T) {
	commandtest.CheckPlain(t, "an error", func(e *terminal.Terminal) {
		e.PrintError(errors.New(strings.ReplaceAll(commandtest.Hostile, "\n", "")))
	})
	commandtest.CheckPlain(t, "a finding", func(e *terminal.Terminal) {
		e.Print("%s", study.Finding{Pos: pddl.Pos{File: "a\x1b[1m.csv", Line: 1}, Message: commandtest.Hostile})
	})
}
