package stimulus

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/sweep"
)

// inferring are options that take little time.
func inferring(stimulus string, models ...string) InferOptions {
	return InferOptions{
		StimulusChoice: StimulusChoice{Study: "block-words", Stimulus: stimulus, Models: models, Inference: sweep.PaperInference},
		Runs:           2, ParticlesPerGoal: 20, Out: "out",
	}
}

// infer runs the command in a directory of its own.
func infer(t *testing.T, o InferOptions) (out, said string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var b, e bytes.Buffer
	if err := Infer(context.Background(), (&terminal.Terminal{Out: &b, Err: &e, Columns: 110}), o); err != nil {
		t.Fatal(err)
	}
	return b.String(), e.String()
}

func TestInfer(t *testing.T) {
	o := inferring("2-1", "full", "boltzmann")
	o.Set = []string{"action_noise=0.1", "alpha=2"}
	out, said := infer(t, o)
	if said != "" {
		t.Errorf("it said %q", said)
	}
	got := commandtest.Files(t, "out")
	for _, name := range []string{
		"inference.csv", "inference.parquet", "manifest.json", "figures/timecourse.svg", "figures/timecourse.pdf", "figures/storyboard.svg", "figures/storyboard.pdf",
	} {
		if got[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d files", len(got))
	}

	for _, want := range []string{
		"block-words-sample, stimulus 2-1 (action-mistake)\nNot set, so as the paper fitted it: goal_noise, budget_r, budget_q, search_noise\n",
		"\nfull goal_noise=0.2 budget_r=2 budget_q=0.9 search_noise=0.02 action_noise=0.1\n",
		"a plan's budget is 18 nodes on average, quartiles 8, 15, 25\n",
		"2 runs of 20 particles a goal, action noise total, seed 2021\n",
		"\nboltzmann alpha=2 value=optimal unreachable_value=-1000\n",
		"Step  Action            lamp  palm*  pale  same  maple   MC SE",
		"Step  Action            lamp  palm*  pale  same  maple\n   0                    0.20   0.20  0.20  0.20   0.20\n      simulated people  0.19 ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(line); n > 110 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}

	sum := map[string]float64{}
	rows := commandtest.Table(t, got["inference.csv"])
	if len(rows) != 2*11*5 {
		t.Errorf("%d rows, want those of 2 models, 11 steps and 5 goals", len(rows))
	}
	for _, row := range rows {
		p, err := strconv.ParseFloat(row["probability"], 64)
		if err != nil || row["stimulus"] != "2-1" {
			t.Fatalf("%v", row)
		}
		sum[row["model"]+row["step"]] += p
		if judged := strings.Contains(" 0 2 4 6 8 ", " "+row["step"]+" "); judged != (row["human"] != "") || judged != (row["human_se"] != "") {
			t.Errorf("human %q, %q at step %s", row["human"], row["human_se"], row["step"])
		}
		if full := row["model"] == "full"; full != (row["ess"] != "") || full != (row["mc_se"] != "") || full == (row["alpha"] != "") {
			t.Errorf("%v", row)
		}
		if (row["step"] == "0") != (row["action"] == "") {
			t.Errorf("action %q leads to step %s", row["action"], row["step"])
		}
	}
	for what, x := range sum {
		if math.Abs(x-1) > 1e-9 {
			t.Errorf("%s: probabilities sum to %v", what, x)
		}
	}

	if again, _ := infer(t, o); again != out {
		t.Error("it prints something else the second time")
	}
	for name, content := range commandtest.Files(t, "out") {
		if got[name] != content {
			t.Errorf("%s is another one the second time", name)
		}
	}
}

// A cell that is asked for alone is that of a sweep's reporting runs.
func TestInferIsTheCellOfASweep(t *testing.T) {
	o := inferring("1-2", "goal-lesioned")
	infer(t, o)
	rows := commandtest.Table(t, commandtest.Files(t, "out")["inference.csv"])

	var e terminal.Terminal
	c, err := resolve(&e, &o.StimulusChoice)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := c.study.Ready("1-2")
	if err != nil {
		t.Fatal(err)
	}
	config := sweep.Config{Inference: sweep.PaperInference, Report: sweep.Stage{Runs: 2, ParticlesPerGoal: 20}}
	cell, err := ready.Infer(context.Background(), &c.sets[0], config.Procedure(sweep.ReportStage), 2021)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if want := strconv.FormatFloat(cell.Posterior[i/5][i%5], 'g', -1, 64); row["probability"] != want {
			t.Errorf("row %d: %s, want %s", i, row["probability"], want)
		}
	}
}

func TestInferNamesOutcomes(t *testing.T) {
	o := inferring("2-1", "full")
	o.Set, o.Inference.Observe, o.Runs, o.ParticlesPerGoal = []string{"action_noise=0"}, "exact", 1, 2
	out, _ := infer(t, o)
	const want = "no particle is left at step 4, action (stack l s); its probability is above zero: more particles or marginal inference may find it"
	unwrapped := strings.ReplaceAll(out, "\n  ", " ")
	if !strings.Contains(unwrapped, "No posterior from step 4 on: "+want+".\n") || !strings.Contains(out, "   4  (stack l s)          -      -     -     -      -      -    -      -     -\n") {
		t.Errorf("it prints\n%s", out)
	}
	got := commandtest.Files(t, "out")
	for _, row := range commandtest.Table(t, got["inference.csv"]) {
		if undefined := !strings.Contains("0 1 2 3", row["step"]); undefined != (row["probability"] == "") || undefined != (row["outcome"] == want) {
			t.Errorf("%v", row)
		}
	}
	if !strings.Contains(got["figures/storyboard.svg"], "No bar: not known.") {
		t.Error("the storyboard does not say that bars are missing")
	}

	o = inferring("4-1", "boltzmann")
	o.Study = "doors-keys-gems"
	if out, _ = infer(t, o); !strings.Contains(out, "gem1 cannot be reached from step 8 on, where its value is unreachable_value, -1000.\n") {
		t.Errorf("it prints\n%s", out)
	}
	o = inferring("4-1", "full")
	o.Study, o.Set = "doors-keys-gems", []string{"goal_noise=0.1"}
	if _, said := infer(t, o); said != "goal_noise changes nothing: goals of doors-keys-gems are not taken for others.\n" {
		t.Errorf("it said %q", said)
	}
}

func TestInferWrongWays(t *testing.T) {
	t.Chdir(t.TempDir())
	for want, change := range map[string]func(*InferOptions){
		`there is no directory nothing: name one that holds study.yaml, or a sample: doors-keys-gems, block-words`: func(o *InferOptions) { o.Study = "nothing" },
		`name a stimulus of block-words-sample: 1-1, 1-2, 2-1, 2-2, 3-1, 3-2, 4-1, 4-2`:                            func(o *InferOptions) { o.Stimulus = "" },
		`block-words-sample has no stimulus "9-9"; it has 1-1, 1-2, 2-1, 2-2, 3-1, 3-2, 4-1, 4-2`:                  func(o *InferOptions) { o.Stimulus = "9-9" },
		`--model: unknown model "x"; it can be full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann`:     func(o *InferOptions) { o.Models = []string{"x"} },
		`--model: full is there twice`: func(o *InferOptions) { o.Models = []string{"full", "full"} },
		`--model names no model; it can be full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann`: func(o *InferOptions) { o.Models = nil },
		`--set "a": write it as axis=value`: func(o *InferOptions) { o.Set = []string{"a"} },
		`--set "alpha=1": full has no axis "alpha"; it has goal_noise, budget_r, budget_q, search_noise, action_noise`: func(o *InferOptions) { o.Set = []string{"alpha=1"} },
		`--set "budget_r=2,4": one value only; ` + "`foible fit` takes several":                                        func(o *InferOptions) { o.Set = []string{"budget_r=2,4"} },
		`--set budget_r is given twice`:                                                                              func(o *InferOptions) { o.Set = []string{"budget_r=2", "budget_r=4"} },
		`--set "budget_r=two": "two" is not a number`:                                                                func(o *InferOptions) { o.Set = []string{"budget_r=two"} },
		`--set "budget_r=1.5": budget_r is 1.5, not a whole number`:                                                  func(o *InferOptions) { o.Set = []string{"budget_r=1.5"} },
		`--set "goal_noise=NaN": goal_noise is NaN; it must lie between 0 and 1`:                                     func(o *InferOptions) { o.Set = []string{"goal_noise=NaN"} },
		`--runs 0: must be 1 to 100000`:                                                                              func(o *InferOptions) { o.Runs = 0 },
		`--particles 0: must be 1 to 10000000`:                                                                       func(o *InferOptions) { o.ParticlesPerGoal = 0 },
		`--observe "badly": it can be noisy, exact`:                                                                  func(o *InferOptions) { o.Inference.Observe = "badly" },
		`--resample-threshold 1.5: must lie between 0 and 1`:                                                         func(o *InferOptions) { o.Inference.ResampleThreshold = 1.5 },
		`--seed "-1": must be a whole number from 0`:                                                                 func(o *InferOptions) { o.Seed = "-1" },
		`--runs 1: must be 2 to 100000, to know the error of marginal inference`:                                     func(o *InferOptions) { o.Inference, o.Runs = sweep.MarginalInference, 1 },
		`--mc-se 0: must be above 0, and at most 1`:                                                                  func(o *InferOptions) { o.Inference = sweep.MarginalInference; o.Inference.MCSE = 0 },
		`--observe noisy: marginal inference takes the observed states as known; leave it out, or add --method sips`: func(o *InferOptions) { o.Inference = sweep.MarginalInference; o.Inference.Observe = "noisy" },
	} {
		o := inferring("1-1", "full")
		change(&o)
		var out, said bytes.Buffer
		err := Infer(context.Background(), (&terminal.Terminal{Out: &out, Err: &said}), o)
		if err == nil || err.Error() != want || out.Len()+said.Len() > 0 {
			t.Errorf("got  %v %s%s\nwant %s", err, &out, &said, want)
		}
	}
}

// A flag that is not given has the default of the method; one that does not
// apply is refused by name.
func TestInferDefaults(t *testing.T) {
	defaults := func(method string, given ...string) (InferOptions, error) {
		o := InferOptions{StimulusChoice: StimulusChoice{Inference: sweep.Inference{Method: method, Observe: "exact", ActionNoiseKind: "per_action_odds", MCSE: 0.5}}, Runs: 3}
		err := o.Default(func(flag string) bool { return flag == "method" || slices.Contains(given, flag) })
		return o, err
	}
	for _, method := range input.Methods {
		in, _, report := sweep.DefaultsOf(method)
		if o, err := defaults(method); err != nil || o.Inference != in || o.Runs != report.Runs || o.ParticlesPerGoal != report.ParticlesPerGoal {
			t.Errorf("%s: %+v, %v", method, o, err)
		}
		in.Observe, in.ActionNoiseKind = "exact", "per_action_odds"
		if o, err := defaults(method, "observe", "action-noise-kind", "runs"); err != nil || o.Inference != in || o.Runs != 3 {
			t.Errorf("%s: %+v, %v", method, o, err)
		}
	}
	if o, err := defaults(sweep.Marginal, "mc-se"); err != nil || o.Inference.MCSE != 0.5 {
		t.Errorf("%+v, %v", o, err)
	}
	for want, given := range map[string][]string{
		"--filters does not apply to --method marginal; leave it out, or choose --method sips":            {sweep.Marginal, "filters"},
		"--resample-threshold does not apply to --method marginal; leave it out, or choose --method sips": {sweep.Marginal, "resample-threshold"},
		"--particles does not apply to --method marginal; leave it out, or choose --method sips":          {sweep.Marginal, "particles"},
		"--mc-se does not apply to --method sips; leave it out, or choose --method marginal":              {sweep.SIPS, "mc-se"},
		`--method "magic": it can be marginal, sips`:                                                      {"magic"},
	} {
		if _, err := defaults(given[0], given[1:]...); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestInferIsInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := inferring("1-1", "full")
	o.Runs = 1000
	if err := Infer(ctx, (&terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}), o); !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("got %v", err)
	}
}

