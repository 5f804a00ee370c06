package fit

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/report"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/words"
)

// comparisons are the tables of the page that compare the best parameter sets with
// each other.
func (r *Report) comparisons() []*report.Matrix {
	return slices.DeleteFunc([]*report.Matrix{
		r.differencesOf("r", func(d *Difference) *score.Change { return &d.PearsonR }),
		r.differencesOf("RMSE", func(d *Difference) *score.Change { return &d.RMSE }),
		r.heldOut(), r.participants(), r.otherScores(),
	}, func(m *report.Matrix) bool { return m == nil })
}

func (r *Report) differencesOf(measure string, change func(*Difference) *score.Change) *report.Matrix {
	m := &report.Matrix{Label: "differences in " + measure, Columns: []string{"Difference"}}
	var units []string
	for _, unit := range r.config.Bootstrap.Units {
		if slices.ContainsFunc(r.people.differences, func(d Difference) bool {
			return slices.ContainsFunc(change(&d).Intervals, func(in result.Interval) bool { return in.Unit == unit })
		}) {
			units, m.Columns = append(units, unit), append(m.Columns, resampledThings(unit))
		}
	}
	for i := range r.people.differences {
		d := &r.people.differences[i]
		c := change(d)
		if !c.Defined {
			continue
		}
		line := report.Row{Name: d.Model + " − " + d.Other, Cells: []string{report.Signed(c.Value)}}
		for _, unit := range units {
			text := words.None
			for _, in := range c.Intervals {
				if in.Unit == unit {
					text = fmt.Sprintf("[%s, %s]", report.Signed(in.Low), report.Signed(in.High))
				}
			}
			line.Cells = append(line.Cells, text)
		}
		line.Cells = append(line.Cells, words.Thousands(d.N))
		m.Rows = append(m.Rows, line)
	}
	if m.Rows == nil {
		return nil
	}
	m.Columns = append(m.Columns, "n")
	better := "positive where the first model has the higher r"
	if measure == "RMSE" {
		better = "negative where the first model has the smaller error"
	}
	m.Caption = fmt.Sprintf("Differences in %s between models, %s", measure, better)
	if units != nil {
		m.Caption += ", with 95% bootstrap intervals by what is resampled; both models meet the same resamples, so that the differences are paired"
	}
	m.Caption += "; n points that both predict."
	if measure == "RMSE" && slices.ContainsFunc(units, func(unit string) bool { return unit != "stimuli" }) {
		m.Caption += " The means of resampled participants are noisier, so that all errors are larger, and differences smaller: an interval may not contain the difference itself."
	}
	return m
}

// heldOut is how well models predict stimuli that their parameters were not chosen by.
func (r *Report) heldOut() *report.Matrix {
	m := &report.Matrix{
		Label:   "cross-validation",
		Columns: []string{"r, chosen and scored on all", "r, held out", "RMSE, held out", "n", "Parameter sets chosen"},
		Caption: "Leave-one-stimulus-out cross-validation of the choice of parameters: each stimulus is predicted by the set with the highest r over all others, and r is of all held-out predictions together. All numbers are of the fit stage.",
	}
	for i, model := range r.models() {
		v := &r.people.crossed[i]
		if !v.Overall.Defined {
			continue
		}
		var sets []int
		for k := range v.Folds {
			if !slices.Contains(sets, v.Folds[k].Set) {
				sets = append(sets, v.Folds[k].Set)
			}
		}
		m.Rows = append(m.Rows, report.Row{Name: model, Cells: []string{
			words.Decimals(r.fitted(r.best[model]), 3), words.Decimals(v.Overall.PearsonR, 3), words.Decimals(v.Overall.RMSE, 3), words.Thousands(v.Overall.N),
			fmt.Sprintf("%s in %s", words.Thousands(len(sets)), words.Count(len(v.Folds), "choice")),
		}})
	}
	if m.Rows == nil {
		return nil
	}
	return m
}

// fitted is r of a parameter set in the fit stage.
func (r *Report) fitted(c *chosen) float64 {
	return r.scored[slices.IndexFunc(r.scored, func(f scored) bool { return f.index == c.Index })].r
}

// participants is which model describes how many of them.
func (r *Report) participants() *report.Matrix {
	e := r.people.effects
	if e == nil {
		return nil
	}
	all := r.people.likelihoods
	answers, chance := 0, 0.0
	for i := range all {
		answers += all[i].N
		chance += all[i].Chance
	}
	m := &report.Matrix{
		Label:   "the comparison by participants",
		Columns: []string{"Log likelihood", "Lapse rate", "Expected frequency", "Exceedance probability", "Protected exceedance probability"},
		Caption: fmt.Sprintf("Random-effects Bayesian model comparison over %s with %s: the log likelihood of all answers (by chance %s), the mean lapse rate, the share of participants that each model is expected to describe, and the probability that it describes more than any other; protected, it allows for all models being equally frequent, with a risk of %s.",
			words.Count(len(all), "participant"), words.Count(answers, "answer"), logarithm(chance), probability(e.OmnibusRisk)),
	}
	if !r.study.ParticipantsLinked {
		m.Caption += " Participants are not linked between stimuli: one who judged several counts once in each, and a model that is better only on some stimuli counts like one that describes only some participants."
	}
	for k, model := range r.models() {
		lapse := 0.0
		for i := range all {
			lapse += all[i].Lapse[k] / float64(len(all))
		}
		m.Rows = append(m.Rows, report.Row{Name: model, Cells: []string{
			logarithm(total(all, k)), words.Decimals(lapse, 2), words.Decimals(e.Frequency[k], 2), probability(e.Exceedance[k]), probability(e.Protected[k]),
		}})
	}
	return m
}

// otherScores are those besides r and RMSE.
func (r *Report) otherScores() *report.Matrix {
	m := &report.Matrix{
		Label:   "other scores",
		Columns: []string{"Spearman's ρ", "Concordance", "Total variation", "Jensen–Shannon distance"},
		Caption: "Other scores of the best parameter sets: over all points, Spearman's rank correlation and Lin's concordance correlation coefficient, which is 1 only on the identity line; averaged over judgements, the total variation distance between the model's and the people's distribution over goals, and their Jensen–Shannon distance (the square root of the divergence in bits).",
	}
	for i, model := range r.models() {
		s := &r.people.scores[i]
		line := report.Row{Name: model, Cells: []string{words.None, words.None, words.None, words.None}}
		if s.Spearman.Defined {
			line.Cells[0] = words.Decimals(s.Spearman.Value, 3)
		}
		if s.Concordance.Defined {
			line.Cells[1] = words.Decimals(s.Concordance.Value, 3)
		}
		if s.Judgements > 0 {
			line.Cells[2], line.Cells[3] = words.Decimals(s.TotalVariation, 3), words.Decimals(s.JensenShannon, 3)
		}
		m.Rows = append(m.Rows, line)
	}
	if m.Rows == nil {
		return nil
	}
	return m
}

// logarithm writes a log likelihood: −1957.4.
func logarithm(v float64) string { return strings.Replace(words.Fixed(v, 1), "-", "−", 1) }

// probability writes one that may be almost 0 or 1.
func probability(p float64) string {
	switch {
	case p < 0.001:
		return "< .001"
	case p > 0.999:
		return "> .999"
	}
	return words.Decimals(p, 3)
}
