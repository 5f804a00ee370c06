package study_test

import (
	"testing"

	"foible.dev/foible/core/study"
)

// row is line 2 of responses.csv.
const row = "one,p1,0,red,0.5\n"

// malformedStudies are studies with a mistake each, and all errors that are found.
var malformedStudies = []struct {
	name  string
	files map[string]string
	want  []string
}{
	{"comma as decimal and as separator", with("responses.csv", "stimulus,participant,step,goal,probability\none,p1,0,red,0,5\none,p1,0,green,0,5\n"), []string{
		`responses.csv:2:16: error: "5" stands under no column; with decimal commas, separate the cells by semicolons (and in 1 more row)`,
	}},
	{"decimal comma slipping into a column without name", with("responses.csv", "stimulus,participant,step,goal,probability,\none,p1,0,red,0,5\n"), []string{
		`responses.csv:2:16: error: "5" stands under no column; with decimal commas, separate the cells by semicolons`,
	}},
	{"decimal comma slipping into exclude", with("responses.csv", "stimulus,participant,step,goal,probability,exclude\none,p1,0,red,0,5\none,p1,0,green,0.5\n"), []string{
		`responses.csv:2:14: error: stimulus one: participant p1, step 0: the probabilities sum to 0.5, not 1`,
		`responses.csv:2:16: error: exclude is "5": write why, or 1`,
	}},
	{"header by semicolons, rows by commas", with("responses.csv", "stimulus;participant;step;goal;probability\none,p1,0,red,0.5\n"), []string{
		`responses.csv:2:1: error: the row ends before column "participant", after 1 cell`,
	}},
	{"misspelt column", swap("responses.csv", "probability", "probabilty"), []string{
		`responses.csv:1:32: error: unknown column "probabilty"; did you mean "probability"?`,
	}},
	{"unknown column where probability is missing", swap("responses.csv", "probability", "confidence"), []string{
		`responses.csv:1:1: error: no column "probability", and "confidence" is not known; if the rows are chosen goals, leave that column out`,
	}},
	{"missing column", swap("responses.csv", "participant", "subject"), []string{
		`responses.csv:1:1: error: no column "participant" (the columns are stimulus, subject, step, goal, probability)`,
	}},
	{"duplicate column", swap("stimuli.csv", "category", "Goals"), []string{
		`stimuli.csv:1:16: error: column "goals" is there twice, as number 2 and 3`,
	}},
	{"not a number", swap("responses.csv", row, "one,p1,0,red,half\n"), []string{
		`responses.csv:2:14: error: "half" is not a number; no answer is written as a blank cell or one of NA, n/a, nan, null, none, n.a., missing, no answer, no response, -, .`,
	}},
	{"NaN", swap("responses.csv", row, "one,p1,0,red,NaN\n"), []string{
		`responses.csv:2:14: error: stimulus one: participant p1, step 0: "NaN" says that there is no answer, but line 3 has one`,
	}},
	{"infinity", swap("responses.csv", row, "one,p1,0,red,+Inf\n"), []string{
		`responses.csv:2:14: error: "+Inf" is not a number`,
	}},
	{"hexadecimal", swap("responses.csv", row, "one,p1,0,red,0x1p-1\n"), []string{
		`responses.csv:2:14: error: "0x1p-1" is not a number`,
	}},
	{"overflow", swap("responses.csv", row, "one,p1,0,red,1e999\n"), []string{
		`responses.csv:2:14: error: probability 1e999 is above 1`,
	}},
	{"empty probability", swap("responses.csv", row, "one,p1,0,red,\n"), []string{
		`responses.csv:2:14: error: stimulus one: participant p1, step 0: a blank cell says that there is no answer, but line 3 has one`,
	}},
	{"negative", swap("responses.csv", row, "one,p1,0,red,-0.5\n"), []string{
		`responses.csv:2:14: error: probability -0.5 is negative`,
	}},
	{"percentage", swap("responses.csv", row, "one,p1,0,red,50\n"), []string{
		`responses.csv:2:14: error: probability 50 is above 1 (percentages must be divided by 100)`,
	}},
	{"percent sign", swap("responses.csv", row, "one,p1,0,red,50%\n"), []string{
		`responses.csv:2:14: error: "50%" is a percentage: write a number from 0 to 1`,
	}},
	{"sum too low", swap("responses.csv", row, "one,p1,0,red,0.479\n"), []string{
		`responses.csv:2:14: error: stimulus one: participant p1, step 0: the probabilities sum to 0.979, not 1`,
	}},
	{"goal missing", swap("responses.csv", row, ""), []string{
		`responses.csv:2:16: error: stimulus one: participant p1, step 0: no probability for red`,
	}},
	{"goal twice", swap("responses.csv", row, row+row), []string{
		`responses.csv:3:10: error: stimulus one: participant p1, step 0: goal "red" is there twice: also in line 2`,
	}},
	{"unknown goal", swap("responses.csv", row, "one,p1,0,rde,0.5\n"), []string{
		`responses.csv:2:10: error: stimulus one: goal "rde" is none of its goals (red green); did you mean "red"?`,
	}},
	{"step in between", swap("stimuli.csv", "1 2", "0 2"), []string{
		`responses.csv:10:8: error: stimulus two: step 1 is not one of its judgement steps (0, 2) (and in 2 more rows)`,
	}},
	{"step not whole", swap("responses.csv", "two,p2,2,blue,0\n", "two,p2,2,blue,0\ntwo,p3,1.5,blue,0\n"), []string{
		`responses.csv:19:8: error: step "1.5" is not a whole number`,
	}},
	{"stimulus id formatted as a number", withStimulus("001", "1"), []string{
		`responses.csv:2:1: error: no stimulus "1" in stimuli.csv, which has "001": ids are text, and have to be written alike (and in 7 more rows)`,
	}},
	{"stimulus id made a decimal", withStimulus("1", "1.0"), []string{
		`responses.csv:2:1: error: no stimulus "1.0" in stimuli.csv, which has "1": ids are text, and have to be written alike (and in 7 more rows)`,
	}},
	{"stimulus id made a date", withStimulus("1-1", "01-Jan"), []string{
		`responses.csv:2:1: error: no stimulus "01-Jan" in stimuli.csv: a spreadsheet may have made a date of an id such as 1-1 (and in 7 more rows)`,
	}},
	{"unknown stimulus", swap("responses.csv", "two,p2,2,blue,0\n", "two,p2,2,blue,0\nthree,p2,2,blue,0\n"), []string{
		`responses.csv:19:1: error: no stimulus "three" in stimuli.csv`,
	}},
	{"no participant", swap("responses.csv", "two,p2,2,blue,0\n", "two,p2,2,blue,0\ntwo,,1,blue,0\n"), []string{
		`responses.csv:19:5: error: no value in column "participant"`,
	}},
	{"open quote", swap("responses.csv", row, `"`+row), []string{
		`responses.csv:2:1: error: this quote is never closed`,
	}},
	{"text after a quote", swap("stimuli.csv", "one,plain", `one,"plain"er`), []string{
		`responses.csv:2:1: error: no stimulus "one" in stimuli.csv (and in 7 more rows)`,
		`stimuli.csv:2:12: error: text after a closing quote`,
	}},
	{"quote inside a cell", swap("responses.csv", "two,p2,2,blue,0\n", "two,p2,2,blue,0\nt\"wo,p2,2,blue,0\n"), []string{
		`responses.csv:19:2: error: a quote inside a cell: put the whole cell in quotes and double this one`,
	}},
	{"empty file", with("responses.csv", ""), []string{
		`responses.csv:1:1: error: an empty file: the columns are stimulus, participant, step, goal, probability, exclude`,
	}},
	{"Latin-1", swap("responses.csv", row, "one,Ren\xe9,0,red,0.5\n"), []string{
		`responses.csv:2:8: error: a byte that is not UTF-8: save the file as "CSV UTF-8"`,
	}},
	{"UTF-16 without mark", with("responses.csv", "s\x00t\x00"), []string{
		`responses.csv:1:2: error: a NUL character (UTF-16 without byte order mark?): save the file as "CSV UTF-8"`,
	}},
	{"UTF-16 cut off", with("responses.csv", "\xff\xfes\x00t"), []string{
		`responses.csv:1:1: error: UTF-16 with an odd number of bytes: the file is cut off`,
	}},
	{"UTF-16 with half a character", with("responses.csv", "\xff\xfes\x00\x00\xd8,\x00"), []string{
		`responses.csv:1:2: error: a character that is not UTF-16`,
	}},
	{"workbook", with("responses.csv", "PK\x03\x04\x14\x00"), []string{
		`responses.csv:1:1: error: an Excel or zip file, not text: save it as "CSV UTF-8"`,
	}},
	{"stimulus twice", swap("stimuli.csv", "two,odd", "two,odd,green,,1\ntwo,odd"), []string{
		`responses.csv:10:10: error: stimulus two: goal "red" is none of its goals (green)`,
		`responses.csv:12:10: error: stimulus two: goal "blue" is none of its goals (green)`,
		`responses.csv:13:8: error: stimulus two: step 2 is not one of its judgement steps (1) (and in 5 more rows)`,
		`stimuli.csv:4:1: error: stimulus "two" is there twice: also in line 3`,
	}},
	{"goal without meaning", swap("stimuli.csv", "red green", "red green puce"), []string{
		`responses.csv:2:14: error: stimulus one: participant p1, step 0: no probability for puce`,
		`responses.csv:4:14: error: stimulus one: participant p1, step 1: no probability for puce`,
		`responses.csv:6:14: error: stimulus one: participant p2, step 0: no probability for puce`,
		`responses.csv:8:14: error: stimulus one: participant p2, step 1: no probability for puce`,
		`stimuli.csv:2:21: error: stimulus one: goal "puce": no lamp of that name`,
	}},
	{"goal listed twice", swap("stimuli.csv", "green blue red", `"green blue  red Blue"`), []string{
		`stimuli.csv:3:26: error: stimulus two: goal "Blue" is there twice`,
	}},
	{"true goal not among the goals", swap("stimuli.csv", "green,red,0", "green,gren,0"), []string{
		`stimuli.csv:2:21: error: stimulus one: the true goal "gren" is none of its goals (red green); did you mean "green"?`,
	}},
	{"judgement step beyond the end", swap("stimuli.csv", "1 2", "1 2 9"), []string{
		`stimuli.csv:3:29: error: stimulus two: judgement step 9 is beyond the end of its plan (2 actions)`,
	}},
	{"judgement steps descend", swap("stimuli.csv", "1 2", "2 1"), []string{
		`stimuli.csv:3:27: error: stimulus two: judgement steps do not ascend: 1 after 2`,
	}},
	{"judgement step twice", swap("stimuli.csv", "1 2", "1 2 2"), []string{
		`stimuli.csv:3:29: error: stimulus two: judgement step 2 is there twice`,
	}},
	{"judgement step negative", swap("stimuli.csv", "0 1", "-1 0 1"), []string{
		`stimuli.csv:2:25: error: stimulus one: judgement step -1 is negative`,
	}},
	{"no judgement steps", swap("stimuli.csv", "1 2", ""), []string{
		`stimuli.csv:3:25: error: no value in column "judgement_steps"`,
	}},
	{"no plan", without("plans/two.plan"), []string{
		`stimuli.csv:3:1: error: stimulus two: plans: there is no file plans/two.plan`,
	}},
	{"plan of another extension", renamed("plans/two.plan", "plans/two.txt"), []string{
		`stimuli.csv:3:1: error: stimulus two: plans: there is no file plans/two.plan; did you mean plans/two.txt?`,
	}},
	{"no responses", without("responses.csv"), []string{
		`study.yaml: error: responses: there is no file responses.csv`,
	}},
	{"domain that does not parse", swap("domain.pddl", "(lit ?l)", "(lite ?l)"), []string{
		`domain.pddl:8:18: error: unknown predicate "lite"`,
	}},
	{"two mistakes at once", swapped(swap("responses.csv", row, "one,p1,0,red,0.4\n"), "stimuli.csv", "1 2", "1 2 9"), []string{
		`responses.csv:2:14: error: stimulus one: participant p1, step 0: the probabilities sum to 0.9, not 1`,
		`stimuli.csv:3:29: error: stimulus two: judgement step 9 is beyond the end of its plan (2 actions)`,
	}},
}

