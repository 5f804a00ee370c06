package fit_test

import (
	"errors"
	"strings"
	"testing"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/picture"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// A stimulus that can be drawn has a storyboard beside its time course, of people and the
// best of each model; one that cannot is noted, and the rest is written.
func TestStoryboards(t *testing.T) {
	st, c := reporttest.Tiny(), reporttest.Config("optimal")
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	out := &reporttest.Folder{}
	r, err := fit.New(out, st, plan, c, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Story = func(st *study.Stimulus) (figure.Story, error) {
		if st.ID == "b" {
			return figure.Story{}, errors.New("no picture of blue")
		}
		story := figure.Story{Title: "Tiny", Goals: []figure.StoryGoal{{Name: "red", Colour: "#ff0000"}, {Name: "green", Colour: "#00ff00"}}}
		square := picture.New(20, 20, "a square")
		square.Rect(1, 1, 9, 9, picture.Style{Fill: "#123456"})
		for j, step := range st.JudgementSteps {
			story.Scenes = append(story.Scenes, figure.Scene{Step: step, Picture: square, Human: st.Human.Mean[j]})
		}
		return story, nil
	}
	gather := sweep.NewGather(plan, r.Add)
	for number, outcome := range reporttest.Outcomes(t, st, c, plan) {
		if err := gather.Add(number, outcome); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(gather.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	board := out.Text("figures/storyboard-a.svg")
	if !strings.Contains(board, "#123456") || !strings.Contains(board, "boltzmann") {
		t.Errorf("no picture or no model in %s", board)
	}
	if out.Text("figures/storyboard-a.pdf") == "" || out.Files["figures/storyboard-b.svg"] != nil {
		t.Error("not the storyboards of what can be drawn")
	}
	page := out.Text("report.html")
	reporttest.CheckPage(t, "report.html", page)
	if course, board := strings.Index(page, "Stimulus a, plain: the probability"), strings.Index(page, "Stimulus a, plain: what was seen"); course < 0 || board < course || strings.Count(page, "<details") != 1 {
		t.Errorf("the storyboard is not after the time course: %d, %d", course, board)
	}
	if want := "There is no storyboard of stimulus b: no picture of blue."; len(r.Manifest.Notes) != 1 || r.Manifest.Notes[0] != want || !strings.Contains(page, want) {
		t.Errorf("notes %q", r.Manifest.Notes)
	}
}
