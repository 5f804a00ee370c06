package recovery_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/sweep"
)

// recoveredFiles are what a recovery of the tiny study leaves.
func recoveredFiles(t *testing.T) fs.FS {
	t.Helper()
	out := &reporttest.Folder{}
	if err := recovered(t).Write(out); err != nil {
		t.Fatal(err)
	}
	return out.FS()
}

// The page of a sweep has what a recovery of its study came to, and says that its grid was another one.
func TestRecoveredOnThePage(t *testing.T) {
	from, err := recovery.Read("rec", recoveredFiles(t), "1234")
	if err != nil {
		t.Fatal(err)
	}
	c := reporttest.Config("optimal", "heuristic")
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	out := &reporttest.Folder{}
	r, err := fit.New(out, reporttest.Tiny(), plan, c, fit.Manifest{SweepID: "abc", StudyHash: "1234", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	r.Recovered = from
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	page := out.Text("report.html")
	for _, want := range []string{
		`<h2 id="recovery">Recovery</h2>`, "boltzmann: alpha is recovered: rank correlation 1.00 [1.00, 1.00]", "Confusion matrices",
		"Fitted against true parameters of boltzmann", "sweeps abc and def", "Its grid was another one: parameter sets of boltzmann (4 there, 2 here).", "wilson2019ten",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	reporttest.CheckPage(t, "report.html", page)
}

func TestReadRecoveryRefuses(t *testing.T) {
	files := recoveredFiles(t)
	without := fstest.MapFS{}
	for name, file := range files.(fstest.MapFS) {
		if name != "figures/confusion.svg" {
			without[name] = file
		}
	}
	script := fstest.MapFS{}
	for name, file := range files.(fstest.MapFS) {
		script[name] = file
	}
	script["figures/confusion.svg"] = &fstest.MapFile{Data: []byte("<svg ><script>1</script></svg>")}
	for name, c := range map[string]struct {
		files fs.FS
		hash  string
		want  string
	}{
		"another study":  {files, "f00", "rec is a recovery of another study"},
		"empty":          {fstest.MapFS{}, "1234", "rec has no manifest.json: name the output directory of `foible recover`"},
		"a fit":          {fstest.MapFS{"manifest.json": {Data: []byte(`{"study_hash":"1234"}`)}}, "1234", "rec is of no recovery"},
		"cut off":        {fstest.MapFS{"manifest.json": {Data: []byte(`{`)}}, "1234", "rec: manifest.json: "},
		"without figure": {without, "1234", "rec: open figures/confusion.svg"},
		"with a script":  {script, "1234", "figures/confusion.svg is no figure of `foible recover`"},
	} {
		if _, err := recovery.Read("rec", c.files, c.hash); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}
