package domains_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"foible.dev/foible/core/study"
	"foible.dev/foible/domains"
)

// problems loads a study and its sweep, checks both, and lists every error.
func problems(f folder) []string {
	s, found := domains.Load(f)
	if s != nil {
		found = append(found, must(study.Check(context.Background(), s.Study))...)
	}
	err := found.Err()
	if err == nil {
		_, err = domains.LoadSweep("sweep.yaml", f.MapFS["sweep.yaml"].Data)
	}
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// Parts of the study that the mistakes of malformedInputs replace.
const (
	answer = "1-1,01,0,train,0.35\n" // line 2 of responses.csv
	noise  = "predicate_noise: 0.1"
	alphas = "[0.125, 0.25, 0.5, 1, 2, 4, 8]"
)

// malformedInputs are mistakes in a Block Words study: all that is said of each is where it is, what it is, and what to do.
var malformedInputs = []struct {
	name          string
	file, old, to string // old "" replaces the whole file
	want          []string
}{
	// study.yaml
	{"quoted number", "study.yaml", noise, `predicate_noise: "0.1"`, []string{
		`study.yaml:10:20: predicate_noise is the text "0.1"; write the number without quotes`,
	}},
	{"decimal comma", "study.yaml", noise, "predicate_noise: 0,1", []string{
		`study.yaml:10:20: predicate_noise is "0,1", not a number`,
	}},
	{"a probability of 1", "study.yaml", noise, "predicate_noise: 1", []string{
		`study.yaml:10:20: predicate_noise is 1; it must be greater than or equal to 0 and less than 1`,
	}},
	{"yes for true", "study.yaml", "observation:", "participants_linked: yes\nobservation:", []string{
		`study.yaml:9:22: participants_linked is "yes"; it can be true or false`,
	}},
	{"quoted true", "study.yaml", "observation:", "participants_linked: \"true\"\nobservation:", []string{
		`study.yaml:9:22: participants_linked is "true"; it can be true or false`,
	}},
	{"misspelt key", "study.yaml", "stimuli: ", "stimulus: ", []string{
		`study.yaml:5:1: unknown key "stimulus"; there are name, title, domain, domain_pddl, stimuli, problems, plans, responses, means, observation, simulated, participants_linked, generating_parameters; did you mean "stimuli"?`,
	}},
	{"misspelt key of a part", "study.yaml", noise, "noise: 0.1", []string{
		`study.yaml:10:3: unknown key "noise"; there are predicate_noise, fluent_noise`,
	}},
	{"key twice", "study.yaml", "stimuli: ", "title: Again\nstimuli: ", []string{
		`study.yaml:5:1: title is given twice; first on line 2`,
	}},
	{"no name", "study.yaml", "name: block-words-sample\n", "", []string{
		`study.yaml:1:1: no key "name", which is needed`,
	}},
	{"no domain, no plans", "study.yaml", "domain: block-words\ndomain_pddl: domain.pddl\nstimuli: stimuli.csv\nproblems: problems/{stimulus}.pddl\nplans: plans/{stimulus}.plan\n", "stimuli: stimuli.csv\nproblems: problems/{stimulus}.pddl\n", []string{
		`study.yaml:1:1: no key "domain", which is needed`,
		`study.yaml:1:1: no key "plans", which is needed`,
	}},
	{"key without value", "study.yaml", "domain: block-words", "domain:", []string{
		`study.yaml:3:8: domain has no value`,
	}},
	{"empty text", "study.yaml", "domain: block-words", `domain: ""`, []string{
		`study.yaml:3:9: domain is empty`,
	}},
	{"name with a space", "study.yaml", "block-words-sample", "Block Words", []string{
		`study.yaml:1:7: name is "Block Words"; it can have only small letters, digits and, between them, hyphens`,
	}},
	{"name that is a number", "study.yaml", "block-words-sample", "2021", []string{
		`study.yaml:1:7: name is "2021", which YAML reads as int; put a text in quotes`,
	}},
	{"list for a text", "study.yaml", "stimuli: stimuli.csv", "stimuli: [stimuli.csv]", []string{
		`study.yaml:5:10: stimuli must be a single value`,
	}},
	{"unknown domain", "study.yaml", "domain: block-words", "domain: blocksworld", []string{
		`study.yaml:3:9: unknown domain "blocksworld"; there are doors-keys-gems, block-words; did you mean "block-words"?`,
	}},
	{"no such file", "study.yaml", "responses.csv", "answers.csv", []string{
		`study.yaml:8:12: responses: there is no file answers.csv`,
	}},
	{"path out of the study", "study.yaml", "responses.csv", "../responses.csv", []string{
		`study.yaml:8:12: responses: "../responses.csv" is not a path inside the study's directory`,
	}},
	{"unknown placeholder", "study.yaml", "plans/{stimulus}", "plans/{id}", []string{
		`study.yaml:7:8: plans: unknown placeholder {id}; {stimulus} stands for the stimulus`,
	}},
	{"colon in a text", "study.yaml", `"Block Words: sample study, simulated participants"`, "Block Words: mine", []string{
		`study.yaml:2:1: not YAML: mapping values are not allowed in this context; a text that holds ": " needs quotes, and a key with keys below it has no value of its own`,
	}},
	{"bracket before a text", "study.yaml", "problems/{stimulus}.pddl", "{stimulus}.pddl", []string{
		`study.yaml:6:1: not YAML: did not find expected key; a text that begins with a bracket or a quote needs quotes round all of it, and the keys of one level stand below each other`,
	}},
	{"tab", "study.yaml", "  " + noise, "\t" + noise, []string{
		`study.yaml:10:1: a tab before the key: YAML is indented by spaces`,
	}},
	{"UTF-16 without mark", "study.yaml", "", "n\x00a\x00m\x00e\x00:\x00", []string{
		`study.yaml:1:2: a NUL character (UTF-16?): save the file as UTF-8`,
	}},
	{"Latin-1", "study.yaml", "Block Words: sample", "Wörter aus Kl\xf6tzen", []string{
		`study.yaml:2:22: a byte that is not UTF-8: save the file as UTF-8`,
	}},
	{"second document", "study.yaml", "observation:", "---\nobservation:", []string{
		"study.yaml:9:1: a second document after `---`: keep one, or put it in a file of its own",
	}},
	{"not even keys", "study.yaml", "", "A study of block words.\n", []string{
		"study.yaml:1:1: the file must have keys, as in `key: value`",
	}},
	{"empty file", "study.yaml", "", "\n# later\n", []string{
		`study.yaml:1:1: the file is empty`,
	}},

	// sweep.yaml
	{"list item not a number", "sweep.yaml", alphas, "[0.125, x, 0.5]", []string{
		`sweep.yaml:4:20: alpha is "x", not a number`,
	}},
	{"no for a number", "sweep.yaml", alphas, "no", []string{
		`sweep.yaml:4:12: alpha is "no", not a number`,
	}},
	{"quoted number in a list", "sweep.yaml", alphas, `[1, '2']`, []string{
		`sweep.yaml:4:16: alpha is the text "2"; write the number without quotes`,
	}},
	{"NaN", "sweep.yaml", alphas, "[1, NaN, .nan, .inf]", []string{
		`sweep.yaml:4:16: alpha is "NaN", not a number`,
		`sweep.yaml:4:21: alpha is ".nan", not a number`,
		`sweep.yaml:4:27: alpha is ".inf", not a number`,
	}},
	{"hexadecimal", "sweep.yaml", alphas, "0x10", []string{
		`sweep.yaml:4:12: alpha is "0x10", not a number`,
	}},
	{"empty list", "sweep.yaml", alphas, "[]", []string{
		`sweep.yaml:4:12: alpha is an empty list`,
	}},
	{"list in a list", "sweep.yaml", alphas, "[[1, 2]]", []string{
		`sweep.yaml:4:13: alpha must be a single value`,
	}},
	{"out of range, in the order of the file", "sweep.yaml", "    alpha: " + alphas + "   # inverse temperature, 1 / cost\n    value: optimal  ", "    value: best\n    alpha: [1, 0, -1]\n", []string{
		`sweep.yaml:4:12: value is "best"; it can be optimal, on_policy, heuristic`,
		`sweep.yaml:5:16: alpha is 0; it must be greater than 0 and less than or equal to 1000000`,
		`sweep.yaml:5:19: alpha is -1; it must be greater than 0 and less than or equal to 1000000`,
	}},
	{"too small to compute with", "sweep.yaml", alphas, "[1, 1e-10]", []string{
		`sweep.yaml:4:16: alpha is 1e-10; it must lie between 1e-09 and 1e+06`,
	}},
	{"unknown model", "sweep.yaml", "boltzmann:", "bolzmann:", []string{
		`sweep.yaml:3:3: unknown model "bolzmann"; there are full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann; did you mean "boltzmann"?`,
	}},
	{"axis not of the model", "sweep.yaml", "    value: optimal", "    goal_noise: 0.1", []string{
		`sweep.yaml:5:5: model "boltzmann" has no axis "goal_noise"; it has alpha, value, unreachable_value`,
	}},
	{"word for an axis of another model", "sweep.yaml", "    value:", "    goal_noise:", []string{
		`sweep.yaml:5:17: goal_noise is "optimal", not a number`,
	}},
	{"axis of no model", "sweep.yaml", "    value:", "    values:", []string{
		`sweep.yaml:5:5: unknown key "values"; there are alpha, value, unreachable_value, goal_noise, budget_r, budget_q, search_noise, action_noise; did you mean "value"?`,
	}},
	{"unknown way to resample", "sweep.yaml", "seed: 2021", "inference: {resample: often}", []string{
		`sweep.yaml:10:23: resample is "often"; it can be ess, always, never`,
	}},
	{"model twice", "sweep.yaml", "bootstrap:", "  boltzmann: {alpha: 1}\nbootstrap:", []string{
		`sweep.yaml:7:3: boltzmann is given twice; first on line 3`,
	}},
	{"model without keys", "sweep.yaml", "", "models: [boltzmann]\n", []string{
		"sweep.yaml:1:9: models must have keys, as in `key: value`",
	}},
	{"no models", "sweep.yaml", "", "seed: 1\n", []string{
		`sweep.yaml:1:1: no key "models", which is needed`,
	}},
	{"empty models", "sweep.yaml", "", "models:\nseed: 1\n", []string{
		`sweep.yaml:1:8: models is empty`,
	}},
	{"models without one", "sweep.yaml", "", "models: {}\n", []string{
		`sweep.yaml:1:9: models is empty`,
	}},
	{"seed not whole", "sweep.yaml", "seed: 2021", "seed: 20.21", []string{
		`sweep.yaml:10:7: seed is "20.21", not a whole number`,
	}},
	{"seed with a leading zero", "sweep.yaml", "seed: 2021", "seed: 0021", []string{
		`sweep.yaml:10:7: seed is "0021", not a whole number`,
	}},
	{"negative seed", "sweep.yaml", "seed: 2021", "seed: -1", []string{
		`sweep.yaml:10:7: seed is -1; it must not be negative`,
	}},
	{"too large a seed", "sweep.yaml", "seed: 2021", "seed: 18446744073709551616", []string{
		`sweep.yaml:10:7: seed is 18446744073709551616, which is too large`,
	}},
	{"too many runs", "sweep.yaml", "seed: 2021", "fit: {runs: 3000000000}", []string{
		`sweep.yaml:10:13: runs is 3000000000, which is too large`,
	}},
	{"negative resamples", "sweep.yaml", "resamples: 500", "resamples: -500", []string{
		`sweep.yaml:8:14: resamples is -500; it must be greater than or equal to 0 and less than or equal to 100000`,
	}},
	{"unknown unit", "sweep.yaml", "[participants, stimuli, both]", "[participants, people]", []string{
		`sweep.yaml:9:25: units is "people"; it can be participants, stimuli, both`,
	}},
	{"unit twice", "sweep.yaml", "[participants, stimuli, both]", "[stimuli, stimuli]", []string{
		`sweep.yaml:9:10: units has the same value twice`,
	}},
	{"open bracket", "sweep.yaml", alphas, "[0.125, 0.25", []string{
		`sweep.yaml:4:5: not YAML: did not find expected ',' or ']'; is a bracket closed?`,
	}},

	// stimuli.csv
	{"word that cannot be spelt", "stimuli.csv", "lamp palm pale same maple,palm,0 2", "lamp palm pale same mapple,palm,0 2", []string{
		`responses.csv:1006:10: stimulus 2-1: goal "maple" is none of its goals (lamp palm pale same mapple); did you mean "mapple"? (and in 99 more rows)`,
		`stimuli.csv:4:40: stimulus 2-1: goal "mapple": word "mapple" cannot be spelt: it needs "p" more than once and there is one block of it`,
	}},
	{"unknown true goal", "stimuli.csv", "stain,0", "stein,0", []string{
		`stimuli.csv:2:40: stimulus 1-1: the true goal "stein" is none of its goals (train rain stain star tins); did you mean "stain"?`,
	}},
	{"step beyond the end", "stimuli.csv", "0 2 4 6 8\n", "0 2 4 6 8 11\n", []string{
		`stimuli.csv:2:56: stimulus 1-1: judgement step 11 is beyond the end of its plan (10 actions)`,
	}},
	{"UTF-16 table without mark", "stimuli.csv", "", "s\x00t\x00", []string{
		`stimuli.csv:1:2: a NUL character (UTF-16 without byte order mark?): save the file as "CSV UTF-8"`,
	}},

	// responses.csv
	{"sum off", "responses.csv", answer, "1-1,01,0,train,0.8\n", []string{
		`responses.csv:2:16: stimulus 1-1: participant 01, step 0: the probabilities sum to 1.45, not 1`,
	}},
	{"unknown goal", "responses.csv", answer, "1-1,01,0,trian,0.05\n", []string{
		`responses.csv:2:10: stimulus 1-1: goal "trian" is none of its goals (train rain stain star tins); did you mean "train"?`,
	}},
	{"not answered", "responses.csv", answer, "1-1,01,0,train,NA\n", []string{
		`responses.csv:2:16: stimulus 1-1: participant 01, step 0: "NA" says that there is no answer, but line 3 has one`,
	}},
	{"decimal comma in a table", "responses.csv", answer, "1-1,01,0,train,0,05\n", []string{
		`responses.csv:2:18: "05" stands under no column; with decimal commas, separate the cells by semicolons`,
	}},
	{"spreadsheet date", "responses.csv", answer, "01-Jan,01,0,train,0.05\n", []string{
		`responses.csv:2:1: no stimulus "01-Jan" in stimuli.csv: a spreadsheet may have made a date of an id such as 1-1`,
		`responses.csv:3:15: stimulus 1-1: participant 01, step 0: no probability for train`,
	}},

	// PDDL and plans
	{"unclosed form", "problems/1-1.pddl", "(handempty)", "(handempty", []string{
		`problems/1-1.pddl:7:3: stimulus 1-1: "(:init" is not closed before "(:goal" at line 13`,
	}},
	{"unknown predicate", "domain.pddl", "(clear ?x - block) ", "(cleer ?x - block) ", []string{
		`domain.pddl:21:50: unknown predicate "clear" (and in 3 more places)`,
	}},
	{"unknown object", "problems/1-1.pddl", "(ontable r)", "(ontable q)", []string{
		`problems/1-1.pddl:11:24: stimulus 1-1: unknown object or function "q"`,
	}},
	{"other domain", "problems/1-1.pddl", "(:domain block-words)", "(:domain blocks)", []string{
		`problems/1-1.pddl:5:12: stimulus 1-1: the problem is of domain "blocks", not "block-words"`,
	}},
	{"no parentheses", "plans/1-1.plan", "(put-down s)", "put-down s", []string{
		`plans/1-1.plan:2:1: stimulus 1-1: expected "(" to open an action, found "put-down"`,
	}},
	{"inapplicable action", "plans/1-1.plan", "(stack i n)", "(stack i t)", []string{
		`plans/1-1.plan:4:1: stimulus 1-1: step 4: (stack i t) is not applicable: precondition (clear t) does not hold`,
	}},
	{"unknown action", "plans/1-1.plan", "(stack i n)", "(put i n)", []string{
		`plans/1-1.plan:4:1: stimulus 1-1: step 4: (put i n) is not applicable: unknown action "put"`,
	}},
	{"wrong arity in a plan", "plans/1-1.plan", "(stack i n)", "(stack i)", []string{
		`plans/1-1.plan:4:1: stimulus 1-1: step 4: (stack i) is not applicable: "stack" takes 2 arguments, not 1`,
	}},
}

// Each input is a Block Words study with one mistake; want is all that is said
// of it: where, what, and what to do.
func TestMalformedInputs(t *testing.T) {
	for _, test := range malformedInputs {
		t.Run(test.name, func(t *testing.T) {
			f := sample(t, "block-words")
			f.write("sweep.yaml", boltzmannAlone)
			if test.old == "" {
				f.write(test.file, test.to)
			} else {
				f.swap(test.file, test.old, test.to)
			}
			if got := strings.Join(problems(f), "\n"); got != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(test.want, "\n"))
			}
		})
	}
}

