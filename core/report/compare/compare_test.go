package compare_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"foible.dev/foible/core/report/compare"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// styling is that of every page; report.html's golden files have it.
var styling = regexp.MustCompile(`(?s)<style>.*?</style>\n`)

// finishedSweep is what a report of the tiny study has left, of a value, changed.
func finishedSweep(t *testing.T, name string, change func(st *study.Study, c *sweep.Config), values ...string) compare.Finished {
	t.Helper()
	st, c := reporttest.Tiny(), reporttest.Config(values...)
	if change != nil {
		change(st, &c)
	}
	order := []int{0, 1, 2}
	if len(values) > 1 {
		order = []int{0, 1, 2, 3, 4, 5}
	}
	out, _ := reporttest.Write(t, st, c, reporttest.Jobs{Cells: 1, Order: order}, nil)
	return compare.Finished{Name: name, Files: out.FS()}
}

// A sweep differs from itself in nothing.
func TestCompareWithItself(t *testing.T) {
	var out reporttest.Folder
	c, err := compare.Sweeps(&out, compare.Options{DifferentStudies: true}, finishedSweep(t, "a", nil, "optimal"), finishedSweep(t, "b", nil, "optimal"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Simulated participants: a and b. None of these numbers is of people.", "Differences have no intervals: the sweeps have 2 stimuli in common, and 5 are needed."}; !slices.Equal(c.Cautions, want) {
		t.Errorf("cautions %q", c.Cautions)
	}
	if len(c.Settings) != 0 {
		t.Errorf("settings that differ: %v", c.Settings)
	}
	if len(c.Fits) != 2 || c.Fits[0].N != 7 || math.Abs(c.Fits[0].R-1.85/math.Sqrt(4.125*1.955)) > 1e-12 || c.Fits[1].Difference != 0 || !math.IsNaN(c.Fits[1].Low) || !math.IsNaN(c.Fits[1].High) {
		t.Errorf("fits %+v", c.Fits)
	}
	reporttest.CheckPage(t, "comparison.html", out.Text("comparison.html"))
	if reporttest.NoNumber.MatchString(out.Text("comparison.html") + out.Text("comparison.csv")) {
		t.Error("a number that is none")
	}
	for _, name := range []string{"comparison.html", "comparison.csv", "settings.csv", "figures/sensitivity-1.svg", "figures/sensitivity-2.pdf", "figures/scatter-boltzmann.svg"} {
		if f := out.Files[name]; f == nil || !f.Closed {
			t.Errorf("%s is not there", name)
		}
	}
}

// What differs is told, and what is not common to all is left out.
func TestCompare(t *testing.T) {
	full := finishedSweep(t, "full", nil, "optimal", "heuristic")
	other := finishedSweep(t, `<b>"other"`, func(st *study.Study, c *sweep.Config) {
		st.Simulated = ""
		st.Stimuli[0].ID = "c" // a is in one sweep alone, and c in the other
		c.Seed, c.Fit.Runs, c.Inference = 8, 5, sweep.MarginalInference
		c.Inference.ActionNoiseKind = "per_action_odds"
	}, "heuristic") // without a posterior at 2 of 7 points, so that optimal is the best of full, of a lower r
	var out reporttest.Folder
	c, err := compare.Sweeps(&out, compare.Options{DifferentStudies: true}, full, other)
	if err != nil {
		t.Fatal(err)
	}
	page := out.Text("comparison.html")
	reporttest.CheckPage(t, "comparison.html", page)
	reporttest.Golden(t, "comparison.html", styling.ReplaceAllString(reporttest.Drawing.ReplaceAllString(page, "</desc>…</svg>"), ""))
	for _, want := range []string{
		"Simulated participants: full. None",
		"stimuli a of full", `stimuli c of <b>"other"`,
		"The methods of inference differ: sips in full and marginal in", "action_noise_kind is total in full",
		"runs is 3 in full and 5 in", "boltzmann: the best is chosen among parameter sets of another number: 2 in full and 1 in",
		"The seeds differ: 7 in full and 8 in",
	} {
		if !slices.ContainsFunc(c.Cautions, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("no caution %q in %q", want, c.Cautions)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(out.Text("comparison.csv"))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v: %v", err, rows)
	}
	at := func(row int, column string) string { return rows[row][slices.Index(rows[0], column)] }
	if at(1, "n") != "7" || at(2, "n") != "5" || at(1, "common_n") != "3" || at(2, "common_n") != "3" || at(1, "from_first") != "" || !strings.HasPrefix(at(2, "from_first"), "1.4999") {
		t.Errorf("comparison.csv: %q", rows)
	}
	if at(2, "from_first_low") != "" { // one stimulus is not to be resampled
		t.Errorf("an interval by one stimulus: %q", rows)
	}
}

// Other judgements of the same stimuli are told, and there is no interval of a difference.
func TestCompareJudgements(t *testing.T) {
	other := finishedSweep(t, "b", func(st *study.Study, _ *sweep.Config) {
		st.Stimuli[1].Human.Mean = [][]float64{{0.3, 0.5, 0.2}}
	}, "optimal")
	c, err := compare.Sweeps(&reporttest.Folder{}, compare.Options{DifferentStudies: true}, finishedSweep(t, "a", nil, "optimal"), other)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Cautions, func(text string) bool {
		return strings.HasPrefix(text, "The judgements differ at 2 of 7 common points")
	}) {
		t.Errorf("cautions %q", c.Cautions)
	}
	if f := c.Fits[1]; math.IsNaN(f.Difference) || !math.IsNaN(f.Low) {
		t.Errorf("%+v", f)
	}
}

// What cannot be compared is refused, and what is missing named.
func TestCompareRefuses(t *testing.T) {
	a := finishedSweep(t, "a", nil, "optimal")
	for name, c := range map[string]struct {
		change func(st *study.Study)
		want   string
	}{
		"other stimuli": {func(st *study.Study) { st.Stimuli[0].ID, st.Stimuli[1].ID = "x", "y" }, "a and b have no stimulus in common: those of a are a and b, those of b are x and y"},
		"other goals": {func(st *study.Study) {
			for i := range st.Stimuli {
				for g := range st.Stimuli[i].Goals {
					st.Stimuli[i].Goals[g].Name += "!"
				}
			}
		}, "not one judged goal and step: a begins with a, step 0, goal red; b begins with a, step 0, goal red!"},
	} {
		b := finishedSweep(t, "b", func(st *study.Study, _ *sweep.Config) { c.change(st) }, "optimal")
		if _, err := compare.Sweeps(&reporttest.Folder{}, compare.Options{DifferentStudies: true}, a, b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, lacking := range []string{"manifest.json", "fits.csv"} {
		b := finishedSweep(t, "b", nil, "optimal")
		delete(b.Files.(fstest.MapFS), lacking)
		if _, err := compare.Sweeps(&reporttest.Folder{}, compare.Options{DifferentStudies: true}, a, b); err == nil || !strings.Contains(err.Error(), "b has no "+lacking+": name the output directories of `foible fit`") {
			t.Errorf("without %s: %v", lacking, err)
		}
	}
	for name, text := range map[string]string{
		"manifest.json":  "nonsense",
		"fits.csv":       "stage,model\n",
		"posteriors.csv": "stage,model,parameter_set,stimulus,step,goal,probability,human\nfit,boltzmann,1,a,0,red,much,.5\n",
	} {
		b := finishedSweep(t, "b", nil, "optimal")
		b.Files.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(text)}
		if _, err := compare.Sweeps(&reporttest.Folder{}, compare.Options{DifferentStudies: true}, a, b); err == nil || !strings.HasPrefix(err.Error(), "b: "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of several rounds the last is compared, as it is reported: contenders with more runs before the others.
func TestCompareTopUp(t *testing.T) {
	a := finishedSweep(t, "a", nil, "optimal")
	files := a.Files.(fstest.MapFS)
	head, row, _ := strings.Cut(string(files["fits.csv"].Data), "\n")
	at := slices.Index(strings.Split(head, ","), "pearson_r")
	topped := func(runs, r string) string {
		fields := strings.Split(strings.TrimSpace(row), ",")
		fields[0], fields[at], fields[slices.Index(strings.Split(head, ","), "runs")] = sweep.TopUpStage, r, runs
		return strings.Join(fields, ",") + "\n"
	}
	files["fits.csv"] = &fstest.MapFile{Data: []byte(head + "\n" + row + topped("2", "0.6") + topped("4", "0.5") + topped("4", "0.4"))}
	posteriors := string(files["posteriors.csv"].Data)
	files["posteriors.csv"] = &fstest.MapFile{Data: []byte(posteriors + strings.ReplaceAll(posteriors[strings.Index(posteriors, "\n")+1:], "fit,", "top_up,"))}
	var out reporttest.Folder
	c, err := compare.Sweeps(&out, compare.Options{DifferentStudies: true}, a, finishedSweep(t, "b", nil, "optimal"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Fits[0].N != 7 || !strings.Contains(out.Text("comparison.csv"), "a,top_up,boltzmann,1,") || !strings.Contains(out.Text("comparison.csv"), ",0.5,") {
		t.Errorf("%+v\n%s", c.Fits, out.Text("comparison.csv"))
	}
}

// Sweeps of different studies are refused, unless that is what is wanted; nothing is written.
func TestCompareDifferentStudies(t *testing.T) {
	a := finishedSweep(t, "a", nil, "optimal")
	for name, change := range map[string]func(m map[string]any){
		"name": func(m map[string]any) { m["study"] = "other" },
		"hash": func(m map[string]any) { m["study_hash"] = "f99" },
	} {
		b := finishedSweep(t, "b", nil, "optimal")
		files := b.Files.(fstest.MapFS)
		var m map[string]any
		if err := json.Unmarshal(files["manifest.json"].Data, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		files["manifest.json"].Data = text
		var out reporttest.Folder
		if _, err := compare.Sweeps(&out, compare.Options{}, a, b); !errors.Is(err, compare.ErrDifferentStudies) || len(out.Files) > 0 {
			t.Errorf("%s: %v, %d files", name, err, len(out.Files))
		}
		if c, err := compare.Sweeps(&out, compare.Options{DifferentStudies: true}, a, b); err != nil || c.Compared() != 2 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	if c, err := compare.Sweeps(&reporttest.Folder{}, compare.Options{}, a, finishedSweep(t, "b", nil, "optimal")); err != nil || c.Compared() != 2 {
		t.Errorf("one study: %+v, %v", c, err)
	}
}
