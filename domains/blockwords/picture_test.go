package blockwords

import (
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

func TestPicture(t *testing.T) {
	task, plan := towers(t)
	states, _, err := task.Validate(plan)
	if err != nil {
		t.Fatal(err)
	}
	held, err := Picture(task, states[1], states[:1])
	if err != nil {
		t.Fatal(err)
	}
	domaintest.Golden(t, "held.svg", held)
	svg := held.SVG()
	if want := "<title>Towers, top block first: l, mp, ae; in the hand: s</title>"; !strings.Contains(svg, want) {
		t.Errorf("no %s in\n%s", want, svg)
	}
	if n := strings.Count(svg, moved); n != 1 {
		t.Errorf("%d blocks are marked as moved", n)
	}
	stacked, err := Picture(task, states[2], nil)
	if err != nil {
		t.Fatal(err)
	}
	svg = stacked.SVG()
	if want := "<title>Towers, top block first: l, smp, ae</title>"; !strings.Contains(svg, want) {
		t.Errorf("no %s in\n%s", want, svg)
	}
	if strings.Contains(svg, moved) {
		t.Error("a block is marked as moved where the past is not known")
	}
}

func TestPictureRefusesWhatIsNoTower(t *testing.T) {
	p := parse(t, `(define (problem loop) (:domain block-words) (:objects a b - block) (:init (handempty) (on a b) (on b a)))`)
	task, err := ground.New(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Picture(task, task.Initial(), nil); err == nil || !strings.Contains(err.Error(), "0 of 2 blocks") {
		t.Errorf("%v, %v", p, err)
	}
}

// towers is a task and two of its actions.
func towers(t testing.TB) (*ground.Task, []pddl.Step) {
	t.Helper()
	p := parse(t, `(define (problem towers) (:domain block-words) (:objects l a m p s e - block)
  (:init (handempty) (clear a) (on a e) (ontable e) (clear s) (on s l) (ontable l) (clear m) (on m p) (ontable p)))`)
	task, err := ground.New(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pddl.ParsePlan("plan", []byte("(unstack s l)\n(stack s m)\n"))
	if err != nil {
		t.Fatal(err)
	}
	return task, plan
}
