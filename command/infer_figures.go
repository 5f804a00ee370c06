package command

import (
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
)

// figureTitle names study and stimulus; simulated judgements are never shown as people's.
func figureTitle(s *domains.Study, st *study.Stimulus) string {
	of := ": stimulus " + st.ID
	if st.Category != "" {
		of += ", " + st.Category
	}
	return titleOf(s, of)
}

// studyTitle names a study.
func studyTitle(s *domains.Study) string { return titleOf(s, "") }

func titleOf(s *domains.Study, of string) string {
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

func timeCourse(c *chosen, cells []sweep.Cell) *figure.Figure {
	panels := make([]figure.CoursePanel, len(c.stimulus.Goals))
	for goal := range panels {
		p := figure.CoursePanel{Goal: c.stimulus.Goals[goal].Name, True: goal == c.stimulus.TrueGoal}
		for _, step := range c.stimulus.JudgementSteps {
			mean, se := judged(c.stimulus, step, goal)
			p.Human = append(p.Human, figure.HumanPoint{Step: step, Mean: mean, SE: se})
		}
		for m := range cells {
			course := figure.Course{Model: c.sets[m].Model}
			for _, row := range cells[m].Posterior {
				course.Probability = append(course.Probability, row[goal])
			}
			p.Models = append(p.Models, course)
		}
		panels[goal] = p
	}
	var mistakes []figure.MistakeCourse
	for m := range cells {
		if cells[m].Mistakes != nil {
			mistakes = append(mistakes, report.Mistakes(c.sets[m].Model, cells[m].Mistakes))
		}
	}
	return figure.TimeCourse(figureTitle(c.study, c.stimulus), panels, mistakes...)
}

func storyboard(c *chosen, cells []sweep.Cell) (*figure.Figure, error) {
	story, err := storyOf(c.study, c.stimulus, c.stimulus.JudgementSteps)
	if err != nil {
		return nil, err
	}
	var notes []string
	for i := range c.sets {
		story.Models = append(story.Models, c.sets[i].Model)
		notes = append(notes, c.sets[i].Model+": "+c.sets[i].Settings())
	}
	story.Note = strings.Join(notes, "; ") + "."
	for i := range story.Scenes {
		scene := &story.Scenes[i]
		for m := range cells {
			var row []float64
			if scene.Step < len(cells[m].Posterior) {
				row = cells[m].Posterior[scene.Step]
			}
			scene.Models = append(scene.Models, row)
		}
	}
	return figure.Storyboard(story)
}

// storyOf is a stimulus at some steps, ascending, as people judged it.
func storyOf(s *domains.Study, st *study.Stimulus, steps []int) (figure.Story, error) {
	pictures, err := s.Pictures(st, steps)
	if err != nil {
		return figure.Story{}, err
	}
	story := figure.Story{Title: figureTitle(s, st)}
	for g := range st.Goals {
		story.Goals = append(story.Goals, figure.StoryGoal{
			Name: st.Goals[g].Name, Colour: s.Domain.Colour(g, st.Goals[g].Name), True: g == st.TrueGoal,
		})
	}
	for j, step := range steps {
		scene := figure.Scene{Step: step, Action: actionText(st, step)}
		if j < len(pictures) {
			scene.Picture = pictures[j]
		}
		for g := range st.Goals {
			mean, se := judged(st, step, g)
			scene.Human, scene.SE = append(scene.Human, mean), append(scene.SE, se)
		}
		story.Scenes = append(story.Scenes, scene)
	}
	return story, nil
}
