package fit_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// The pages of the tiny study, but for the drawings, and its tables for LaTeX: of
// an exact model, and of a sweep of two models with a report stage.
func TestPage(t *testing.T) {
	exact, _ := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal", "heuristic"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2, 3, 4, 5}}, nil)
	sampled, _ := stagedReport(t, rand.New(rand.NewPCG(2, 2)), 1, nil)
	for name, out := range map[string]*reporttest.Folder{"exact.html": exact, "sampled.html": sampled} {
		page := out.Text("report.html")
		reporttest.Golden(t, name, reporttest.Drawing.ReplaceAllString(page, "</desc>…</svg>"))
		reporttest.CheckPage(t, name, page)
		reporttest.Golden(t, strings.Replace(name, ".html", ".tex", 1), out.Text("tables/fits.tex"))
	}
}

// Whatever a study's texts are, the page shows them as text.
func TestPageEscapes(t *testing.T) {
	st := reporttest.Tiny()
	st.Title = `<script>alert("1")</script> & "more"`
	st.Simulated = "By <b>hand</b>."
	st.Stimuli[0].Category = `"><img src=x>`
	out, _ := reporttest.Write(t, st, reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, nil)
	page := out.Text("report.html")
	reporttest.CheckPage(t, "report.html", page)
	for _, bad := range []string{"<script", "<b>hand", "<img"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

// A study's texts do not end the table for LaTeX, or begin anything in it.
func TestLaTeXEscapes(t *testing.T) {
	st := reporttest.Tiny()
	st.Title = `50% of {A} & B_1 \input{x} $#^~`
	out, _ := reporttest.Write(t, st, reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, nil)
	want := `\caption{50\% of \{A\} \& B\_1 \textbackslash{}input\{x\} \$\#\textasciicircum{}\textasciitilde{} (simulated participants). `
	if text := out.Text("tables/fits.tex"); !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}

// Without a fit there is a table that says so.
func TestLaTeXWithoutFits(t *testing.T) {
	out, _ := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal"), reporttest.Jobs{Cells: 1}, nil)
	if text := out.Text("tables/fits.tex"); !strings.Contains(text, "No parameter set has a defined correlation") || !strings.Contains(text, `\end{table}`) {
		t.Errorf("%s", text)
	}
}

// warnings are the texts that a page begins with.
func warnings(t *testing.T, out *reporttest.Folder) []string {
	t.Helper()
	page := out.Text("report.html")
	_, after, ok := strings.Cut(page, `<section class="warnings"`)
	if !ok {
		return nil
	}
	box, _, _ := strings.Cut(after, "</section>")
	if strings.Contains(after[len(box):], `class="warnings"`) || strings.Index(page, "<table") < strings.Index(page, box) {
		t.Error("warnings are not all before the first table")
	}
	var all []string
	for _, m := range regexp.MustCompile(`<li>(.*?)</li>`).FindAllStringSubmatch(box, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// tooFew is what the tiny study has not enough stimuli and participants for.
const tooFew = "not given, for want of units: intervals by stimuli (2 stimuli, and 5 are needed); intervals by both (a stimulus has 2 participants, and 5 are needed in each); the reliability of the means and the ceiling on r (a stimulus has 2 participants, and 5 are needed in each); cross-validation (2 stimuli, and 3 are needed); the comparison of models by participants (4 participants, and 5 are needed)."

func TestWarnings(t *testing.T) {
	// Nothing to warn of, but that the study is tiny.
	st := reporttest.Tiny()
	st.Simulated = ""
	out, _ := reporttest.Write(t, st, reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, func(all []sweep.Outcome) { all[2].Fits[0].Intervals = nil })
	if got, want := warnings(t, out), []string{`category "plain" has 4 points: its r says little.`, `category "odd, very" has 3 points: its r says little.`, tooFew}; !slices.Equal(got, want) {
		t.Errorf("warnings %q", got)
	}
	// A set is missing, a job failed, a stimulus is undefined, the interval is low.
	out, _ = reporttest.Write(t, reporttest.Tiny(), reporttest.Config("heuristic", "on_policy"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2, 3, 4, 5}}, func(all []sweep.Outcome) {
		all[5] = sweep.Outcome{Failure: "out of memory"}
		all[4].Fits[0].Intervals = []result.Interval{{Unit: "participants", Low: 0.25, High: 0.5}}
	})
	want := []string{
		"The participants are simulated; Methods say how. No number here is of people.",
		"Some jobs failed; failures.csv says why.",
		"The sweep is incomplete: what follows lacks 1 of 2 parameter sets for want of a fit.",
		"The interval lies below r of boltzmann. The means of resampled people are noisier than those of all people; so only the width of the interval can be used, not where it lies.",
		"boltzmann: the best setting has no posterior to the end on 1 of 2 stimuli (a; first reason: impossible at step 1, action (switch red)), so that 2 of 7 points are not in its r; no setting of the model has a posterior at all points.",
		`category "plain" has 2 points: its r says little.`,
		`category "odd, very" has 3 points: its r says little.`,
		tooFew,
	}
	if got := warnings(t, out); !slices.Equal(got, want) {
		t.Errorf("warnings\n%q\nwant\n%q", got, want)
	}
	// The report stage is not there yet.
	out, _ = stagedReport(t, rand.New(rand.NewPCG(3, 3)), 2, func(job sweep.Job) bool { return job.Stage == sweep.ReportStage })
	if got := strings.Join(warnings(t, out), "\n"); !strings.Contains(got, "The report stage has no result of plan-lesioned and boltzmann:") {
		t.Errorf("warnings %s", got)
	}
}

// What the caller has to warn of is told before notes.
func TestWarningsOfTheCaller(t *testing.T) {
	c := reporttest.Config("optimal")
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	out := &reporttest.Folder{}
	r, err := fit.New(out, &study.Study{Name: "tiny", Stimuli: reporttest.Tiny().Stimuli}, plan, c, fit.Manifest{Warnings: []string{"Mind the gap."}, Notes: []string{"Noted."}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"The sweep is incomplete: what follows lacks 1 of 1 parameter set for want of a fit.", "Mind the gap.", tooFew, "Noted."}
	if got := warnings(t, out); !slices.Equal(got, want) {
		t.Errorf("warnings %q", got)
	}
	reporttest.CheckPage(t, "report.html", out.Text("report.html"))
}
