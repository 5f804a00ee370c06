package score

import (
	"slices"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/sweep"
)

// CrossValidator leaves each stimulus out in turn, chooses the parameters of each
// model by r over the others, and keeps what these predict of the one left out:
// NewCrossValidator, Add for each parameter set in the plan's order, Of. It needs
// a sum of products a stimulus and set, and keeps no posteriors but the chosen.
type CrossValidator struct {
	plan   *sweep.Plan
	scorer *Scorer
	y0     float64 // taken off all values in sums
	of     map[string]*chosenSets
}

// leftOut are the best sets of a model so far, by stimulus left out: those of the
// highest r over the others, the first of equals, among those that predict the most
// points there, see [sweep.Standing].
type leftOut struct {
	index []int     // -1 as long as no set has an r
	n     []float64 // points over the others
	r     []float64
}

func newLeftOut(stimuli int) leftOut {
	return leftOut{slices.Repeat([]int{-1}, stimuli), make([]float64, stimuli), make([]float64, stimuli)}
}

// add takes a set by its moments of each stimulus, which have a common origin. It
// calls best for each stimulus without which no set before was as good.
func (l *leftOut) add(index int, parts []stats.Moments, best func(stimulus int)) {
	total := stats.Moments{X0: parts[0].X0, Y0: parts[0].Y0}
	for i := range parts {
		total.Merge(&parts[i], 1)
	}
	for i := range parts {
		others := total
		others.Merge(&parts[i], -1)
		r, ok := others.Pearson()
		r = max(-1, min(1, r)) // sums may round beyond
		if ok && (l.index[i] < 0 || others.N > l.n[i] || others.N == l.n[i] && r > l.r[i]) {
			l.index[i], l.n[i], l.r[i] = index, others.N, r
			best(i)
		}
	}
}

// chosenSets are the sets that a model's cross-validation chooses.
type chosenSets struct {
	leftOut
	predicted [][]float64 // of the stimulus left out, by point
}

// CrossValidation is how well a model predicts stimuli that its parameters were
// not chosen by.
type CrossValidation struct {
	Overall result.Correlation // of all held-out predictions together
	Folds   []Fold             // in the study's order
}

// Fold is what was predicted of a stimulus left out.
type Fold struct {
	result.Correlation         // within the stimulus, which is its group
	Set                int     // index of the chosen parameter set in the plan
	ChosenR            float64 // by which it was chosen, over the other stimuli
}

// NewCrossValidator is ready for the parameter sets of a plan.
func NewCrossValidator(s *Scorer, p *sweep.Plan) *CrossValidator {
	c := &CrossValidator{plan: p, scorer: s, of: map[string]*chosenSets{}}
	var people points
	for _, r := range s.human.Stimuli {
		people.add(r.Mean, r.Mean)
	}
	if len(people.human) > 0 {
		c.y0 = stats.Mean(people.human)
	}
	for _, m := range p.Models() {
		n := len(p.Stimuli)
		c.of[m.Name] = &chosenSets{newLeftOut(n), make([][]float64, n)}
	}
	return c
}

// Add takes a parameter set as [sweep.Gather] visits it. One without all cells cannot
// be chosen.
func (c *CrossValidator) Add(g *sweep.Gathered) error {
	of := c.of[g.Set.Model]
	if of == nil || g.Stage != sweep.FitStage {
		return nil
	}
	predictions, ok := c.plan.Predictions(g)
	if !ok {
		return nil
	}
	if !c.fit(predictions) {
		_, err := c.scorer.flat(predictions) // says why
		return err
	}
	parts := make([]stats.Moments, len(predictions))
	for i := range predictions {
		parts[i] = stats.Moments{X0: c.y0, Y0: c.y0}
		people := c.scorer.human.Stimuli[i].Mean
		for _, row := range predictions[i].Rows {
			parts[i].Add(row, people[:len(row)])
			people = people[len(row):]
		}
	}
	of.add(g.Index, parts, func(i int) {
		st := &c.scorer.study.Stimuli[i]
		of.predicted[i] = flatten(predictions[i].Rows, len(st.JudgementSteps), len(st.Goals))
	})
	return nil
}

// fit says whether predictions have the steps and goals of the stimuli.
func (c *CrossValidator) fit(predictions []result.Prediction) bool {
	stimuli := c.scorer.study.Stimuli
	if len(predictions) != len(stimuli) {
		return false
	}
	for i, p := range predictions {
		if n := len(stimuli[i].JudgementSteps); len(p.Rows) > n || len(p.Rows) < n && !p.Undefined {
			return false
		}
		for _, row := range p.Rows {
			if len(row) != len(stimuli[i].Goals) {
				return false
			}
		}
	}
	return true
}

// Of is the cross-validation of a model; not ok if for some left-out stimulus no set has an r, or if there are too few
// stimuli, see [FewestFolds].
func (c *CrossValidator) Of(model string) (v CrossValidation, ok bool) {
	of := c.of[model]
	if of == nil || judgedStimuli(c.scorer.human) < FewestFolds {
		return v, false
	}
	var all points
	for i, predicted := range of.predicted {
		if of.index[i] < 0 {
			return CrossValidation{}, false
		}
		var one points
		one.add(predicted, c.scorer.human.Stimuli[i].Mean)
		all.add(predicted, c.scorer.human.Stimuli[i].Mean)
		v.Folds = append(v.Folds, Fold{
			Correlation: one.correlation(c.scorer.study.Stimuli[i].ID), Set: of.index[i], ChosenR: of.r[i],
		})
	}
	v.Overall = all.correlation("")
	return v, true
}
