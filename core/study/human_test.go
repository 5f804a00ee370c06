package study_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"foible.dev/foible/core/study"
)

func TestJudgements(t *testing.T) {
	s, findings := study.Read(folder(lamps()), lampsSource())
	compare(t, "findings", printed(findings), []string{
		"responses.csv: note: 1 of 7 vectors sum to 0.99 instead of 1 and were renormalised",
	})
	one, two := s.Stimuli[0].Human, s.Stimuli[1].Human
	equal(t, one.Participants, []string{"p1", "p2"})
	equal(t, one.Mean, [][]float64{{0.375, 0.625}, {0.75, 0.25}})
	// Two answers d apart: sd = d / sqrt 2, and its standard error d / 2.
	equal(t, one.SE, [][]float64{{0.125, 0.125}, {0, 0}})
	equal(t, one.N, []int{2, 2})
	equal(t, two.N, []int{1, 2})
	equal(t, two.Responses[0][1], []float64{0.25, 0.25, 0.5}) // in the order of the stimulus's goals
	if two.Responses[1][0] != nil || two.SE[0] != nil {
		t.Errorf("p2 did not answer at step 1: %+v", two)
	}
	if r := two.Responses[0][0]; math.Abs(r[0]-1./3) > 1e-15 {
		t.Errorf("a rounded third is %v", r)
	}
}

// R's sd(c(.1, .2, .6)) / sqrt(3) is 0.1527525.
func TestStandardError(t *testing.T) {
	files := with("responses.csv", `stimulus,participant,step,goal,probability
one,a,0,red,.1
one,a,0,green,.9
one,b,0,red,.2
one,b,0,green,.8
one,c,0,red,.6
one,c,0,green,.4
`)
	s, findings := study.Read(folder(files), lampsSource())
	noErrors(t, findings)
	if se := s.Stimuli[0].Human.SE[0][0]; math.Abs(se-0.1527525) > 5e-8 {
		t.Errorf("standard error %v", se)
	}
}

func TestSelections(t *testing.T) {
	s, findings := study.Read(folder(with("responses.csv", lampsSelections)), lampsSource())
	compare(t, "findings", printed(findings), []string{
		"responses.csv: note: selections: 6 answers, 3 of them do not know",
	})
	equal(t, s.Stimuli[0].Human.Responses, [][][]float64{{{0.5, 0.5}, {1, 0}}, {{0.5, 0.5}, {0.5, 0.5}}})
	third := 1. / 3
	equal(t, s.Stimuli[1].Human.Responses, [][][]float64{{{0, 0, 1}, {third, third, third}}})

	files := with("responses.csv", lampsSelections+"one,p2,1,red\n")
	_, findings = study.Read(folder(files), lampsSource())
	compare(t, "errors", errorsOf(findings), []string{
		"responses.csv:6:10: error: stimulus one: participant p2, step 1: a goal is chosen, and yet line 6 does not know",
	})

	everything := strings.ReplaceAll(lampsResponses, ",probability", "")
	for _, p := range []string{",0.5", ",0.75", ",0.25", ",0.33", "red,0", "green,1", "blue,0"} {
		everything = strings.ReplaceAll(everything, p+"\n", strings.TrimRight(p, ",.0123456789")+"\n")
	}
	_, findings = study.Read(folder(with("responses.csv", everything)), lampsSource())
	if got := printed(findings); got[0] != "responses.csv: warning: every answer chooses every goal: is a column probability missing?" {
		t.Errorf("every goal of every answer chosen: %v", got)
	}
}

func TestMeans(t *testing.T) {
	source := lampsSource()
	source.Responses, source.Means = "", "means.csv"
	s, findings := study.Read(folder(with("means.csv", lampsMeans)), source)
	compare(t, "findings", printed(findings), []string{"stimuli.csv:3:1: warning: stimulus two: no human data"})
	h := s.Stimuli[0].Human
	equal(t, h, study.Judgements{Mean: [][]float64{{0.375, 0.625}, {0.75, 0.25}}, N: []int{0, 0}})
	equal(t, s.Stimuli[1].Human, study.Judgements{Mean: [][]float64{nil, nil}, N: []int{0, 0}})
}

