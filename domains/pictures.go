package domains

import (
	"fmt"
	"slices"

	"foible.dev/foible/core/picture"
	"foible.dev/foible/core/study"
)

// Stimulus finds a stimulus.
func (s *Study) Stimulus(id string) (*study.Stimulus, bool) {
	i := slices.IndexFunc(s.Stimuli, func(st study.Stimulus) bool { return st.ID == id })
	if i < 0 {
		return nil, false
	}
	return &s.Stimuli[i], true
}

// Pictures draws a stimulus at some steps, ascending, with the way that led
// there. A plan that cannot be followed gives fewer.
func (s *Study) Pictures(st *study.Stimulus, steps []int) ([]*picture.Picture, error) {
	task, err := st.Task()
	if err != nil {
		return nil, err
	}
	states, _, _ := task.Validate(st.Plan) // up to where the plan can be followed
	var pictures []*picture.Picture
	for _, step := range steps {
		if step >= len(states) {
			break
		}
		p, err := s.Domain.Picture(task, states[step], states[:step])
		if err != nil {
			return nil, fmt.Errorf("stimulus %s, step %d: %w", st.ID, step, err)
		}
		pictures = append(pictures, p)
	}
	return pictures, nil
}