// Columns that do not fit go below, after the leading ones.
func TestTableIsPrintedInParts(t *testing.T) {
	tab := terminal.Table{
		Columns: []terminal.Column{{Head: "Step", Lead: true}, {Head: "Action", Lead: true, Left: true}, {Head: strings.Repeat("a", 60)}, {Head: strings.Repeat("é", 40)}, {Head: strings.Repeat("c", 200)}},
		Rows:    [][]string{{"1", "(up)", "x", "y", "z"}},
	}
	var out bytes.Buffer
	tab.Print(&out, 100)
	lead := "Step  Action  "
	want := lead + strings.Repeat("a", 60) + "\n   1  (up)    " + strings.Repeat(" ", 59) + "x\n\n" +
		lead + strings.Repeat("é", 40) + "\n   1  (up)    " + strings.Repeat(" ", 39) + "y\n\n" +
		lead + strings.Repeat("c", 200) + "\n   1  (up)    " + strings.Repeat(" ", 199) + "z\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// Against sums of exact binomial coefficients in Python; R's qnbinom has size = r, prob = 1 - q.
func TestBudgetQuantiles(t *testing.T) {
	for _, c := range []struct {
		r    int
		q    float64
		want [3]int
	}{
		{2, 0.9, [3]int{8, 15, 25}}, {4, 0.9, [3]int{22, 33, 47}}, {2, 0.95, [3]int{18, 32, 51}}, {4, 0.95, [3]int{47, 70, 98}}, {1, 0.5, [3]int{0, 0, 1}}, {3, 0, [3]int{0, 0, 0}},
	} {
		got := budgetQuantiles(c.r, c.q, 0.25, 0.5, 0.75)
		if [3]int(got) != c.want {
			t.Errorf("r %d, q %v: %v, want %v", c.r, c.q, got, c.want)
		}
	}
}
