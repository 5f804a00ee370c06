package stimulus

import (
	"strings"

	"foible.dev/foible/command/input"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/result"
)

func timeCourse(c *chosen, cells []result.Cell) *figure.Figure {
	panels := make([]figure.CoursePanel, len(c.stimulus.Goals))
	for goal := range panels {
		p := figure.CoursePanel{Goal: c.stimulus.Goals[goal].Name, True: goal == c.stimulus.TrueGoal}
		for _, step := range c.stimulus.JudgementSteps {
			mean, se := input.Judged(c.stimulus, step, goal)
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
	return figure.TimeCourse(input.FigureTitle(c.study, c.stimulus), panels, mistakes...)
}

func storyboard(c *chosen, cells []result.Cell) (*figure.Figure, error) {
	story, err := input.Story(c.study, c.stimulus, c.stimulus.JudgementSteps)
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
