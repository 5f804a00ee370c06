package doorskeysgems

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/published"
	"foible.dev/foible/core/study"
	"foible.dev/foible/domains/internal/domaintest"
)

func TestPicturesOfTheSample(t *testing.T) {
	src := domaintest.Source(Name, PDDL, Goal)
	src.Stimuli, src.Problems, src.Plans = "stimuli.csv", "problems/{stimulus}.pddl", "plans/{stimulus}.plan"
	st, findings := study.Read(Sample, src)
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		domaintest.Pictures(t, s.ID, Picture, domaintest.Ground(t, s), s.Plan)
	}
}

func TestPicturesOfThePublishedStimuli(t *testing.T) {
	dir := filepath.Join(published.Dir(t), "mistakes-2021", Name)
	for _, s := range domaintest.Read(t, dir, nil, Goal) {
		domaintest.Pictures(t, s.ID, Picture, s.Task, s.Plan)
	}
}

// walk is the room of goal_test.go with the gems as goals, and the states of a plan.
func walk(t testing.TB, plan string) (*ground.Task, []ground.StateID) {
	t.Helper()
	p := parse(t, room)
	var goals []pddl.Formula
	for _, gem := range []string{"gem1", "Gem2", "ruby"} {
		text, err := Goal(gem, p)
		if err != nil {
			t.Fatal(err)
		}
		f, err := pddl.ParseGoal(gem, []byte(text), p)
		if err != nil {
			t.Fatal(err)
		}
		goals = append(goals, f)
	}
	task, err := ground.New(p, goals)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := pddl.ParsePlan("plan", []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	states, _, err := task.Validate(steps)
	if err != nil {
		t.Fatal(err)
	}
	return task, states
}

const tour = "(up)\n(up)\n(pickup key1)\n(right)\n(unlock key1 right)\n(right)\n(right)\n(pickup gem1)\n"

func TestPicture(t *testing.T) {
	task, states := walk(t, tour)
	for _, c := range []struct {
		step  int
		file  string
		title string
		count map[string]int // of substrings
	}{
		// The agent, at first at the bottom left, in the middle of the cell.
		{0, "start.svg", "the agent at (1, 1)", map[string]int{
			"translate(8 40)": 1, "<title>key1</title>": 1, ">nothing</text>": 1, "stroke-dasharray": 0, "stroke-opacity": 0,
		}},
		{4, "carrying.svg", "the agent at (2, 3) carrying key1", map[string]int{
			"translate(24 8)": 1, "<title>key1</title>": 1, ">nothing</text>": 0, "stroke-dasharray": 0, "stroke-opacity": 1,
		}},
		{8, "end.svg", "the agent at (4, 3) carrying gem1", map[string]int{
			"translate(56 8)": 1, "<title>key1</title>": 0, "<title>gem1</title>": 1, "stroke-dasharray": 1, ">R</text>": 1, ">2</text>": 1,
		}},
	} {
		p, err := Picture(task, states[c.step], states[:c.step])
		if err != nil {
			t.Fatal(err)
		}
		domaintest.Golden(t, c.file, p)
		svg := p.SVG()
		if want := "<title>Maze of 5 by 3 cells, " + c.title + "</title>"; !strings.Contains(svg, want) {
			t.Errorf("%s: no %s", c.file, want)
		}
		for s, want := range c.count {
			if got := strings.Count(svg, s); got != want {
				t.Errorf("%s: %q is there %d times, want %d", c.file, s, got, want)
			}
		}
	}
}

func TestGemsDifferWithoutColour(t *testing.T) {
	shapes := map[string]bool{}
	for n := range 5 {
		shapes[fmt.Sprint(cut(n))] = true
	}
	if len(shapes) != 5 {
		t.Errorf("%d shapes of 5", len(shapes))
	}
}
