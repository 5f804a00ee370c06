package views

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/words"
)

// Stimulus is a stimulus of a sweep as a page sees it: what people and each model's best parameter set say.
type Stimulus struct {
	*Sweep
	index  int
	story  figure.Story // with the models
	sets   []int        // of the models, indexes into Sets
	judged []int        // indexes of the scenes at judgement steps
}

// Stimulus is the one at an index of Inside.Stimuli, with its story, which has no models. cell is what a parameter set
// predicts of it, nil if there is no result; the error is one of cell.
func (l *Sweep) Stimulus(index int, story *figure.Story, cell func(set int) (*result.Cell, error)) (*Stimulus, error) {
	v := &Stimulus{Sweep: l, index: index, story: *story}
	return v, v.addModels(cell)
}

// addModels adds what each model's best parameter set predicts.
func (v *Stimulus) addModels(predicted func(set int) (*result.Cell, error)) error {
	steps := v.Inside.Stimuli[v.index].JudgementSteps
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
	for _, f := range v.Fits.best {
		cell, err := predicted(f.set)
		if err != nil {
			return err
		}
		if cell == nil {
			continue
		}
		set := &v.Inside.Sets[f.set]
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

func (v *Stimulus) path() string {
	return SweepPath(v.GetSweepId()) + "/stimuli/" + url.PathEscape(v.Inside.Stimuli[v.index].Stimulus)
}

// version of what the figures are drawn from.
func (v *Stimulus) version() string {
	return strings.ReplaceAll(fmt.Sprint(v.sets, v.Inside.Chosen != nil), " ", "_")
}

// board is the storyboard of the judgement steps.
func (v *Stimulus) board() (*figure.Figure, error) {
	story := v.story
	story.Scenes = nil
	for _, i := range v.judged {
		story.Scenes = append(story.Scenes, v.story.Scenes[i])
	}
	return figure.Storyboard(story)
}

// scene is the figure of one step.
func (v *Stimulus) scene(i int) (*figure.Figure, error) {
	story := v.story
	story.Title, story.Note = "", ""
	story.Scenes = v.story.Scenes[i : i+1]
	return figure.Storyboard(story)
}

// StimulusPage is a page that shows a step of a stimulus.
type StimulusPage struct {
	Sweep, SweepPath string
	Stimulus         string
	StoryTitle       string
	Previous, Next   string // addresses of the stimuli next to this one
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

// Page is the page of the stimulus that shows a step, as a visitor wrote it.
func (v *Stimulus) Page(step string, draw Drawer) (*StimulusPage, error) {
	id := v.Inside.Stimuli[v.index].Stimulus
	page := &StimulusPage{
		Sweep: v.GetSweepId(), SweepPath: SweepPath(v.GetSweepId()), Stimulus: id,
		StoryTitle: v.story.Title, Models: v.story.Models, Last: len(v.story.Scenes) - 1,
	}
	beside := func(i int) string {
		if i < 0 || i >= len(v.Inside.Stimuli) {
			return ""
		}
		return page.SweepPath + "/stimuli/" + url.PathEscape(v.Inside.Stimuli[i].Stimulus)
	}
	page.Previous, page.Next = beside(v.index-1), beside(v.index+1)
	for _, set := range v.sets {
		page.Sets = append(page.Sets, fmt.Sprintf("%s #%d: %s", v.Inside.Sets[set].Model, set+1, v.Inside.Sets[set].Settings()))
	}
	path := v.path() + "/figures/storyboard"
	board, err := draw(path, v.version(), v.board)
	if err != nil {
		return nil, err
	}
	page.Board = newFigureView("Storyboard", path, v.version(), board)
	if len(v.story.Scenes) > 0 {
		page.Step = v.step(step)
		path := fmt.Sprint(v.path(), "/figures/scene-", page.Step)
		scene, err := draw(path, v.version(), func() (*figure.Figure, error) { return v.scene(page.Step) })
		if err != nil {
			return nil, err
		}
		page.Scene = newFigureView("Step", path, v.version(), scene)
	}
	page.Steps = v.steps()
	page.Rows = v.rows()
	return page, nil
}

// step is the scene asked for; the initial state if none is.
func (v *Stimulus) step(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(v.story.Scenes) {
		return 0
	}
	return n
}

func (v *Stimulus) steps() []stepView {
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

func (v *Stimulus) rows() []judgedRow {
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

// File is a figure of the stimulus, or its numbers, by its name; false if there is none.
func (v *Stimulus) File(name string) (File, bool) {
	f := File{Name: v.GetSweepId() + "-" + v.Inside.Stimuli[v.index].Stimulus + "-" + name, Path: v.path() + "/figures/" + name, Version: v.version(), Table: v.write}
	number, isScene := strings.CutPrefix(name, "scene-")
	i, err := strconv.Atoi(number)
	switch {
	case name == "storyboard":
		f.Figure = v.board
	case isScene && err == nil && i >= 0 && i < len(v.story.Scenes):
		f.Figure = func() (*figure.Figure, error) { return v.scene(i) }
	default:
		return File{}, false
	}
	return f, true
}

// write writes what people and models say at every step.
func (v *Stimulus) write(to io.Writer) error {
	out := csv.NewWriter(to)
	_ = out.Write(append([]string{"stimulus", "step", "action", "goal", "human", "human_se"}, v.story.Models...))
	for _, scene := range v.story.Scenes {
		for g, goal := range v.story.Goals {
			row := []string{v.Inside.Stimuli[v.index].Stimulus, strconv.Itoa(scene.Step), scene.Action, goal.Name, number(at(scene.Human, g)), number(at(scene.SE, g))}
			for _, ps := range scene.Models {
				row = append(row, number(at(ps, g)))
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}
