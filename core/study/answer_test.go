package study_test

import (
	"strings"
	"testing"

	"foible.dev/foible/core/study"
)

// Every accepted word is read, in the ways in which people and programs write it.
func TestWordsForNoAnswer(t *testing.T) {
	const answers = "stimulus,participant,step,goal\none,p1,0,%s\none,p1,1,red\n"
	for _, word := range append([]string{
		"Don’t know", "DON'T KNOW!", "don't_know", "I don't know", "I'm not sure", "i am unsure.", "not  sure", "I do not know", "IDK",
	}, study.DontKnow...) {
		s, findings := study.Read(folder(with("responses.csv", strings.Replace(answers, "%s", word, 1))), lampsSource())
		noErrors(t, findings)
		equal(t, s.Stimuli[0].Human.Responses, [][][]float64{{{0.5, 0.5}, {1, 0}}})
	}
	for _, word := range append([]string{"", " ", "N/A", "na", "None", "No-Answer", "--", "NULL"}, study.NoAnswer...) {
		s, findings := study.Read(folder(with("responses.csv", strings.Replace(answers, "%s", word, 1))), lampsSource())
		noErrors(t, findings)
		equal(t, s.Stimuli[0].Human.Responses, [][][]float64{{nil, {1, 0}}})
		equal(t, s.Stimuli[0].Human.N, []int{0, 1})
	}
}

// A goal that is called as no answer is that goal.
func TestGoalNamedAsNoAnswer(t *testing.T) {
	files := swapped(lamps(), "stimuli.csv", "red green,red", "red none,red")
	files = swapped(files, "problem.pddl", "red green", "red green none")
	files["responses.csv"] = "stimulus,participant,step,goal\none,p1,0,None\n"
	s, findings := study.Read(folder(files), lampsSource())
	noErrors(t, findings)
	equal(t, s.Stimuli[0].Human.Responses, [][][]float64{{{0, 1}, nil}})
}

// Where no goal of an answer has a probability, there is none; the participant is counted where there is one.
func TestNoProbabilities(t *testing.T) {
	s, findings := study.Read(folder(with("responses.csv", `stimulus,participant,step,goal,probability
one,p1,0,red,NA
one,p1,0,green,NA
one,p1,1,red,1
one,p1,1,green,0
one,p2,0,red,
one,p2,1,NA,n/a
two,p2,1,red,NA
`)), lampsSource())
	compare(t, "findings", printed(findings), []string{
		`responses.csv: note: left out for want of an answer: 5 rows ("NA", a blank cell and "n/a")`,
		`stimuli.csv:2:25: warning: stimulus one: no human data at step 0`,
		`stimuli.csv:3:1: warning: stimulus two: no human data`,
	})
	equal(t, s.Stimuli[0].Human.Participants, []string{"p1"})
	equal(t, s.Stimuli[0].Human.Responses, [][][]float64{{nil, {1, 0}}})
	equal(t, s.Stimuli[1].Human.N, []int{0, 0})
}

// Other words are refused with the list of those that are read; what contradicts itself is refused.
func TestRefusedAnswers(t *testing.T) {
	const knows = "; a participant who does not know is written as one of don't know, do not know, dont know, idk, not sure, unsure, uncertain, no idea, can't tell, cannot tell, ?" +
		"; no answer is written as a blank cell or one of NA, n/a, nan, null, none, n.a., missing, no answer, no response, -, ."
	_, findings := study.Read(folder(with("responses.csv", `stimulus,participant,step,goal
one,p1,0,maybe
one,p1,1,redd
one,p2,0,NA
one,p2,0,red
`)), lampsSource())
	compare(t, "errors", errorsOf(findings), []string{
		`responses.csv:2:10: error: stimulus one: goal "maybe" is none of its goals (red green)` + knows,
		`responses.csv:3:10: error: stimulus one: goal "redd" is none of its goals (red green); did you mean "red"?`,
		`responses.csv:4:10: error: stimulus one: participant p2, step 0: "NA" says that there is no answer, but line 5 has one`,
	})
	_, findings = study.Read(folder(with("responses.csv", `stimulus,participant,step,goal,probability
one,p1,0,purple,NA
one,p1,1,,0.5
`)), lampsSource())
	compare(t, "errors", errorsOf(findings), []string{
		`responses.csv:2:10: error: stimulus one: goal "purple" is none of its goals (red green)`,
		`responses.csv:3:10: error: stimulus one: no value in column "goal"`,
	})
}
