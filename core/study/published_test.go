package study_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/published"
	"foible.dev/foible/core/study"
)

// blockWords and doorsKeysGems are the sources that the published study.yaml
// files spell out.
func blockWords() study.Source {
	return study.Source{
		Name: "block-words-2021", Domain: "block-words", DomainPDDL: "domain.pddl",
		Stimuli: "stimuli.csv", Problems: "problems/{stimulus}.pddl", Plans: "plans/{stimulus}.plan",
		Responses:   "responses.csv",
		Observation: study.Observation{PredicateNoise: 0.1},
		Goal:        tower,
	}
}

func doorsKeysGems() study.Source {
	return study.Source{
		Name: "doors-keys-gems-2021", Domain: "doors-keys-gems", DomainPDDL: "domain.pddl",
		Stimuli: "stimuli.csv", Problems: "problems/{stimulus}.pddl", Plans: "plans/{stimulus}.plan",
		Means:       "means.csv",
		Observation: study.Observation{PredicateNoise: 0.05, FluentNoise: 0.25},
		Goal: func(name string, _ *pddl.Problem) (string, error) {
			return "(has " + name + ")", nil
		},
	}
}

// tower is the goal of a word read from the top of a tower down.
func tower(word string, p *pddl.Problem) (string, error) {
	var goal strings.Builder
	for i, letter := range word {
		if p.Object(string(letter)) == nil {
			return "", fmt.Errorf("no block %q", letter)
		}
		if i == 0 {
			fmt.Fprintf(&goal, "(and (clear %c)", letter)
		} else {
			fmt.Fprintf(&goal, " (on %c %c)", word[i-1], letter)
		}
	}
	fmt.Fprintf(&goal, " (ontable %c))", word[len(word)-1])
	return goal.String(), nil
}

func TestPublishedBlockWords(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", "block-words")
	s, findings := study.Read(os.DirFS(dir), blockWords())
	noErrors(t, findings)
	compare(t, "notes", notes(findings), []string{
		"responses.csv: note: 45 of 1,821 vectors sum to 0.99 instead of 1 and were renormalised",
	})
	compare(t, "check", printed(must(study.Check(context.Background(), s))), []string{
		"note: stimuli: 16 (control 4, action-mistake 4, plan-mistake 4, goal-mistake 4)",
		"note: participants per judgement: 15 to 19, median 17",
		"note: participants are not linked: one id in two stimuli is two people",
	})
	first := s.Stimuli[0]
	if first.ID != "1-1" || first.Goals[first.TrueGoal].Name != "core" || len(first.Plan) != 10 {
		t.Errorf("stimulus 1-1 is %+v", first)
	}
	for _, stimulus := range s.Stimuli {
		everyVectorSumsToOne(t, stimulus)
		task, err := stimulus.Task()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := task.Validate(stimulus.Plan); err != nil {
			t.Errorf("stimulus %s: %v", stimulus.ID, err)
		}
	}
	// The published means were taken before normalizing.
	source := blockWords()
	source.Means = "means.csv"
	if _, findings := study.Read(os.DirFS(dir), source); findings.Err() != nil {
		t.Errorf("with means: %v", findings.Err())
	}
}

func TestPublishedDoorsKeysGems(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", "doors-keys-gems")
	s, findings := study.Read(os.DirFS(dir), doorsKeysGems())
	noErrors(t, findings)
	compare(t, "notes", notes(findings), []string{
		"means.csv: note: 59 of 72 vectors sum to 0.9906..0.9994 instead of 1 and were renormalised",
	})
	compare(t, "check", printed(must(study.Check(context.Background(), s))), []string{
		"note: stimuli: 16 (control 4, action-mistake 4, plan-mistake-backtracking 4, plan-mistake-failure 4)",
		"note: only means are known: participants cannot be resampled",
	})
	for _, stimulus := range s.Stimuli {
		everyVectorSumsToOne(t, stimulus)
		if h := stimulus.Human; h.Participants != nil || h.Responses != nil || h.SE != nil || len(h.N) != len(h.Mean) {
			t.Errorf("stimulus %s: participants out of nothing: %+v", stimulus.ID, h)
		}
	}
}

func everyVectorSumsToOne(t *testing.T, s study.Stimulus) {
	t.Helper()
	all := append([][]float64{}, s.Human.Mean...)
	for _, answers := range s.Human.Responses {
		all = append(all, answers...)
	}
	for _, v := range all {
		if v == nil {
			continue
		}
		sum := 0.0
		for _, p := range v {
			sum += p
		}
		// 1e-9 is what Read takes for the rounding of arithmetic.
		if math.IsNaN(sum) || math.Abs(sum-1) > 1e-9 {
			t.Errorf("stimulus %s: %v sums to %v", s.ID, v, sum)
		}
	}
}

func noErrors(t *testing.T, findings study.Findings) {
	t.Helper()
	if err := findings.Err(); err != nil {
		t.Error(err)
	}
}

func notes(findings study.Findings) []string {
	var lines []string
	for _, f := range findings {
		if f.Severity == study.Note {
			lines = append(lines, f.String())
		}
	}
	return lines
}

func printed(findings study.Findings) []string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.String()
	}
	return lines
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s:\n%s\nwant:\n%s", what, g, w)
	}
}
