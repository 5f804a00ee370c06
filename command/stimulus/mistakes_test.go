package stimulus

import (
	"bytes"
	"strings"
	"testing"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/sweep/sweeptest"
	"foible.dev/foible/domains"
)

// A cell with mistakes has columns for them, of the actions alone.
func TestMistakesAreShown(t *testing.T) {
	s, found := domains.Load(domains.All[0].Sample)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	st := s.Stimuli[0]
	st.Plan, st.JudgementSteps = st.Plan[:2], []int{0}
	n := len(st.Goals)
	cell := result.Cell{Mistakes: &result.Mistakes{
		Confused: []result.Estimate{{Probability: 0.25, SE: 0.5}, {}},
		Slip:     []result.Estimate{{}, {Probability: 1, SE: 0.125}},
		OffPath:  optional.Known([]result.Estimate{{Probability: 0.75}, {Probability: 0.5}}),
	}}
	for step := range 3 {
		row := make([]float64, n)
		row[0] = 1
		cell.Posterior, cell.SE = append(cell.Posterior, row), append(cell.SE, make([]float64, n))
		cell.Evidence, cell.LogEvidence = append(cell.Evidence, -float64(step)), append(cell.LogEvidence, row)
	}
	table := posteriorTable(&st, &cell, "people")
	var heads []string
	for _, c := range table.Columns[2+n:] {
		heads = append(heads, c.Head)
	}
	var rows [][]string
	for _, row := range table.Rows {
		if row[0] != "" {
			rows = append(rows, row[2+n:])
		}
	}
	for i, want := range [][]string{
		{"MC SE", "ln P", "Confused", "Slip", "Off path"},
		{"0", "0.0", "", "", ""},
		{"0", "-1.0", "0.25", "0.00", "0.75"},
		{"0", "-2.0", "0.00", "1.00", "0.50"},
	} {
		got := heads
		if i > 0 {
			got = rows[i-1]
		}
		for k := range want {
			if len(got) != len(want) || got[k] != want[k] {
				t.Fatalf("row %d: %q, want %q", i, got, want)
			}
		}
	}

	c := &chosen{study: s, stimulus: &st, sets: []model.ParameterSet{{Model: "full"}, {Model: "boltzmann"}}}
	dir := t.TempDir()
	if err := output.Write(dir, output.Owner{}, nil, func(out *output.Dir) error { return writeMistakes(out, c, []result.Cell{cell, {}}) }); err != nil {
		t.Fatal(err)
	}
	want := "model,stimulus,step,action,goal_confused,goal_confused_se,slip,slip_se,plan_off_path,plan_off_path_se\n" +
		"full," + st.ID + ",1," + input.ActionText(&st, 1) + ",0.25,0.5,0,0,0.75,0\n" +
		"full," + st.ID + ",2," + input.ActionText(&st, 2) + ",0,0,1,0.125,0.5,0\n"
	if got := commandtest.Files(t, dir)["inference_mistakes.csv"]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever a cell lacks, it is printed, written and drawn; what is not known is a dash or
// an empty field.
func TestCellsThatLackParts(t *testing.T) {
	s, found := domains.Load(domains.All[0].Sample)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	c := &chosen{study: s, stimulus: &s.Stimuli[0], sets: []model.ParameterSet{{Model: "full"}}}
	p := sweep.Procedure{StageName: sweep.ReportStage, Stage: sweep.Stage{Runs: 4}, Inference: sweep.MarginalInference, Detail: sweep.DetailMistakes}
	steps, n := len(c.stimulus.Plan)+1, len(c.stimulus.Goals)
	cell := result.Cell{UnreachableFrom: make([]int, n), Samples: 8}
	cell.Mistakes = &result.Mistakes{Confused: make([]result.Estimate, steps-1), Slip: make([]result.Estimate, steps-1), OffPath: optional.Known(make([]result.Estimate, steps-1))}
	for range steps {
		row := make([]float64, n)
		row[0] = 1
		cell.Posterior, cell.SE, cell.LogEvidence = append(cell.Posterior, row), append(cell.SE, make([]float64, n)), append(cell.LogEvidence, row)
		cell.Evidence, cell.ESS, cell.Alive = append(cell.Evidence, -1), append(cell.ESS, 8), append(cell.Alive, 2)
	}
	for name, cell := range sweeptest.WithoutEach(cell) {
		t.Run(name, func(t *testing.T) {
			var printed bytes.Buffer
			printInference((&terminal.Terminal{Out: &printed, Err: &printed}), c, &c.sets[0], p, &cell)
			dir := t.TempDir()
			if err := output.Write(dir, output.Owner{}, nil, func(out *output.Dir) error { return writeInference(out, c, p, []result.Cell{cell}) }); err != nil {
				t.Fatal(err)
			}
			written := commandtest.Files(t, dir)
			if strings.Contains(printed.String(), "NaN") || strings.Contains(written["inference.csv"], "NaN") {
				t.Errorf("NaN in\n%s%s", &printed, written["inference.csv"])
			}
			if name != "Mistakes.OffPath" {
				return
			}
			if want := "Off path is not known: more than 500,000 states can be reached\n"; !strings.Contains(printed.String(), want) {
				t.Errorf("it does not print %q:\n%s", want, &printed)
			}
			for _, row := range commandtest.Table(t, written["inference_mistakes.csv"]) {
				if row["plan_off_path"] != "" || row["plan_off_path_se"] != "" || row["slip"] != "0" {
					t.Errorf("mistakes.csv: %v", row)
				}
			}
			if !strings.Contains(written["figures/timecourse.svg"], "not known: more than 500,000 states") {
				t.Error("the time course does not say why plans off the path are not known")
			}
		})
	}
}