// boltzmannAlone is the sweep in which the mistakes are made.
const boltzmannAlone = `# What is swept when a study brings no sweep.yaml.
models:
  boltzmann:
    alpha: [0.125, 0.25, 0.5, 1, 2, 4, 8]   # inverse temperature, 1 / cost
    value: optimal                          # or on_policy, heuristic
    unreachable_value: -1000                # V of a state from which the goal cannot be reached
bootstrap:
  resamples: 500
  units: [participants, stimuli, both]
seed: 2021
`

func TestSamplesAreSound(t *testing.T) {
	for _, d := range domains.All {
		if got := problems(sample(t, d.Name)); got != nil {
			t.Errorf("%s: %s", d.Name, strings.Join(got, "\n"))
		}
	}
}

func TestMissingFiles(t *testing.T) {
	for file, want := range map[string]string{
		"study.yaml":        "study.yaml: cannot be read: file does not exist",
		"stimuli.csv":       "study.yaml:5:10: stimuli: there is no file stimuli.csv",
		"responses.csv":     "study.yaml:8:12: responses: there is no file responses.csv",
		"domain.pddl":       "study.yaml:4:14: domain_pddl: there is no file domain.pddl",
		"problems/1-1.pddl": "stimuli.csv:2:1: stimulus 1-1: problems: there is no file problems/1-1.pddl",
		"plans/1-1.plan":    "stimuli.csv:2:1: stimulus 1-1: plans: there is no file plans/1-1.plan",
	} {
		f := sample(t, "block-words")
		delete(f.MapFS, file)
		if got := strings.Join(problems(f), "\n"); got != want {
			t.Errorf("without %s:\ngot  %s\nwant %s", file, got, want)
		}
	}
}

