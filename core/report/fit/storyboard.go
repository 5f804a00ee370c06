package fit

import (
	"fmt"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/study"
)

// storyboards draws every stimulus at its judgement steps, with what the best parameter
// set of each model infers; none where it is not known what stimuli look like.
func (r *Report) storyboards() {
	if r.Story == nil {
		return
	}
	for i := range r.study.Stimuli {
		st := &r.study.Stimuli[i]
		f, err := r.storyboard(i)
		if err != nil { // what a sweep came to is worth more than its pictures
			r.note(fmt.Sprintf("There is no storyboard of stimulus %s: %v.", st.ID, err))
			continue
		}
		r.drawn.Add("storyboard-"+st.ID, f)
	}
}

func (r *Report) storyboard(stimulus int) (*figure.Figure, error) {
	st := &r.study.Stimuli[stimulus]
	story, err := r.Story(st)
	if err != nil {
		return nil, err
	}
	for _, m := range model.Models {
		c := r.best[m.Name]
		if c == nil || c.Cells[stimulus] == nil {
			continue
		}
		story.Models = append(story.Models, m.Name)
		rows := r.plan.Stimuli[stimulus].Predict(c.Cells[stimulus]).Rows
		for j := range story.Scenes {
			var row []float64 // not known
			if j < len(rows) {
				row = rows[j]
			}
			story.Scenes[j].Models = append(story.Scenes[j].Models, row)
		}
	}
	return figure.Storyboard(story)
}

// Storyboard is what a stimulus looks like at its judgement steps, in their order, and how
// people judged it there; without models.
type Storyboard func(st *study.Stimulus) (figure.Story, error)
