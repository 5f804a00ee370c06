package web

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/words"
)

// stimulusLook is a stimulus of a sweep as a page sees it: what people and each model's best parameter set say.
type stimulusLook struct {
	*look
	stimulus int
	story    figure.Story // with the models
	sets     []int        // of the models, indexes into Sets
	judged   []int        // indexes of the scenes at judgement steps
}

func (s *Server) lookAt(ctx context.Context, id, stimulus string) (*stimulusLook, error) {
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	v := &stimulusLook{look: l, stimulus: -1}
	for i := range l.in.Stimuli {
		if l.in.Stimuli[i].Stimulus == stimulus {
			v.stimulus = i
		}
	}
	if v.stimulus < 0 {
		return nil, fmt.Errorf("sweep %s has no stimulus %q: %w", id, stimulus, service.ErrNotFound)
	}
	story, err := s.story(ctx, l.GetStudyHash(), stimulus)
	if err != nil {
		return nil, err
	}
	v.story = *story
	return v, v.addModels(ctx, s.coordinator)
}

// story is a stimulus without models; each is told once.
func (s *Server) story(ctx context.Context, hash, stimulus string) (*figure.Story, error) {
	study, err := s.study(ctx, hash)
	if err != nil {
		return nil, err
	}
	told := s.stories.get(hash+"/"+stimulus, func() *tale { return &tale{} })
	told.mu.Lock()
	defer told.mu.Unlock()
	if told.story != nil {
		return told.story, nil
	}
	story, err := study.Story(stimulus)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	told.story = &story
	return told.story, nil
}

// addModels adds what each model's best parameter set predicts.
func (v *stimulusLook) addModels(ctx context.Context, c Coordinator) error {
	steps := v.in.Stimuli[v.stimulus].JudgementSteps
	scenes := make([]figure.Scene, len(v.story.Scenes)) // the story's own are shared
	copy(scenes, v.story.Scenes)
	v.story.Scenes = scenes
	at := map[int]int{} // by step, the index of a judgement step
	for j, step := range steps {
		at[step] = j
	}
	for i := range scenes {
		if _, ok := at[scenes[i].Step]; ok {
			v.judged = append(v.judged, i)
		}
		scenes[i].Models = nil
	}
	var notes []string
	for _, f := range v.fits.best {
		cell, err := c.Cell(ctx, v.GetSweepId(), f.set, v.stimulus)
		if err != nil {
			return err
		}
		if cell == nil {
			continue
		}
		set := &v.in.Sets[f.set]
		v.story.Models = append(v.story.Models, set.Model)
		v.sets = append(v.sets, f.set)
		notes = append(notes, set.Model+": "+set.Settings())
		for i := range scenes {
			row := scenes[i].Step
			if cell.Judged {
				j, ok := at[row]
				if row = j; !ok {
					row = -1
				}
			}
			var ps []float64
			if row >= 0 && row < len(cell.Posterior) {
				ps = cell.Posterior[row]
			}
			scenes[i].Models = append(scenes[i].Models, ps)
		}
	}
	if len(notes) > 0 {
		v.story.Note = strings.Join(notes, "; ") + "."
	}
	return nil
}

func (v *stimulusLook) path() string {
	return sweepPath(v.GetSweepId()) + "/stimuli/" + url.PathEscape(v.in.Stimuli[v.stimulus].Stimulus)
}

// version of what the figures are drawn from.
func (v *stimulusLook) version() string {
	return strings.ReplaceAll(fmt.Sprint(v.sets, v.in.Chosen != nil), " ", "_")
}

// board is the storyboard of the judgement steps.
func (v *stimulusLook) board() (*figure.Figure, error) {
	story := v.story
	story.Scenes = nil
	for _, i := range v.judged {
		story.Scenes = append(story.Scenes, v.story.Scenes[i])
	}
	return figure.Storyboard(story)
}

// scene is the figure of one step.
func (v *stimulusLook) scene(i int) (*figure.Figure, error) {
	story := v.story
	story.Title, story.Note = "", ""
	story.Scenes = v.story.Scenes[i : i+1]
	return figure.Storyboard(story)
}

type stimulusView struct {
	page
	Sweep, SweepPath string
	Stimulus         string
	StoryTitle       string
	Previous, Next   string // addresses of the stimuli beside this one
	Scene            *figureView
	Step, Last       int
	Steps            []stepView
	Board            *figureView
	Goals, Models    []string
	Rows             []judgedRow
	Sets             []string // of the models, in words
}

// stepView is what a slider says of a step.
type stepView struct {
	Text, Path string
	Judged     bool
}

// judgedRow is a goal at a judgement step.
type judgedRow struct {
	Step          int
	Action, Goal  string
	True          bool
	Human, SE     string
	Probabilities []string
}

