package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/fit"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/domains"
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
	e, out := &terminal.Terminal{Err: io.Discard}, &bytes.Buffer{}
	e.Out = out
	if err := Check(t.Context(), e, dir, input.SweepChoice{}, time.Hour); !errors.Is(err, cli.ErrReported) {
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
	e := &terminal.Terminal{Out: io.Discard, Err: said}
	_, _, err := input.Prepare(t.Context(), e, dir, input.SweepChoice{Set: []string{"value=heuristic,optimal"}})
	const want = "some models cannot be used with the study, so nothing was run; `--models boltzmann --set value=optimal` leaves them out"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if n := strings.Count(said.String(), "cannot be used"); n != 2 {
		t.Errorf("it is said %d times:\n%s", n, said)
	}
	if _, _, err := input.Prepare(t.Context(), e, dir, input.SweepChoice{Models: []string{"boltzmann"}, Set: []string{"value=optimal"}}); err != nil {
		t.Error(err)
	}
}

// longWord is a study of one stimulus in which an agent that confuses goals may take one for any order of its n letters.
func longWord(t *testing.T, n int) string {
	t.Helper()
	letters := strings.Split("abcdefghij"[:n], "")
	word, back := strings.Join(letters, ""), ""
	table := "(handempty)"
	for _, letter := range letters {
		back = letter + back
		table += " (ontable " + letter + ") (clear " + letter + ")"
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"study.yaml":  "name: t\ndomain: block-words\nstimuli: stimuli.csv\nproblems: \"{stimulus}.pddl\"\nplans: \"{stimulus}.plan\"\nmeans: means.csv\n",
		"stimuli.csv": "stimulus,goals,true_goal,judgement_steps\ns," + word + " " + back + "," + word + ",0 1\n",
		"means.csv":   "stimulus,step,goal,probability\ns,0," + word + ",0.5\ns,0," + back + ",0.5\ns,1," + word + ",0.4\ns,1," + back + ",0.6\n",
		"s.plan":      "(pick-up a)\n",
		"s.pddl":      "(define (problem table) (:domain block-words)\n  (:objects " + strings.Join(letters, " ") + " - block)\n  (:init " + table + "))\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What fit refuses or cannot do, check refuses, with the place in the study, or as what is wrong with the sweep; what check
// passes can be fitted.
func TestCheckRefusesWhatFitCannotDo(t *testing.T) {
	sample := func(domain, file string, pairs ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			if file == "" {
				return sampleStudy(t, domain, nil)
			}
			return sampleStudy(t, domain, map[string][]string{file: pairs})
		}
	}
	word := func(n int) func(t *testing.T) string { return func(t *testing.T) string { return longWord(t, n) } }
	many := make([]string, 80) // values of an axis
	for i := range many {
		many[i] = fmt.Sprintf("%.4f", 0.001*float64(i+1))
	}
	grid := strings.Join(many, ",")
	boltzmann := input.SweepChoice{Models: []string{"boltzmann"}, Set: []string{"alpha=1", "value=optimal"}}
	full := input.SweepChoice{Models: []string{"full"}, Set: []string{"goal_noise=0.1", "budget_r=2", "budget_q=0.9", "search_noise=0.1", "action_noise=0.1"}}
	with := func(c input.SweepChoice, change func(*input.SweepChoice)) input.SweepChoice {
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		study  func(t *testing.T) string
		choice input.SweepChoice
		want   string // of check, where the study is refused; "": it is not
	}{
		"the sample":          {sample("block-words", ""), boltzmann, ""},
		"a door outside":      {sample("doors-keys-gems", "problems/1-1.pddl", "(:init", "(:init (door 99 99)"), boltzmann, ""},
		"no maze":             {sample("doors-keys-gems", "problems/1-1.pddl", "(= (width) ", "(= (xpos) "), full, `problems/1-1\.pddl:\d+:\d+: error: `},
		"no heuristic":        {sample("block-words", "domain.pddl", ":equality", ":equality :conditional-effects", "(clear ?y)\n", "(clear ?y) (when (ontable ?y) (clear ?y))\n"), full, `domain\.pddl:\d+:\d+: error: .*full cannot be used`},
		"not PDDL":            {sample("block-words", "problems/1-1.pddl", "(:init", "(:initt"), boltzmann, `problems/1-1\.pddl:\d+:\d+: error: `},
		"impossible action":   {sample("block-words", "plans/1-1.plan", "(put-down s)", "(put-down n)"), boltzmann, `plans/1-1\.plan:2:1: error: `},
		"step after the plan": {sample("block-words", "stimuli.csv", " 6", " 600"), boltzmann, `stimuli\.csv:\d+:\d+: error: `},
		"percentages":         {sample("block-words", "responses.csv", ",0.35", ",35"), boltzmann, `responses\.csv:2:16: error: `},
		"unknown column":      {sample("block-words", "stimuli.csv", "judgement_steps", "judgement_step"), boltzmann, `stimuli\.csv:1:35: error: `},
		"no such file":        {sample("block-words", "study.yaml", "responses: responses.csv", "responses: answers.csv"), boltzmann, `study\.yaml:\d+:\d+: error: `},
		"six letters":         {word(6), full, ""},
		"eight letters":       {word(8), full, `stimuli\.csv:2:1: error: stimulus s: full cannot be used: goal "abcdefgh" may be taken for 40,320 goals, more than 5,040`},
		"eight letters, sips": {word(8), with(full, func(c *input.SweepChoice) { c.Method, c.Runs, c.Particles = "sips", 2, 2 }), `stimuli\.csv:2:1: error: stimulus s: full cannot be used: `},
		"eight letters that nobody confuses": {word(8), with(full, func(c *input.SweepChoice) {
			c.Set = append([]string{"goal_noise=0"}, c.Set[1:]...)
		}), ""},
		"large results": {sample("block-words", ""), with(full, func(c *input.SweepChoice) { c.Method, c.Runs, c.Particles = "sips", 100_000, 1 }), `stimuli\.csv:\d+:\d+: error: stimulus 4-1: the result of one cell may have .* lower the runs of the fit stage to at most `},
		"topped up": {sample("block-words", ""), with(full, func(c *input.SweepChoice) {
			c.Method, c.Runs, c.Particles, c.TopUp = "sips", 1000, 1, 100
			c.Set = append([]string{"goal_noise=0.1,0.2"}, c.Set[1:]...)
		}), `stimuli\.csv:\d+:\d+: error: .* lower top_up`},
		"large grid": {sample("block-words", ""), with(full, func(c *input.SweepChoice) {
			c.Set = []string{"goal_noise=" + grid, "search_noise=" + grid, "action_noise=" + grid, "budget_r=2", "budget_q=0.9"}
		}), `sweep: .*512,000 parameter sets in a sweep, and the limit is 500,000`},
		"too large a grid": {sample("block-words", ""), with(full, func(c *input.SweepChoice) {
			c.Set = []string{"goal_noise=" + grid, "search_noise=" + grid, "action_noise=" + grid, "budget_r=2,3,4,5,6,7,8,9,10", "budget_q=0.9"}
		}), `4,608,000 parameter sets are more than`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.study(t)
			var out, said bytes.Buffer
			e := &terminal.Terminal{Out: &out, Err: &said, Logger: hclog.NewNullLogger()}
			checked := Check(t.Context(), e, dir, c.choice, time.Hour)
			if checked != nil && !errors.Is(checked, cli.ErrReported) {
				fmt.Fprintln(&out, checked)
			}
			fitted := fit.Fit(t.Context(), e, fit.Options{Study: dir, Out: filepath.Join(t.TempDir(), "out"), Workers: 2, Sweep: c.choice})
			if (checked == nil) != (fitted == nil) || (checked == nil) != (c.want == "") {
				t.Fatalf("check ends with %v, fit with %v\n%s%s", checked, fitted, &out, &said)
			}
			if !regexp.MustCompile(c.want).MatchString(out.String()) {
				t.Errorf("check does not say %q:\n%s", c.want, &out)
			}
		})
	}
}
