package fit

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
)

// A second sweep is not written among the tables and figures of a first; the command that goes on beyond the edge of a grid
// has a directory of its own.
func TestSecondSweepInTheSameDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	e := &terminal.Terminal{Out: &out, Err: io.Discard, Logger: hclog.NewNullLogger()}
	first := Options{Study: "block-words", Out: "o", Workers: 1, Sweep: input.SweepChoice{Models: []string{"plan-lesioned"}, Set: []string{"goal_noise=0", "action_noise=0.1,0.2"}}}
	if err := Fit(t.Context(), e, first); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), " --workers 1 --out o-2\n") {
		t.Errorf("no command that can be pasted in\n%s", &out)
	}
	before := commandtest.Output(t, "o")
	second := Options{Study: "block-words", Out: "o", Workers: 1, Sweep: input.SweepChoice{Models: []string{"boltzmann"}, Set: []string{"alpha=1"}}}
	if err := Fit(t.Context(), e, second); err == nil || !strings.Contains(err.Error(), "the directory o holds the output of `foible fit`, the sweep block-words-sample-") {
		t.Errorf("%v", err)
	}
	if err := Fit(t.Context(), e, first); err != nil { // the same again
		t.Error(err)
	}
	if got := commandtest.Output(t, "o"); !maps.Equal(got, before) {
		t.Errorf("the first sweep has become %v", slices.Sorted(maps.Keys(got)))
	}
	second.Overwrite = true
	if err := Fit(t.Context(), e, second); err != nil {
		t.Fatal(err)
	}
	second.Out, second.Overwrite = "fresh", false
	if err := Fit(t.Context(), e, second); err != nil {
		t.Fatal(err)
	}
	got, want := slices.Sorted(maps.Keys(commandtest.Output(t, "o"))), slices.Sorted(maps.Keys(commandtest.Output(t, "fresh")))
	if !slices.Equal(got, want) {
		t.Errorf("the second sweep has left %v, in a directory of its own %v", got, want)
	}
}