// The same mistakes where they look otherwise: a maze.
func TestMalformedMaze(t *testing.T) {
	for name, test := range map[string]struct{ file, old, to, want string }{
		"wrong arity": {
			"problems/1-1.pddl", "(wall 1 6)", "(wall 1)",
			`problems/1-1.pddl:25:5: stimulus 1-1: "(wall" takes 2 arguments, not 1`,
		},
		"unknown gem": {
			"stimuli.csv", "gem1 gem2 gem3,gem1,0 5", "gem1 gem2 gem4,gem1,0 5",
			"responses.csv:8:10: stimulus 1-1: goal \"gem3\" is none of its goals (gem1 gem2 gem4) (and in 16 more rows)\n" +
				`stimuli.csv:2:23: stimulus 1-1: goal "gem4": no gem "gem4": the gems are gem1, gem2, gem3`,
		},
		"out of the maze": {
			"plans/1-1.plan", "(right)", "(down)",
			`plans/1-1.plan:1:1: stimulus 1-1: step 1: (down) is not applicable: precondition (> (ypos) 1) does not hold, with (ypos) = 1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := sample(t, "doors-keys-gems")
			f.swap(test.file, test.old, test.to)
			if got := strings.Join(problems(f), "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The words for no answer stand where the columns are documented.
func TestWordsForNoAnswerAreDocumented(t *testing.T) {
	src, err := os.ReadFile("../proto/foible/v1/study.proto")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range slices.Concat(study.DontKnow, study.NoAnswer) {
		if !strings.Contains(string(src), strconv.Quote(word)) {
			t.Errorf("study.proto does not name %q", word)
		}
	}
}
