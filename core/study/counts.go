package study

import (
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// countCategories notes how many stimuli there are of each category, in order
// of first appearance.
func countCategories(r *report, s *Study) {
	var names []string
	counts := map[string]int{}
	for _, stimulus := range s.Stimuli {
		if counts[stimulus.Category] == 0 {
			names = append(names, stimulus.Category)
		}
		counts[stimulus.Category]++
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + " " + words.Thousands(counts[name])
		if name == "" {
			parts[i] = "without category " + words.Thousands(counts[name])
		}
	}
	r.notef(pddl.Pos{}, "stimuli: %s (%s)", words.Thousands(len(s.Stimuli)), strings.Join(parts, ", "))
}

// countParticipants notes how many people judged, and warns of judgements
// without a standard error.
func countParticipants(r *report, s *Study) {
	var counts []int // of each judgement
	partial, judged := 0, false
	for i := range s.Stimuli {
		h := &s.Stimuli[i].Human
		judged = judged || slices.ContainsFunc(h.Mean, func(m []float64) bool { return m != nil })
		if h.Participants == nil {
			continue
		}
		counts = append(counts, h.N...)
		for _, answers := range h.Responses {
			if slices.ContainsFunc(answers, func(a []float64) bool { return a == nil }) {
				partial++
			}
		}
		var single []int
		for j, n := range h.N {
			if n == 1 {
				single = append(single, s.Stimuli[i].JudgementSteps[j])
			}
		}
		if single != nil {
			r.warnf(s.Stimuli[i].Pos, s.Stimuli[i].ID, "only one participant at step %s: no standard error", list(single))
		}
	}
	if s.Simulated != "" {
		r.notef(pddl.Pos{}, "no people: simulated, %s", s.Simulated)
	}
	switch {
	case !judged:
	case counts == nil:
		r.notef(pddl.Pos{}, "only means are known: participants cannot be resampled")
	default:
		slices.Sort(counts)
		r.notef(pddl.Pos{}, "participants per judgement: %s to %s, median %g", words.Thousands(counts[0]), words.Thousands(counts[len(counts)-1]), median(counts))
		if partial > 0 {
			r.notef(pddl.Pos{}, "participants that answered only some judgement steps of a stimulus: %s", words.Thousands(partial))
		}
		if !s.ParticipantsLinked {
			r.notef(pddl.Pos{}, "participants are not linked: one id in two stimuli is two people")
		}
	}
}

// median of a sorted list that is not empty.
func median(sorted []int) float64 {
	n := len(sorted)
	return float64(sorted[(n-1)/2]+sorted[n/2]) / 2
}
