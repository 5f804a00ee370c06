package domains_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
)

// setsOf are the parameter sets of a sweep.
func setsOf(t *testing.T, src string) []model.ParameterSet {
	t.Helper()
	m := must(domains.LoadSweep("sweep.yaml", []byte(src)))
	c := must(codec.Config(m))
	return must(c.ParameterSets())
}

const allModels = `models:
  full: {goal_noise: 0.1, budget_r: 2, budget_q: 0.9, search_noise: 0.1, action_noise: 0.1}
  plan-lesioned: {goal_noise: 0.1, action_noise: 0.1}
  boltzmann: {alpha: [1, 2], value: [optimal, heuristic]}
`

// everything is all that allModels has.
var everything = []string{"full", "plan-lesioned", "boltzmann optimal", "boltzmann heuristic"}

// usableOf checks the models of a sweep with a folder's study, and lists what is found, and what can be used.
func usableOf(t *testing.T, ctx context.Context, f folder, limits inference.Limits) (found, models []string) {
	t.Helper()
	s, findings := domains.Draft(f)
	if s == nil {
		t.Fatal(findings)
	}
	usable := must(s.CheckModels(ctx, setsOf(t, allModels), limits))
	for _, f := range usable.Findings {
		found = append(found, f.String())
	}
	for i := range usable.Sets {
		name := usable.Sets[i].Model
		if v, ok := usable.Sets[i].Get("value"); ok {
			name += " " + v.Word
		}
		if !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return found, models
}

func wantFound(t *testing.T, found, want []string) {
	t.Helper()
	if !slices.Equal(found, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// The samples can be used by every model.
func TestModelsOfSamples(t *testing.T) {
	for i := range domains.All {
		found, models := usableOf(t, t.Context(), sample(t, domains.All[i].Name), inference.DefaultLimits)
		wantFound(t, found, nil)
		wantFound(t, models, everything)
	}
}

// Each study is one that inference would fail on; what is wrong is said once for all stimuli, at its place.
func TestModelsThatCannotBeUsed(t *testing.T) {
	tests := []struct {
		name, domain string
		change       func(folder)
		limits       inference.Limits
		found, can   []string
	}{
		{
			"an effect that the heuristic does not know", "block-words",
			func(f folder) {
				f.swap("domain.pddl", ":equality", ":equality :conditional-effects")
				f.swap("domain.pddl", "(clear ?y)\n", "(clear ?y) (when (ontable ?y) (clear ?y))\n")
			},
			inference.DefaultLimits,
			[]string{
				`domain.pddl:27:61: error: stimulus 1-1 and 7 more: boltzmann with value heuristic cannot be used: conditional effect (clear ?y) of (unstack t r) has no propositional form`,
				`domain.pddl:27:61: error: stimulus 1-1 and 7 more: full and plan-lesioned cannot be used: conditional effect (clear ?y) of (unstack t r) has no propositional form`,
			},
			[]string{"boltzmann optimal"},
		},
		{
			"a maze without a size", "doors-keys-gems",
			func(f folder) {
				for name := range f.MapFS {
					f.write(name, strings.ReplaceAll(f.read(name), "(width)", "(breadth)"))
				}
			},
			inference.DefaultLimits,
			[]string{
				`problems/1-1.pddl:12:1: error: stimulus 1-1 and 7 more: boltzmann with value heuristic cannot be used: heuristic: maze: (width) has no value`,
				`problems/1-1.pddl:12:1: error: stimulus 1-1 and 7 more: full and plan-lesioned cannot be used: heuristic: maze: (width) has no value`,
			},
			[]string{"boltzmann optimal"},
		},
		{
			"too many states", "doors-keys-gems", func(folder) {},
			inference.Limits{States: 300, Nodes: 100_000},
			[]string{
				`stimuli.csv:2:1: error: stimulus 1-1 and 5 more: boltzmann with value optimal cannot be used: more than 300 states can be reached: too many states for exact values; use value: heuristic`,
			},
			[]string{"full", "plan-lesioned", "boltzmann heuristic"},
		},
		{
			"long searches", "doors-keys-gems", func(folder) {},
			inference.Limits{States: 5_000_000, Nodes: 50},
			[]string{
				`stimuli.csv:2:1: warning: stimulus 1-1 and 2 more: plan-lesioned may take very long: no plan to "gem3" is found in the first 50 nodes of A*`,
				`stimuli.csv:3:1: warning: stimulus 1-2 and 4 more: plan-lesioned may take very long: no plan to "gem2" is found in the first 50 nodes of A*`,
			},
			everything,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := sample(t, test.domain)
			test.change(f)
			found, can := usableOf(t, t.Context(), f, test.limits)
			wantFound(t, found, test.found)
			wantFound(t, can, test.can)
		})
	}
}

// A deadline that has passed leaves out everything, and says so; a context that is cancelled is an error.
func TestModelsForWantOfTime(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	found, models := usableOf(t, late, sample(t, "block-words"), inference.DefaultLimits)
	wantFound(t, found, []string{
		"note: for want of time it was not tried whether these can be used: full and plan-lesioned (all stimuli); boltzmann with value optimal (all stimuli)",
	})
	wantFound(t, models, everything)

	s, _ := domains.Draft(sample(t, "block-words"))
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.CheckModels(ended, setsOf(t, allModels), inference.DefaultLimits); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

// What cannot be in a maze, or of blocks, is warned of where the problem says it.
func TestWorldsThatCannotBe(t *testing.T) {
	maze := sample(t, "doors-keys-gems")
	maze.swap("problems/1-1.pddl", "(wall ", "(door 20 20) (wall 0 1) (wall ")
	maze.swap("problems/1-1.pddl", "(= (xpos) 4)", "(= (xpos) 6)")
	maze.swap("problems/1-1.pddl", "key1 key2", "key1 key2 key3")
	maze.swap("problems/1-1.pddl", "(at key1", "(at key1 2 2) (at key1")
	blocks := sample(t, "block-words")
	blocks.swap("problems/1-1.pddl", "(handempty)", "(handempty) (holding i) (on t a)")
	blocks.swap("problems/1-1.pddl", "(clear r) (ontable r)", "(ontable r)")
	blocks.swap("problems/1-1.pddl", "n s - block", "n s e - block")
	for _, test := range []struct {
		f    folder
		want []string
	}{
		{maze, []string{
			`problems/1-1.pddl:25:5: warning: stimulus 1-1: (door 20 20) is outside the maze, which has 9 by 7 cells, from (1, 1)`,
			`problems/1-1.pddl:25:18: warning: stimulus 1-1: (wall 0 1) is outside the maze, which has 9 by 7 cells, from (1, 1)`,
			`problems/1-1.pddl:35:5: warning: stimulus 1-1: (at key1 2 2) is in a wall`,
			`problems/1-1.pddl:35:19: warning: stimulus 1-1: key1 lies in two places`,
			`problems/1-1.pddl:24:5: warning: stimulus 1-1: the agent is in a wall`,
			`problems/1-1.pddl:16:15: warning: stimulus 1-1: key key3 lies nowhere`,
		}},
		{blocks, []string{
			`problems/1-1.pddl:8:5: warning: stimulus 1-1: the hand is empty, and yet holds i`,
			`problems/1-1.pddl:9:5: warning: stimulus 1-1: a is clear, and yet t stands on it`,
			`problems/1-1.pddl:6:13: warning: stimulus 1-1: block t is in 2 places`,
			`problems/1-1.pddl:6:15: warning: stimulus 1-1: nothing stands on block r, and it is not said to be clear: it cannot be taken`,
			`problems/1-1.pddl:6:19: warning: stimulus 1-1: block i is in 2 places`,
			`problems/1-1.pddl:6:25: warning: stimulus 1-1: block e stands nowhere`,
		}},
	} {
		s, found := domains.Draft(test.f)
		if found.Err() != nil {
			t.Fatal(found.Err())
		}
		var got []string
		for _, f := range s.CheckProblems() {
			got = append(got, f.String())
		}
		wantFound(t, got, test.want)
	}
}

// spelling is a study of one plan with two words, of which the first has n letters.
func spelling(t *testing.T, n int) folder {
	t.Helper()
	letters := "abcdefghij"[:n]
	f := sample(t, "block-words")
	for name := range f.MapFS {
		if strings.HasPrefix(name, "problems/") || strings.HasPrefix(name, "plans/") || strings.HasSuffix(name, ".csv") {
			delete(f.MapFS, name)
		}
	}
	var objects, init strings.Builder
	for _, l := range letters {
		fmt.Fprintf(&objects, " %c", l)
		fmt.Fprintf(&init, " (ontable %c) (clear %[1]c)", l)
	}
	f.write("study.yaml", "name: words\ndomain: block-words\nstimuli: stimuli.csv\nproblems: problems/{stimulus}.pddl\nplans: plans/{stimulus}.plan\nmeans: means.csv\n")
	f.write("stimuli.csv", "stimulus,category,goals,true_goal,judgement_steps\ns,c,"+letters+" cab,cab,0 1\n")
	f.write("means.csv", "stimulus,step,goal,probability\ns,0,"+letters+",0.5\ns,0,cab,0.5\ns,1,"+letters+",0.4\ns,1,cab,0.6\n")
	f.write("problems/s.pddl", "(define (problem p) (:domain block-words) (:objects"+objects.String()+" - block) (:init (handempty)"+init.String()+"))")
	f.write("plans/s.plan", "(pick-up a)\n")
	return f
}

// The orders of a long word's letters are counted, not made; models that confuse no goals can
// be used all the same.
func TestLongWords(t *testing.T) {
	brief, cancel := context.WithDeadline(t.Context(), time.Now()) // only what is counted
	defer cancel()
	for n, want := range map[int]string{
		6:  "",
		7:  `warning: stimulus s: full and plan-lesioned may take long: goal "abcdefg" may be taken for 5,040 goals, and plans are made for each`,
		8:  `error: stimulus s: full and plan-lesioned cannot be used: goal "abcdefgh" may be taken for 40,320 goals, more than 5,040: leave goals unconfused (goal_noise 0, or goal-lesioned), or shorten it`,
		10: `error: stimulus s: full and plan-lesioned cannot be used: goal "abcdefghij" may be taken for 3,628,800 goals, more than 5,040: leave goals unconfused (goal_noise 0, or goal-lesioned), or shorten it`,
	} {
		found, models := usableOf(t, brief, spelling(t, n), inference.DefaultLimits)
		found = slices.DeleteFunc(found, func(f string) bool { return strings.HasPrefix(f, "note: for want of time") })
		var wanted []string
		if want != "" {
			wanted = []string{"stimuli.csv:2:1: " + want}
		}
		wantFound(t, found, wanted)
		usable := everything
		if n > 7 {
			usable = everything[2:]
		}
		wantFound(t, models, usable)
	}

	s := load(t, spelling(t, 9))
	ready := must(s.Ready("s"))
	p := marginalOf(4, 0.05, "total")
	for name, confused := range map[string]bool{"full": true, "goal-lesioned": false} {
		m, _ := model.ByName(name)
		cell, err := ready.Infer(t.Context(), typical(s.Domain, &m), p, 1)
		if tooMany := (*inference.ConfusionsError)(nil); errors.As(err, &tooMany) != confused {
			t.Errorf("%s: %v", name, err)
		} else if !confused && (err != nil || len(cell.Posterior) != 2) {
			t.Errorf("%s: %d steps, error %v", name, len(cell.Posterior), err)
		}
	}
}

// As many as there are, as long as they can be counted.
func TestCorruptionsAreCounted(t *testing.T) {
	d, _ := domains.ByName("block-words")
	for _, word := range []string{"", "a", "lamp", "garden"} {
		if n := d.CorruptionCount(word); n != len(d.Corruptions(word)) {
			t.Errorf("%q: %d, made %d", word, n, len(d.Corruptions(word)))
		}
	}
	if n := d.CorruptionCount("incomprehensibilities"); n != math.MaxInt {
		t.Errorf("%d orders of 21 letters", n)
	}
}
