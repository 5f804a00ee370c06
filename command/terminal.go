package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"foible.dev/foible/core/words"
	"github.com/hashicorp/go-hclog"
	xterm "golang.org/x/term"
)

// Terminal is where a command writes: results to Out, messages to Err, and log lines by Logger.
type Terminal struct {
	Out, Err io.Writer
	Logger   hclog.Logger
	Logs     *Logs // where the logger writes; nil: where that is does not matter

	Columns int // width to fit; 0: that of the terminal
}

// say writes lines to the standard error, wrapped if it is a terminal.
func (term *Terminal) say(format string, args ...any) {
	fmt.Fprintln(term.Err, wrapped(fmt.Sprintf(format, args...), term.width(term.Err), hanging))
}

// PrintError writes why a command has failed to the standard error.
func (term *Terminal) PrintError(err error) { term.say("foible: %v", err) }

// width is that of a terminal; 0 of anything else, where lines are not wrapped, so that they
// can be searched.
func (term *Terminal) width(out io.Writer) int {
	if term.Columns > 0 {
		return term.Columns
	}
	f, ok := beneath(out).(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := xterm.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// print writes a line to the standard output, wrapped if it is a terminal. Ends of lines within it, which may be of
// others, are written as \n.
func (term *Terminal) print(format string, args ...any) {
	fmt.Fprintln(term.Out, wrapped(words.Line(fmt.Sprintf(format, args...)), term.width(term.Out), hanging))
}

// entry prints a label and what belongs to it, on lines that begin below each other.
func (term *Terminal) entry(label, format string, args ...any) {
	text := wrapped(words.Line(fmt.Sprintf(format, args...)), term.width(term.Out)-entryWidth, 0)
	fmt.Fprintf(term.Out, "%-*s%s\n", entryWidth, label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", entryWidth)))
}

// entryWidth is that of a label before an entry.
const entryWidth = 14

// printCommand prints a command to be copied, behind a lead on the same line if the terminal is wide enough; else below
// it, on lines that a shell joins.
func (term *Terminal) printCommand(lead, command string) {
	lead, command = words.Line(lead), words.Line(command)
	width := term.width(term.Out)
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
	fmt.Fprintln(term.Out, wrapped(lead, width, hanging))
	fmt.Fprintln(term.Out, strings.ReplaceAll(filled("  ", parts, width-len(joined), 2*hanging), "\n", joined+"\n"))
}

func (term *Terminal) printJSON(v any) error {
	out := json.NewEncoder(term.Out)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// table prints a table to the standard output.
func (term *Terminal) table(t *textTable) { t.print(term.Out, term.width(term.Out)) }

// redraws says whether lines that were written can be redrawn, and keys be read.
func redraws(out io.Writer) bool {
	f, ok := beneath(out).(*os.File)
	kind := os.Getenv("TERM")
	return ok && kind != "" && kind != "dumb" && xterm.IsTerminal(int(f.Fd())) && xterm.IsTerminal(int(os.Stdin.Fd()))
}

// printDoc prints a paragraph, wrapped if it goes to a terminal.
func printDoc(term *Terminal, text string, indent int) {
	fmt.Fprintln(term.Out, wrapped(text, term.width(term.Out), indent))
}
