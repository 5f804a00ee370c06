package input

import (
	"math"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/study"
	"foible.dev/foible/domains"
)

// TitleWith is the title of a study with a text after it, and says if its participants are simulated.
func TitleWith(s *domains.Study, of string) string {
	title := s.Title
	if title == "" {
		title = s.Name
	}
	title += of
	if s.Simulated != "" && !strings.Contains(strings.ToLower(title), "simulated") {
		title += " (simulated participants)"
	}
	return title
}

// Title names a study.
func Title(s *domains.Study) string { return TitleWith(s, "") }

// Story is a stimulus at some steps, in ascending order, with the mean human judgements.
func Story(s *domains.Study, st *study.Stimulus, steps []int) (figure.Story, error) {
	pictures, err := s.Pictures(st, steps)
	if err != nil {
		return figure.Story{}, err
	}
	story := figure.Story{Title: FigureTitle(s, st)}
	for g := range st.Goals {
		story.Goals = append(story.Goals, figure.StoryGoal{
			Name: st.Goals[g].Name, Colour: s.Domain.Colour(g, st.Goals[g].Name), True: g == st.TrueGoal,
		})
	}
	for j, step := range steps {
		scene := figure.Scene{Step: step, Action: ActionText(st, step)}
		if j < len(pictures) {
			scene.Picture = pictures[j]
		}
		for g := range st.Goals {
			mean, se := Judged(st, step, g)
			scene.Human, scene.SE = append(scene.Human, mean), append(scene.SE, se)
		}
		story.Scenes = append(story.Scenes, scene)
	}
	return story, nil
}

// ActionText is the action that led to a step; none to the first.
func ActionText(st *study.Stimulus, step int) string {
	if step == 0 {
		return ""
	}
	return st.Plan[step-1].String()
}

// Judged is the people's mean at a step and its standard error; NaN where there is none.
func Judged(st *study.Stimulus, step, goal int) (mean, se float64) {
	mean, se = math.NaN(), math.NaN()
	for j, k := range st.JudgementSteps {
		if k != step {
			continue
		}
		if j < len(st.Human.Mean) && st.Human.Mean[j] != nil {
			mean = st.Human.Mean[j][goal]
		}
		if j < len(st.Human.SE) && st.Human.SE[j] != nil {
			se = st.Human.SE[j][goal]
		}
	}
	return mean, se
}

// FigureTitle names study and stimulus; simulated judgements are never shown as people's.
func FigureTitle(s *domains.Study, st *study.Stimulus) string {
	of := ": stimulus " + st.ID
	if st.Category != "" {
		of += ", " + st.Category
	}
	return TitleWith(s, of)
}
