package stimulus

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
)

func simulating(model string) SimulateOptions {
	return SimulateOptions{
		StimulusChoice: StimulusChoice{Study: "block-words", Stimulus: "4-1", Models: []string{model}, Inference: sweep.PaperInference},
		Goal:           "LAMP", N: 4, Steps: 30, Out: "out",
	}
}

// simulated runs the command in a directory of its own.
func simulated(t *testing.T, o SimulateOptions) (out string, written map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var b bytes.Buffer
	if err := Simulate(context.Background(), (&terminal.Terminal{Out: &b, Err: &bytes.Buffer{}}), o); err != nil {
		t.Fatal(err)
	}
	return b.String(), commandtest.Files(t, o.Out)
}

func TestSimulate(t *testing.T) {
	for _, model := range []string{"full", "boltzmann"} {
		o := simulating(model)
		out, written := simulated(t, o)
		if len(written) != 4+2 { // plans, and the table in two forms
			t.Errorf("%s: %d files", model, len(written))
		}
		rows := commandtest.Table(t, written["trajectories.csv"])
		if len(rows) != o.N {
			t.Errorf("%s: %d rows", model, len(rows))
		}
		for i, row := range rows {
			file := fmt.Sprintf("lamp-%03d.plan", i+1)
			text := written[file]
			plan, err := pddl.ParsePlan(file, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if row["file"] != file || row["length"] != fmt.Sprint(len(plan)) || row["trajectory"] != fmt.Sprint(i+1) {
				t.Errorf("%s: a plan of %d actions: %v", model, len(plan), row)
			}
			end := map[string]string{"true": "goal reached", "false": "goal not reached"}[row["reached_goal"]]
			head := fmt.Sprintf("; block-words-sample, stimulus 4-1, goal lamp, trajectory %d of seed 2021\n; %s ", i+1, model)
			if !strings.HasPrefix(text, head) || !strings.Contains(text, fmt.Sprintf("; %s, %s\n", words.Count(len(plan), "action"), end)) {
				t.Errorf("%s begins with\n%.200s", file, text)
			}
			if bounded := model == "full"; bounded != (row["slips"] != "") || bounded == (row["not_most_probable"] != "") {
				t.Errorf("%s: %v", model, row)
			}
			if slips := strings.Count(text, "slip: meant"); row["slips"] != "" && row["slips"] != fmt.Sprint(slips) {
				t.Errorf("%s: %d slips are marked, %s counted", file, slips, row["slips"])
			}
		}
		if !strings.Contains(out, " of 4 trajectories reached lamp") || !strings.Contains(out, "Wrote lamp-001.plan to lamp-004.plan and trajectories.csv to out\n") {
			t.Errorf("it prints\n%s", out)
		}

		// More trajectories begin with the same ones; another seed has others.
		o.N = 6
		if _, more := simulated(t, o); more["lamp-004.plan"] != written["lamp-004.plan"] {
			t.Errorf("%s: the fourth of 6 trajectories is not the fourth of 4", model)
		}
		o.Seed = "7"
		if _, others := simulated(t, o); others["lamp-004.plan"] == written["lamp-004.plan"] {
			t.Errorf("%s: another seed, the same trajectory", model)
		}
	}
}

// What is not known is not printed as 0.
func TestUnknownPathsAreNotCounted(t *testing.T) {
	s, found := domains.Load(domains.All[0].Sample)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	o := simulating("full")
	o.N, o.Out = 2, t.TempDir()
	sim := simulation{chosen: &chosen{study: s, stimulus: &s.Stimuli[0], sets: []model.ParameterSet{{Model: "full"}}}, o: &o, goal: "lamp"}
	known := &inference.Plan{Actions: 3, Path: optional.Known(inference.Path{Detour: 2})}
	if err := output.Write(o.Out, output.Owner{}, nil, func(out *output.Dir) error {
		sim.out = out
		for i, plan := range []*inference.Plan{known, {Actions: 3}} {
			act := inference.Act{Taken: "(pick-up l)", Intended: "(pick-up l)", Goal: "lamp", Plan: plan}
			if err := sim.write(i, &inference.Trajectory{Goal: "lamp", Acts: []inference.Act{act}}); err != nil {
				return err
			}
		}
		return sim.writeTable()
	}); err != nil {
		t.Fatal(err)
	}
	written := commandtest.Files(t, o.Out)
	rows := commandtest.Table(t, written["trajectories.csv"])
	if rows[0]["plan_detours"] != "1" || rows[0]["plan_dead_ends"] != "0" || rows[1]["plan_detours"] != "" || rows[1]["plan_dead_ends"] != "" || rows[1]["plans"] != "1" {
		t.Errorf("rows %v", rows)
	}
	var out bytes.Buffer
	sim.print(&terminal.Terminal{Out: &out})
	if want := "How many of 2 plans lead out of the way or into a dead end is not known: more than 500,000 states can be reached\n"; !strings.Contains(out.String(), want) {
		t.Errorf("it prints\n%s\nwithout\n%s", &out, want)
	}
}

func TestSimulateWrongWays(t *testing.T) {
	t.Chdir(t.TempDir())
	for want, change := range map[string]func(*SimulateOptions){
		`--n 0: must be 1 to 100000`:                                           func(o *SimulateOptions) { o.N = 0 },
		`--steps -1: must be 1 to 100000`:                                      func(o *SimulateOptions) { o.Steps = -1 },
		`--model: one model only`:                                              func(o *SimulateOptions) { o.Models = []string{"full", "boltzmann"} },
		`--action-noise-kind "odd": it can be total, per_action_odds`:          func(o *SimulateOptions) { o.Inference.ActionNoiseKind = "odd" },
		`--goal "x": stimulus 4-1 has the goals lamp, palm, pale, same, maple`: func(o *SimulateOptions) { o.Goal = "x" },
	} {
		o := simulating("full")
		change(&o)
		var out, said bytes.Buffer
		err := Simulate(context.Background(), (&terminal.Terminal{Out: &out, Err: &said}), o)
		if err == nil || err.Error() != want || out.Len()+said.Len() > 0 {
			t.Errorf("got  %v %s%s\nwant %s", err, &out, &said, want)
		}
	}
	o := simulating("full")
	o.Goal, o.N = "", 1
	if out, _ := simulated(t, o); !strings.Contains(out, "Wrote palm-001.plan and trajectories.csv to out\n") {
		t.Errorf("without a goal, it prints\n%s", out)
	}
}