// Each input is the lamps with one mistake; want is every error that it makes,
// in order.
func TestMalformed(t *testing.T) {
	for _, test := range malformedStudies {
		t.Run(test.name, func(t *testing.T) {
			_, findings := study.Read(folder(test.files), lampsSource())
			compare(t, "errors", errorsOf(findings), test.want)
		})
	}
}

func errorsOf(findings study.Findings) []string {
	var lines []string
	for _, f := range findings {
		if f.Severity == study.Error {
			lines = append(lines, f.String())
		}
	}
	return lines
}

func TestMalformedSource(t *testing.T) {
	tests := []struct {
		name   string
		change func(*study.Source)
		want   []string
	}{
		{"unknown placeholder", func(s *study.Source) { s.Plans = "plans/{stim}.plan" }, []string{
			`study.yaml: error: plans: unknown placeholder {stim}; {stimulus} stands for the stimulus`,
		}},
		{"path that leaves the study", func(s *study.Source) { s.Responses = "../responses.csv" }, []string{
			`study.yaml: error: responses: "../responses.csv" is not a path inside the study's directory`,
		}},
		{"no stimuli", func(s *study.Source) { s.Stimuli = "" }, []string{
			`study.yaml: error: stimuli names no file`,
		}},
		{"no PDDL", func(s *study.Source) { s.DomainPDDL = "" }, []string{
			`study.yaml: error: domain_pddl names no file, and there is no built-in PDDL`,
		}},
		{"folder that is not there", func(s *study.Source) { s.Problems = "problem/{stimulus}.pddl" }, []string{
			`stimuli.csv:2:1: error: stimulus one: problems: there is no file problem/one.pddl (nor a folder problem)`,
			`stimuli.csv:3:1: error: stimulus two: problems: there is no file problem/two.pddl (nor a folder problem)`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := lampsSource()
			test.change(&source)
			_, findings := study.Read(folder(lamps()), source)
			compare(t, "errors", errorsOf(findings), test.want)
		})
	}
}

func TestManyMistakesStayReadable(t *testing.T) {
	files := lamps()
	for range 100 {
		files["responses.csv"] += "one,p1,0,purple,0.5\n"
	}
	for i := range 100 {
		files["responses.csv"] += "three" + string(rune('A'+i)) + ",p1,0,red,0.5\n"
	}
	_, findings := study.Read(folder(files), lampsSource())
	got := errorsOf(findings)
	if len(got) != 1+20+1 {
		t.Fatalf("%d errors", len(got))
	}
	compare(t, "errors", []string{got[0], got[1], got[21]}, []string{
		`responses.csv:19:10: error: stimulus one: goal "purple" is none of its goals (red green) (and in 99 more rows)`,
		`responses.csv:119:1: error: no stimulus "threeA" in stimuli.csv`,
		`responses.csv:139:1: error: 80 more: unknown stimuli`,
	})
}
