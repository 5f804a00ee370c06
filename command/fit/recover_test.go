package fit

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/terminal"
)

// recovered runs the command in a directory of its own, through a coordinator in the process.
func recovered(t *testing.T, o RecoverOptions) (out string, written map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var b bytes.Buffer
	env := &terminal.Terminal{Out: &b, Err: &bytes.Buffer{}, Logger: hclog.NewNullLogger()}
	if err := Recover(context.Background(), env, o); err != nil {
		t.Fatalf("%v\n%s", err, env.Err)
	}
	written = map[string]string{}
	if err := filepath.WalkDir(o.Out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == StateDir {
				return filepath.SkipDir
			}
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(o.Out, path)
		written[filepath.ToSlash(name)] = string(content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String(), written
}

func fewRecovered() RecoverOptions {
	o := DefaultRecover
	o.Study, o.Out, o.Workers = "doors-keys-gems", "out", 1
	o.Sweep = input.SweepChoice{
		Models:      []string{"full", "plan-lesioned", "boltzmann"},
		Set:         []string{"budget_r=2", "budget_q=0.8,0.95", "search_noise=0.5", "action_noise=0.05,0.3", "alpha=0.25,1,4"},
		PosteriorSE: 0.03,
	}
	o.Trajectories, o.Datasets, o.Participants, o.Answers = 1, 12, []int{1, 60}, "probability"
	o.Noise.Concentration = 200
	return o
}

// With many participants and little noise, models and parameters come back, and less with few; and the bytes are the same
// whoever does the work.
func TestRecover(t *testing.T) {
	o := fewRecovered()
	out, written := recovered(t, o)
	commandtest.CheckTables(t, written)
	for _, row := range commandtest.Table(t, written["confusion.csv"]) {
		p, err := strconv.ParseFloat(row["fitted_given_true"], 64)
		if same := row["true_model"] == row["fitted_model"]; err != nil || row["participants"] == "60" && (same && p < 0.9 || !same && p > 0.1) {
			t.Errorf("P(fitted %s | true %s) by %s is %s", row["fitted_model"], row["true_model"], row["criterion"], row["fitted_given_true"])
		}
	}
	several := 0
	for _, row := range commandtest.Table(t, written["recovery_axes.csv"]) {
		if row["values"] == "1" {
			if row["reason"] == "" || row["rank_correlation"] != "" {
				t.Errorf("an axis of one value: %v", row)
			}
			continue
		}
		several++
		rho, _ := strconv.ParseFloat(row["rank_correlation"], 64)
		exact, _ := strconv.ParseFloat(row["exact"], 64)
		if row["participants"] == "60" && (rho < 0.8 || exact < 0.8) {
			t.Errorf("with 60 participants, %s of %s has a rank correlation of %s, and is exact in %s", row["axis"], row["model"], row["rank_correlation"], row["exact"])
		}
	}
	if several != 2*(2+1+1) {
		t.Errorf("%d rows of axes with several values", several)
	}
	for name, rows := range map[string]int{"recovery.csv": 12 * 2 * (5 + 2 + 3), "recovery_fits.csv": 12 * 2 * 3 * 3, "inversion.csv": 2 * 2 * 9} {
		if got := len(commandtest.Table(t, written[name])); got != rows {
			t.Errorf("%s has %d rows, want %d", name, got, rows)
		}
	}
	for name, content := range written {
		if strings.HasSuffix(name, ".csv") && strings.Contains(content, "NaN") {
			t.Errorf("%s has NaN", name)
		}
		if strings.HasSuffix(name, ".csv") && !strings.Contains(name, "/") && written[strings.TrimSuffix(name, ".csv")+".parquet"] == "" {
			t.Errorf("%s is not there as Parquet", name)
		}
	}
	for _, name := range []string{
		"report.html", "manifest.json", "sweep.yaml", "study/study.yaml", "study/stimuli.csv", "study/plans/1-1-t1.plan",
		"figures/confusion.svg", "figures/inversion.pdf", "figures/recovery-full.svg", "figures/recovery-boltzmann.pdf",
	} {
		if written[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	for _, want := range []string{"P(fitted | true) by r, 60 participants a stimulus:", "boltzmann: alpha is recovered: rank correlation ", "Wrote tables and figures to out"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}

	o.Workers = 3
	_, again := recovered(t, o)
	if !slices.Equal(slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(again))) {
		t.Error("3 workers write other files")
	}
	for name, content := range written {
		if again[name] != content {
			t.Errorf("with 3 workers %s is not the same", name)
		}
	}
}

// With the plans of the study there is no study to write, and what is recorded is taken up again.
func TestRecoverPlansOfTheStudy(t *testing.T) {
	o := fewRecovered()
	o.Plans, o.Answers = PlansStudy, ""
	o.Sweep.Models, o.Sweep.Set = []string{"boltzmann"}, []string{"alpha=0.25,4"}
	out, written := recovered(t, o)
	if written["study/study.yaml"] != "" || !strings.Contains(written["manifest.json"], `"answers": "selection"`) {
		t.Errorf("it writes %s", written["manifest.json"])
	}
	if strings.Contains(out, "P(fitted") {
		t.Errorf("one model is confused:\n%s", out)
	}
	var said bytes.Buffer
	env := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &said, Logger: hclog.NewNullLogger()}
	o.Datasets = 3
	if err := Recover(context.Background(), env, o); err != nil { // in the same directory
		t.Fatal(err)
	}
	if strings.Contains(said.String(), "cells") {
		t.Errorf("the sweeps are run again:\n%s", said.String())
	}
}

func TestRecoverRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Run("a fit's directory", func(t *testing.T) {
		o := fewRecovered()
		o.Out = "a fit"
		if err := output.Claim(o.Out, results.Owner("abc"), false); err != nil {
			t.Fatal(err)
		}
		err := Recover(context.Background(), (&terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}), o)
		if err == nil || !strings.HasPrefix(err.Error(), "the directory 'a fit' holds the output of `foible fit`, the sweep abc, and this is a recovery of the sweep ") {
			t.Errorf("got %v", err)
		}
	})
	for want, change := range map[string]func(*RecoverOptions){
		"--plans":         func(o *RecoverOptions) { o.Plans = "mine" },
		"--trajectories":  func(o *RecoverOptions) { o.Trajectories = 0 },
		"--datasets":      func(o *RecoverOptions) { o.Datasets = -1 },
		"--participants":  func(o *RecoverOptions) { o.Participants = []int{5, 0} },
		"names no number": func(o *RecoverOptions) { o.Participants = nil },
		"--answers":       func(o *RecoverOptions) { o.Answers = "loud" },
		"--concentration": func(o *RecoverOptions) { o.Noise.Concentration = 0 },
		"--workers":       func(o *RecoverOptions) { o.Workers = -1 },
		"--submit":        func(o *RecoverOptions) { o.Workers, o.Submit = 2, true },
		"equal runs":      func(o *RecoverOptions) { o.Sweep.TopUp = 4 },
		"--models":        func(o *RecoverOptions) { o.Sweep.Models = []string{"nonsense"} },
	} {
		o := fewRecovered()
		o.Workers = 0
		change(&o)
		err := Recover(context.Background(), (&terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}), o)
		if usage := (*cli.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
