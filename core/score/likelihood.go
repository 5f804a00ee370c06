package score

import (
	"slices"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/stats"
)

// Likelihood is how likely models make the answers of a participant, see
// [stats.LogLikelihood].
type Likelihood struct {
	Stimulus    string // empty where participants are linked: then it is of all their stimuli
	Participant string
	N           int       // answers, at judgement steps where every model has a posterior
	Log         []float64 // [model]
	Lapse       []float64 // [model] posterior mean of the lapse rate
	Chance      float64   // log likelihood of answering at random
}

// Likelihoods of all participants who gave such an answer, in order of first
// appearance, under several models. There are none for means without participants.
func (s *Scorer) Likelihoods(models [][]result.Prediction) ([]Likelihood, error) {
	steps := make([]int, len(s.study.Stimuli)) // that every model has
	for i := range steps {
		steps[i] = len(s.study.Stimuli[i].JudgementSteps)
	}
	for _, predictions := range models {
		if _, err := s.flat(predictions); err != nil {
			return nil, err
		}
		for i := range predictions {
			steps[i] = min(steps[i], len(predictions[i].Rows))
		}
	}
	var people []*answered
	linked := map[string]*answered{}
	for i := range s.study.Stimuli {
		st := &s.study.Stimuli[i]
		for k, id := range st.Human.Participants {
			one := linked[id]
			if one == nil {
				one = &answered{stimulus: st.ID, participant: id, rows: make([][][]float64, len(models))}
				people = append(people, one)
			}
			if s.study.ParticipantsLinked {
				one.stimulus, linked[id] = "", one
			}
			for j, answer := range st.Human.Responses[k][:steps[i]] {
				if answer == nil {
					continue
				}
				one.answers = append(one.answers, answer)
				for m := range models {
					one.rows[m] = append(one.rows[m], models[m][i].Rows[j])
				}
			}
		}
	}
	people = slices.DeleteFunc(people, func(one *answered) bool { return len(one.answers) == 0 })
	all := make([]Likelihood, len(people))
	for i, one := range people {
		l := Likelihood{Stimulus: one.stimulus, Participant: one.participant, N: len(one.answers), Chance: stats.ChanceLogLikelihood(one.answers)}
		for m := range models {
			log, lapse := stats.LogLikelihood(one.answers, one.rows[m])
			l.Log, l.Lapse = append(l.Log, log), append(l.Lapse, lapse)
		}
		all[i] = l
	}
	return all, nil
}

// answered is what a participant answered, and models predict there.
type answered struct {
	stimulus, participant string
	answers               [][]float64
	rows                  [][][]float64 // [model][answer]
}

// CompareModels says which model describes how many participants, see
// [stats.CompareRandomEffects]; not ok of too few participants (see [FewestUnits]), or without two models.
func CompareModels(all []Likelihood) (effects stats.RandomEffects, ok bool) {
	if len(all) < FewestUnits || len(all[0].Log) < 2 {
		return effects, false
	}
	logs := make([][]float64, len(all))
	for i := range all {
		logs[i] = all[i].Log
	}
	return stats.CompareRandomEffects(logs), true
}