func (s *Server) stimulusPage(w http.ResponseWriter, r *http.Request, v *visitor) {
	l, err := s.lookAt(r.Context(), r.PathValue("sweep"), r.PathValue("stimulus"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	view, err := s.newStimulusView(l, v, r.FormValue("step"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.show(w, r, http.StatusOK, "stimulus.html", view)
}

func (s *Server) newStimulusView(l *stimulusLook, v *visitor, step string) (*stimulusView, error) {
	id := l.in.Stimuli[l.stimulus].Stimulus
	view := &stimulusView{
		page: s.newPage("Stimulus "+id, v), Sweep: l.GetSweepId(), SweepPath: sweepPath(l.GetSweepId()), Stimulus: id,
		StoryTitle: l.story.Title, Models: l.story.Models, Last: len(l.story.Scenes) - 1,
	}
	beside := func(i int) string {
		if i < 0 || i >= len(l.in.Stimuli) {
			return ""
		}
		return view.SweepPath + "/stimuli/" + url.PathEscape(l.in.Stimuli[i].Stimulus)
	}
	view.Previous, view.Next = beside(l.stimulus-1), beside(l.stimulus+1)
	for _, set := range l.sets {
		view.Sets = append(view.Sets, fmt.Sprintf("%s #%d: %s", l.in.Sets[set].Model, set+1, l.in.Sets[set].Settings()))
	}
	board, err := s.draw(l.path()+"/figures/storyboard", l.version(), l.board)
	if err != nil {
		return nil, err
	}
	view.Board = newFigureView("Storyboard", l.path()+"/figures/storyboard", l.version(), board)
	if len(l.story.Scenes) > 0 {
		view.Step = l.step(step)
		scene, err := s.draw(fmt.Sprint(l.path(), "/figures/scene-", view.Step), l.version(), func() (*figure.Figure, error) { return l.scene(view.Step) })
		if err != nil {
			return nil, err
		}
		view.Scene = newFigureView("Step", fmt.Sprint(l.path(), "/figures/scene-", view.Step), l.version(), scene)
	}
	view.Steps = l.steps()
	view.Rows = l.rows()
	return view, nil
}

// step is the scene asked for; the initial state if none is.
func (v *stimulusLook) step(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(v.story.Scenes) {
		return 0
	}
	return n
}

func (v *stimulusLook) steps() []stepView {
	judged := map[int]bool{}
	for _, i := range v.judged {
		judged[i] = true
	}
	var all []stepView
	for i, scene := range v.story.Scenes {
		text := fmt.Sprintf("Step %d of %d", scene.Step, v.story.Scenes[len(v.story.Scenes)-1].Step)
		if scene.Action != "" {
			text += ": " + scene.Action
		}
		if judged[i] {
			text += ", judged"
		}
		all = append(all, stepView{text, fmt.Sprint(v.path(), "/figures/scene-", i, ".svg?v=", v.version()), judged[i]})
	}
	return all
}

func (v *stimulusLook) rows() []judgedRow {
	var all []judgedRow
	for _, i := range v.judged {
		scene := &v.story.Scenes[i]
		for g, goal := range v.story.Goals {
			row := judgedRow{Step: scene.Step, Action: scene.Action, Goal: goal.Name, True: goal.True, Human: words.Decimals(at(scene.Human, g), 2), SE: words.Decimals(at(scene.SE, g), 2)}
			for _, ps := range scene.Models {
				row.Probabilities = append(row.Probabilities, words.Decimals(at(ps, g), 2))
			}
			all = append(all, row)
		}
	}
	return all
}

// at is NaN where there is nothing.
func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

// stimulusFigure answers with a figure of a stimulus, or its numbers, by the name of a file.
func (s *Server) stimulusFigure(w http.ResponseWriter, r *http.Request, v *visitor) {
	l, err := s.lookAt(r.Context(), r.PathValue("sweep"), r.PathValue("stimulus"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	kind := path.Ext(r.PathValue("figure"))
	name := strings.TrimSuffix(r.PathValue("figure"), kind)
	f := file{name: l.GetSweepId() + "-" + l.in.Stimuli[l.stimulus].Stimulus + "-" + name, path: l.path() + "/figures/" + name, version: l.version(), kind: kind, table: l.write}
	number, isScene := strings.CutPrefix(name, "scene-")
	i, err := strconv.Atoi(number)
	switch {
	case name == "storyboard":
		f.draw = l.board
	case isScene && err == nil && i >= 0 && i < len(l.story.Scenes):
		f.draw = func() (*figure.Figure, error) { return l.scene(i) }
	default:
		http.NotFound(w, r)
		return
	}
	s.serve(w, r, v, f)
}

// write writes what people and models say at every step.
func (v *stimulusLook) write(to io.Writer) error {
	out := csv.NewWriter(to)
	_ = out.Write(append([]string{"stimulus", "step", "action", "goal", "human", "human_se"}, v.story.Models...))
	for _, scene := range v.story.Scenes {
		for g, goal := range v.story.Goals {
			row := []string{v.in.Stimuli[v.stimulus].Stimulus, strconv.Itoa(scene.Step), scene.Action, goal.Name, number(at(scene.Human, g)), number(at(scene.SE, g))}
			for _, ps := range scene.Models {
				row = append(row, number(at(ps, g)))
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}
