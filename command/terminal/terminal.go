// Package terminal is where commands write: results to standard output, and
// progress and messages to standard error. It wraps text, fits tables to the
// width, keeps control characters away from a terminal, and asks questions.
// Read [Terminal] first.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	xterm "golang.org/x/term"

	"foible.dev/foible/core/words"
)

// Terminal is where a command writes: results to Out, messages to Err, and log lines by Logger.
type Terminal struct {
	Out, Err io.Writer
	Logger   hclog.Logger
	Logs     *Logs // where the logger writes; nil: where that is does not matter

	Columns int // width to fit; 0: that of the terminal
}

// Say writes lines to the standard error, wrapped if it is a terminal.
func (term *Terminal) Say(format string, args ...any) {
	fmt.Fprintln(term.Err, Wrapped(fmt.Sprintf(format, args...), term.Width(term.Err), hanging))
}

// PrintError writes why a command has failed to the standard error.
func (term *Terminal) PrintError(err error) { term.Say("foible: %v", err) }

// Width is that of a terminal; 0 of anything else, where lines are not wrapped, so that they
// can be searched.
func (term *Terminal) Width(out io.Writer) int {
	if term.Columns > 0 {
		return term.Columns
	}
	f, ok := Underlying(out).(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := xterm.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Print writes a line to the standard output, wrapped if it is a terminal. Ends of lines within it, which may be of
// others, are written as \n.
func (term *Terminal) Print(format string, args ...any) {
	fmt.Fprintln(term.Out, Wrapped(words.Line(fmt.Sprintf(format, args...)), term.Width(term.Out), hanging))
}

// Entry prints a label and what belongs to it, on lines that begin below each other.
func (term *Terminal) Entry(label, format string, args ...any) {
	text := Wrapped(words.Line(fmt.Sprintf(format, args...)), term.Width(term.Out)-entryWidth, 0)
	fmt.Fprintf(term.Out, "%-*s%s\n", entryWidth, label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", entryWidth)))
}

// entryWidth is that of a label before an entry.
const entryWidth = 14

// PrintCommand prints a command to be copied, behind a lead on the same line if the terminal is wide enough; else below
// it, on lines that a shell joins.
func (term *Terminal) PrintCommand(lead, command string) {
	lead, command = words.Line(lead), words.Line(command)
	width := term.Width(term.Out)
	if width <= 0 || utf8.RuneCountInString(lead+" "+command) <= width {
		fmt.Fprintln(term.Out, lead, command)
		return
	}
	var parts []string // flags with their values
	for _, word := range unbroken(command, '\'') {
		if n := len(parts) - 1; n > 0 && strings.HasPrefix(parts[n], "--") && !strings.Contains(parts[n], " ") && !strings.HasPrefix(word, "--") {
			parts[n] += " " + word
		} else {
			parts = append(parts, word)
		}
	}
	const joined = " \\"
	fmt.Fprintln(term.Out, Wrapped(lead, width, hanging))
	fmt.Fprintln(term.Out, strings.ReplaceAll(filled("  ", parts, width-len(joined), 2*hanging), "\n", joined+"\n"))
}

// PrintJSON prints a value as indented JSON.
func (term *Terminal) PrintJSON(v any) error {
	out := json.NewEncoder(term.Out)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// PrintTable prints a table to the standard output.
func (term *Terminal) PrintTable(t *Table) { t.Print(term.Out, term.Width(term.Out)) }

// Redraws says whether lines that were written can be redrawn, and keys be read.
func Redraws(out io.Writer) bool {
	f, ok := Underlying(out).(*os.File)
	kind := os.Getenv("TERM")
	return ok && kind != "" && kind != "dumb" && xterm.IsTerminal(int(f.Fd())) && xterm.IsTerminal(int(os.Stdin.Fd()))
}

// PrintDoc prints a paragraph, wrapped if it goes to a terminal.
func PrintDoc(term *Terminal, text string, indent int) {
	fmt.Fprintln(term.Out, Wrapped(text, term.Width(term.Out), indent))
}