func TestMeansHaveToBeThoseOfTheResponses(t *testing.T) {
	tests := []struct {
		name, means string
		want        []string
	}{
		{"equal", lampsMeans, nil},
		{"rounded", strings.NewReplacer("0.375", "0.38", "0.625", "0.62").Replace(lampsMeans), nil},
		{"other", strings.NewReplacer("0.375", "0.365", "0.625", "0.635").Replace(lampsMeans), []string{
			"means.csv:2:11: error: stimulus one: step 0: the mean of red is 0.365, but that of the responses 0.375",
		}},
		{"more", lampsMeans + "two,1,red,0.3\ntwo,1,green,0.3\ntwo,1,blue,0.4\n", []string{
			"means.csv:8:12: error: stimulus two: step 1: the mean of blue is 0.4, but that of the responses 0.333333",
		}},
	}
	source := lampsSource()
	source.Means = "means.csv"
	for _, test := range tests {
		_, findings := study.Read(folder(with("means.csv", test.means)), source)
		compare(t, test.name, errorsOf(findings), test.want)
	}
}

func TestExcludedRowsAreCounted(t *testing.T) {
	files := with("responses.csv", `stimulus,participant,step,goal,probability,exclude
one,p1,0,red,0.5,
one,p1,0,green,0.5,0
one,p2,0,red,0.9,too fast
one,p2,0,green,0.9,too fast
one,p3,0,red,nonsense,TRUE
one,p4,0,red,,asleep
one,p1,1,red,0.5,FALSE
one,p1,1,green,0.5,no
`)
	s, findings := study.Read(folder(files), lampsSource())
	compare(t, "findings", printed(findings), []string{
		"responses.csv: note: excluded 4 of 8 rows: too fast (2), no reason given (1), asleep (1)",
		"stimuli.csv:3:1: warning: stimulus two: no human data",
	})
	equal(t, s.Stimuli[0].Human.Participants, []string{"p1"})
}

func TestParticipantsThatMayBeOne(t *testing.T) {
	files := lamps()
	files["responses.csv"] = strings.ReplaceAll(strings.ReplaceAll(lampsResponses, "two,p1", "two,07"), "one,p1", "one,7")
	_, findings := study.Read(folder(files), lampsSource())
	compare(t, "not linked", warnings(findings), nil)
	source := lampsSource()
	source.ParticipantsLinked = true
	_, findings = study.Read(folder(files), source)
	compare(t, "linked", warnings(findings), []string{
		`responses.csv:10:5: warning: stimulus two: participants "7" and "07" are taken as two: ids are text`,
	})
}

func TestColumnsThatAreNotUsed(t *testing.T) {
	files := with("responses.csv", strings.ReplaceAll(strings.ReplaceAll(lampsResponses, "0.5\n", "0.5,1200,\"a, b\"\n"), "probability", "probability,rt,remark"))
	_, findings := study.Read(folder(files), lampsSource())
	if got := printed(findings)[1]; got != "responses.csv:1:1: note: not used: column rt, remark" {
		t.Errorf("note %q", got)
	}
	noErrors(t, findings)
}

func TestNoHumanData(t *testing.T) {
	source := lampsSource()
	source.Responses = ""
	s, findings := study.Read(folder(lamps()), source)
	compare(t, "findings", printed(findings), []string{
		"study.yaml: warning: neither responses nor means: models cannot be compared with people",
	})
	compare(t, "check", printed(must(study.Check(context.Background(), s))), []string{"note: stimuli: 2 (plain 1, odd 1)"})

	files := lamps()
	ofOne, _, _ := strings.Cut(lampsResponses, "two,")
	files["responses.csv"] = ofOne + "two,p1,1,red,0.5\ntwo,p1,1,green,0.5\ntwo,p1,1,blue,0\n"
	_, findings = study.Read(folder(files), lampsSource())
	compare(t, "findings", printed(findings), []string{"stimuli.csv:3:25: warning: stimulus two: no human data at step 2"})
}

func warnings(findings study.Findings) []string {
	var lines []string
	for _, f := range findings {
		if f.Severity == study.Warning {
			lines = append(lines, f.String())
		}
	}
	return lines
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
