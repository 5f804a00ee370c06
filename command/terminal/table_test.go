package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func fitTable() *Table {
	t := NewTable("Model", "Best parameter set↓", "r", "MC SE", "95% interval", "RMSE", "n")
	t.Add("action-lesioned", "#12 goal_noise=0.2 budget_r=2 budget_q=0.95 search_noise=0.02 action_noise=0.1", "0.993", "0.00022", "[0.986, 0.992] by participants", "0.030", "1,195")
	t.Add("boltzmann", "#1 alpha=2", "0.855")
	return t
}

// Where there is no terminal, a row is a line; in 80 columns the parameter set has one of its own.
func TestTableFits(t *testing.T) {
	var piped, narrow bytes.Buffer
	fitTable().Print(&piped, 0)
	fitTable().Print(&narrow, 80)
	if got, want := piped.String(), `Model            Best parameter set                                                              r      MC SE    95% interval                    RMSE   n
action-lesioned  #12 goal_noise=0.2 budget_r=2 budget_q=0.95 search_noise=0.02 action_noise=0.1  0.993  0.00022  [0.986, 0.992] by participants  0.030  1,195
boltzmann        #1 alpha=2                                                                      0.855
`; got != want {
		t.Errorf("piped:\n%s\nwant\n%s", got, want)
	}
	if got, want := narrow.String(), `Model            r      MC SE    95% interval                    RMSE   n
    Best parameter set
action-lesioned  0.993  0.00022  [0.986, 0.992] by participants  0.030  1,195
    #12 goal_noise=0.2 budget_r=2 budget_q=0.95 search_noise=0.02
    action_noise=0.1
boltzmann        0.855
    #1 alpha=2
`; got != want {
		t.Errorf("in 80 columns:\n%s\nwant\n%s", got, want)
	}
}

// From a width at which a column fits beside the first one, nothing is wider than the terminal.
func TestTableFitsEveryWidth(t *testing.T) {
	for width := 50; width < 170; width++ {
		var out bytes.Buffer
		fitTable().Print(&out, width)
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, line)
			}
		}
		for _, text := range []string{"0.00022", "1,195", "by participants", "action_noise=0.1", "alpha=2"} {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%d columns: no %q in\n%s", width, text, &out)
			}
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"a warning that is long", 0, "a warning that is long"},
		{"a warning that is long", 22, "a warning that is long"},
		{"a warning that is long", 12, "a warning\n  that is\n  long"},
		{"  indented and long", 12, "  indented\n  and long"},
		{"two\nlines of it", 9, "two\nlines of\n  it"},
		{"say `foible fit --models full` again", 16, "say\n  `foible fit --models full`\n  again"},
		{"averyveryverylongword and more", 10, "averyveryverylongword\n  and more"},
		{"Größe über alles", 10, "Größe über\n  alles"},
	} {
		if got := Wrapped(c.text, c.width, hanging); got != c.want {
			t.Errorf("%d columns: got %q, want %q", c.width, got, c.want)
		}
	}
}

// A command is printed for a shell to join: it has the same words, and no flag is apart from its value.
func TestPrintCommand(t *testing.T) {
	const command = "foible fit 'my study' --set alpha=1,2,4 --strict --models full,boltzmann --out 'of my study'"
	for width, want := range map[int]string{
		0:   "Next: " + command + "\n",
		200: "Next: " + command + "\n",
		60: `Next:
  foible fit 'my study' --set alpha=1,2,4 --strict \
    --models full,boltzmann --out 'of my study'
`,
	} {
		var out bytes.Buffer
		(&Terminal{Out: &out, Columns: width}).PrintCommand("Next:", command)
		if out.String() != want {
			t.Errorf("%d columns:\n%swant\n%s", width, &out, want)
		}
	}
	for width := 30; width < 120; width++ {
		var out bytes.Buffer
		(&Terminal{Out: &out, Columns: width}).PrintCommand("Next:", command)
		joined := strings.Join(strings.Fields(strings.ReplaceAll(out.String(), "\\\n", "")), " ")
		if joined != "Next: "+command {
			t.Errorf("%d columns: a shell reads %s", width, joined)
		}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(line) > width+1 {
				t.Errorf("%d columns: a line of %d: %s", width, utf8.RuneCountInString(line)-1, line)
			}
		}
	}
}

// Entries begin below each other.
func TestEntry(t *testing.T) {
	var out bytes.Buffer
	e := &Terminal{Out: &out, Columns: 40}
	e.Entry("Cells", "%d", 7)
	e.Entry("  shared", "%s", "for searches and heuristics that cells share")
	want := "Cells         7\n  shared      for searches and\n              heuristics that cells\n              share\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// Messages fit the terminal, and are whole lines elsewhere.
func TestMessagesFit(t *testing.T) {
	var out bytes.Buffer
	long := strings.TrimSpace(strings.Repeat("word ", 50))
	(&Terminal{Out: &out, Err: &out}).Say("%s", long)
	if got := out.String(); got != long+"\n" {
		t.Errorf("elsewhere: %q", got)
	}
	out.Reset()
	e := &Terminal{Out: &out, Err: &out, Columns: 40}
	e.Say("%s", long)
	e.Print("%s", long)
	for line := range strings.Lines(out.String()) {
		if len(line) > 41 {
			t.Errorf("a line of %d: %s", len(line)-1, line)
		}
	}
}
