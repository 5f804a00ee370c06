package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"foible/domains"
)

// sampleStudy writes the sample study of a domain, with some texts replaced: of each file, by pairs.
func sampleStudy(t *testing.T, domain string, replace map[string][]string) string {
	t.Helper()
	d, ok := domains.ByName(domain)
	if !ok {
		t.Fatalf("no domain %q", domain)
	}
	dir := filepath.Join(t.TempDir(), "study")
	if err := writeSample(d, dir); err != nil {
		t.Fatal(err)
	}
	for name, pairs := range replace {
		path := filepath.Join(dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(src)
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("%s has no %q", name, pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// One run reports what is wrong with tables, problems, plans, models and the sweep, in order.
func TestCheckReportsEverything(t *testing.T) {
	dir := sampleStudy(t, "block-words", map[string][]string{
		"domain.pddl":       {":equality", ":equality :conditional-effects", "(clear ?y)\n", "(clear ?y) (when (ontable ?y) (clear ?y))\n"},
		"plans/1-1.plan":    {"(put-down s)", "(put-down n)"},
		"problems/1-2.pddl": {"(clear", "(claer x) (on x) (clear"},
		"responses.csv":     {",0.35", ",35"},
		"stimuli.csv":       {"judgement_steps", "judgement_step"},
	})
	e, out := &Env{Err: io.Discard}, &bytes.Buffer{}
	e.Out = out
	if err := e.Check(t.Context(), dir, SweepChoice{}, time.Hour); !errors.Is(err, ErrReported) {
		t.Errorf("error %v", err)
	}
	if got, want := out.String(), `block-words-sample: 8 stimuli of block-words
domain.pddl:27:61: error: stimulus 1-1 and 6 more: full, goal-lesioned, plan-lesioned and action-lesioned cannot be used: conditional effect (clear ?y) of (unstack t r) has no propositional form
plans/1-1.plan:2:1: error: stimulus 1-1: step 2: (put-down n) is not applicable: precondition (holding n) does not hold
problems/1-2.pddl:9:12: error: stimulus 1-2: unknown object or function "x"
problems/1-2.pddl:9:15: error: stimulus 1-2: "(on" takes 2 arguments, not 1
responses.csv:2:16: error: probability 35 is above 1 (percentages must be divided by 100)
stimuli.csv:1:35: error: unknown column "judgement_step"; did you mean "judgement_steps"?
sweep: marginal inference, the observed states taken as known, sampled to a standard error of 0.002 in r and of 0.01 in each judged probability
6 errors, 0 warnings, 0 notes
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A command that runs a sweep runs nothing if a model cannot be used, and says how to leave it out.
func TestModelsAreCheckedFirst(t *testing.T) {
	dir := sampleStudy(t, "block-words", map[string][]string{
		"domain.pddl": {":equality", ":equality :conditional-effects", "(clear ?y)\n", "(clear ?y) (when (ontable ?y) (clear ?y))\n"},
	})
	said := &bytes.Buffer{}
	e := &Env{Out: io.Discard, Err: said}
	_, _, err := e.prepare(t.Context(), dir, SweepChoice{Set: []string{"value=heuristic,optimal"}})
	const want = "some models cannot be used with the study, so nothing was run; `--models boltzmann --set value=optimal` leaves them out"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if n := strings.Count(said.String(), "cannot be used"); n != 2 {
		t.Errorf("it is said %d times:\n%s", n, said)
	}
	if _, _, err := e.prepare(t.Context(), dir, SweepChoice{Models: []string{"boltzmann"}, Set: []string{"value=optimal"}}); err != nil {
		t.Error(err)
	}
}
