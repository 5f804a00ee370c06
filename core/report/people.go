package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"foible/core/stats"
	"foible/core/study"
	"foible/core/sweep"
)

// peopleTables are of people, and of the best parameter sets against them, besides
// the fits.
type peopleTables struct {
	reliability, differences, scores, crossed, likelihoods, comparison *table
}

// peopleSide is what these tables say, for the page.
type peopleSide struct {
	differences []Difference
	scores      []sweep.Scores // of those compared, as the next
	crossed     []sweep.CrossValidation
	likelihoods []sweep.Likelihood
	effects     *stats.RandomEffects // nil where models are not compared by participants
}

// Difference is that of two models' best parameter sets as they are reported, the
// first less the other.
type Difference struct {
	Model, Other string
	sweep.Difference
}

// Differences of all pairs of models, in the order of [sweep.Models], after Close.
func (r *Report) Differences() []Difference { return r.people.differences }

func (t *peopleTables) open(open func(name string, columns ...string) *table) {
	t.reliability = open("reliability.csv", "part", "category", "splits", "split_half_r", "reliability", "ceiling")
	t.differences = open("differences.csv", "stage", "model", "parameter_set", "other_stage", "other_model", "other_parameter_set",
		"measure", "n", "difference", "unit", "ci_low", "ci_high", "resamples")
	t.scores = open("scores.csv", "stage", "model", "parameter_set", "n", "spearman", "concordance", "judgements", "total_variation", "jensen_shannon")
	t.crossed = open("cross_validation.csv", "stage", "model", "parameter_set", "stimulus", "chosen_r", "n", "pearson_r", "rmse")
	t.likelihoods = open("likelihoods.csv", "stage", "model", "parameter_set", "stimulus", "participant", "n", "log_likelihood", "log_likelihood_chance", "lapse")
	t.comparison = open("model_comparison.csv", "stage", "model", "parameter_set", "participants", "log_likelihood",
		"expected_frequency", "exceedance", "protected_exceedance", "omnibus_risk")
}

// comparePeople compares the best parameter sets with people, and writes the tables of it.
func (r *Report) comparePeople() error {
	if err := r.addReliability(); err != nil {
		return err
	}
	best, all := r.compared()
	bootstrap := r.config.Bootstrap
	if len(best) < 2 {
		bootstrap.Resamples = 0 // there is no difference to bound
	}
	scorer, err := sweep.NewScorer(r.study, bootstrap, r.config.Seed)
	if err != nil {
		return err
	}
	for i, g := range best {
		if err := r.addScores(scorer, g, all[i]); err != nil {
			return err
		}
		for j := i + 1; j < len(best); j++ {
			if err := r.addDifference(scorer, g, best[j], all[i], all[j]); err != nil {
				return err
			}
		}
		if err := r.addCrossValidation(g); err != nil {
			return err
		}
	}
	return r.addLikelihoods(scorer, best, all)
}

func (r *Report) addReliability() error {
	add := func(part, category string, rel stats.Reliability) error {
		if rel.Ceiling == 0 {
			return nil
		}
		return r.tablesOfPeople.reliability.row(part, category, sweep.CeilingSplits, rel.Half, rel.Means, rel.Ceiling)
	}
	if err := add("all", "", r.ceilings.All); err != nil {
		return err
	}
	categories := categoriesOf(r.study)
	if len(categories) < 2 {
		return nil
	}
	for _, category := range categories {
		if err := add("category", category, r.ceilings.ByCategory[category]); err != nil {
			return err
		}
	}
	return nil
}

// categoriesOf a study, in order of first appearance.
func categoriesOf(st *study.Study) []string {
	var all []string
	for i := range st.Stimuli {
		if category := st.Stimuli[i].Category; !slices.Contains(all, category) {
			all = append(all, category)
		}
	}
	return all
}

func (r *Report) addDifference(scorer *sweep.Scorer, one, other *sweep.Gathered, x, y []sweep.Prediction) error {
	d, err := scorer.Compare(x, y)
	if err != nil {
		return err
	}
	r.people.differences = append(r.people.differences, Difference{one.Set.Model, other.Set.Model, d})
	for _, m := range []struct {
		name string
		of   sweep.Change
	}{{"pearson_r", d.PearsonR}, {"rmse", d.RMSE}} {
		if !m.of.Defined {
			continue
		}
		key := r.key(one, other.Stage, other.Set.Model, r.number(other), m.name, d.N, m.of.Value)
		if len(m.of.Intervals) == 0 {
			if err := r.tablesOfPeople.differences.row(append(key, nil, nil, nil, nil)...); err != nil {
				return err
			}
		}
		for _, in := range m.of.Intervals {
			if err := r.tablesOfPeople.differences.row(append(slices.Clip(key), in.Unit, in.Low, in.High, in.Resamples)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Report) addScores(scorer *sweep.Scorer, g *sweep.Gathered, predictions []sweep.Prediction) error {
	s, err := scorer.Scores(predictions)
	if err != nil {
		return err
	}
	r.people.scores = append(r.people.scores, s)
	row := r.key(g, s.N, nil, nil, s.Judgements, nil, nil)
	if s.Spearman.Defined {
		row[4] = s.Spearman.Value
	}
	if s.Concordance.Defined {
		row[5] = s.Concordance.Value
	}
	if s.Judgements > 0 {
		row[7], row[8] = s.TotalVariation, s.JensenShannon
	}
	return r.tablesOfPeople.scores.row(row...)
}

// addCrossValidation writes a row for each stimulus left out, and one without a
// stimulus for all held-out predictions together.
func (r *Report) addCrossValidation(g *sweep.Gathered) error {
	v, _ := r.cross.Of(g.Set.Model)
	r.people.crossed = append(r.people.crossed, v)
	add := func(set, stimulus, chosen any, c *sweep.Correlation) error {
		row := []any{sweep.FitStage, g.Set.Model, set, stimulus, chosen, c.N, nil, nil}
		if c.Defined {
			row[6] = c.PearsonR
		}
		if c.N > 0 {
			row[7] = c.RMSE
		}
		return r.tablesOfPeople.crossed.row(row...)
	}
	for i := range v.Folds {
		f := &v.Folds[i]
		if err := add(f.Set, f.Group, f.ChosenR, &f.Correlation); err != nil {
			return err
		}
	}
	if len(v.Folds) == 0 {
		return nil
	}
	return add(nil, nil, nil, &v.Overall)
}

func (r *Report) addLikelihoods(scorer *sweep.Scorer, best []*sweep.Gathered, predictions [][]sweep.Prediction) error {
	all, err := scorer.Likelihoods(predictions)
	if err != nil || len(all) == 0 {
		return err
	}
	r.people.likelihoods = all
	for k, g := range best {
		for i := range all {
			l := &all[i]
			if err := r.tablesOfPeople.likelihoods.row(r.key(g, l.Stimulus, l.Participant, l.N, l.Log[k], l.Chance, l.Lapse[k])...); err != nil {
				return err
			}
		}
	}
	effects, ok := sweep.CompareModels(all)
	if !ok {
		return nil
	}
	r.people.effects = &effects
	for k, g := range best {
		row := r.key(g, len(all), total(all, k), effects.Frequency[k], effects.Exceedance[k], effects.Protected[k], effects.OmnibusRisk)
		if err := r.tablesOfPeople.comparison.row(row...); err != nil {
			return err
		}
	}
	return nil
}

// total log likelihood of a model.
func total(all []sweep.Likelihood, model int) float64 {
	var sum float64
	for i := range all {
		sum += all[i].Log[model]
	}
	return sum
}

// comparisons are the tables of the page that compare the best parameter sets with
// each other.
func (r *Report) comparisons() []*matrix {
	return slices.DeleteFunc([]*matrix{
		r.differencesOf("r", func(d *Difference) *sweep.Change { return &d.PearsonR }),
		r.differencesOf("RMSE", func(d *Difference) *sweep.Change { return &d.RMSE }),
		r.heldOut(), r.participants(), r.otherScores(),
	}, func(m *matrix) bool { return m == nil })
}

// compared are the best parameter sets that have a result for every stimulus, in
// the order of [sweep.Models], and what they predict.
func (r *Report) compared() (best []*sweep.Gathered, predictions [][]sweep.Prediction) {
	for _, c := range r.chosen() {
		if of, ok := r.plan.Predictions(c.Gathered); ok {
			best, predictions = append(best, c.Gathered), append(predictions, of)
		}
	}
	return best, predictions
}

// models are the names of what is compared.
func (r *Report) models() []string {
	var names []string
	best, _ := r.compared()
	for _, g := range best {
		names = append(names, g.Set.Model)
	}
	return names
}

func (r *Report) differencesOf(measure string, change func(*Difference) *sweep.Change) *matrix {
	m := &matrix{Label: "differences in " + measure, Columns: []string{"Difference"}}
	var units []string
	for _, unit := range r.config.Bootstrap.Units {
		if slices.ContainsFunc(r.people.differences, func(d Difference) bool {
			return slices.ContainsFunc(change(&d).Intervals, func(in sweep.Interval) bool { return in.Unit == unit })
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
		line := row{Name: d.Model + " − " + d.Other, Cells: []string{signed(c.Value)}}
		for _, unit := range units {
			text := none
			for _, in := range c.Intervals {
				if in.Unit == unit {
					text = fmt.Sprintf("[%s, %s]", signed(in.Low), signed(in.High))
				}
			}
			line.Cells = append(line.Cells, text)
		}
		m.Rows = append(m.Rows, line)
	}
	if m.Rows == nil {
		return nil
	}
	better := "positive where the first model has the higher r"
	if measure == "RMSE" {
		better = "negative where the first model has the smaller error"
	}
	m.Caption = fmt.Sprintf("Differences in %s between models, %s", measure, better)
	if units != nil {
		m.Caption += ", with 95% bootstrap intervals by what is resampled. Both models meet the same resamples, so the intervals are of paired differences"
	}
	m.Caption += "."
	if measure == "RMSE" && slices.ContainsFunc(units, func(unit string) bool { return unit != "stimuli" }) {
		m.Caption += " The means of resampled participants are noisier, so that all errors are larger, and differences smaller: an interval may lie beside the difference itself."
	}
	return m
}

// heldOut is how well models predict stimuli that their parameters were not chosen by.
func (r *Report) heldOut() *matrix {
	m := &matrix{
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
		m.Rows = append(m.Rows, row{Name: model, Cells: []string{
			decimals(r.scored[r.best[model].at].Overall.PearsonR, 3), decimals(v.Overall.PearsonR, 3), decimals(v.Overall.RMSE, 3), thousands(v.Overall.N),
			fmt.Sprintf("%s in %s", thousands(len(sets)), count(len(v.Folds), "choice")),
		}})
	}
	if m.Rows == nil {
		return nil
	}
	return m
}

// participants is which model describes how many of them.
func (r *Report) participants() *matrix {
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
	m := &matrix{
		Label:   "the comparison by participants",
		Columns: []string{"Log likelihood", "Lapse rate", "Expected frequency", "Exceedance probability", "Protected exceedance probability"},
		Caption: fmt.Sprintf("Random-effects Bayesian model comparison over %s with %s: the log likelihood of all answers (by chance %s), the mean lapse rate, the share of participants that each model is expected to describe, and the probability that it describes more than any other; protected, it allows for all models being equally frequent, the risk of which is %s.",
			count(len(all), "participant"), count(answers, "answer"), logarithm(chance), probability(e.OmnibusRisk)),
	}
	if !r.study.ParticipantsLinked {
		m.Caption += " Participants are not linked between stimuli: one who judged several counts once in each, and a model that is better on some stimuli alone counts like one that describes some people alone."
	}
	for k, model := range r.models() {
		lapse := 0.0
		for i := range all {
			lapse += all[i].Lapse[k] / float64(len(all))
		}
		m.Rows = append(m.Rows, row{Name: model, Cells: []string{
			logarithm(total(all, k)), decimals(lapse, 2), decimals(e.Frequency[k], 2), probability(e.Exceedance[k]), probability(e.Protected[k]),
		}})
	}
	return m
}

// otherScores are those besides r and RMSE.
func (r *Report) otherScores() *matrix {
	m := &matrix{
		Label:   "other scores",
		Columns: []string{"Spearman's ρ", "Concordance", "Total variation", "Jensen–Shannon distance"},
		Caption: "Other scores of the best parameter sets: over all points, Spearman's rank correlation and Lin's concordance correlation coefficient, which is 1 on the identity line alone; averaged over judgements, the total variation distance between the model's and the people's distribution over goals, and their Jensen–Shannon distance (the square root of the divergence in bits).",
	}
	for i, model := range r.models() {
		s := &r.people.scores[i]
		line := row{Name: model, Cells: []string{none, none, none, none}}
		if s.Spearman.Defined {
			line.Cells[0] = decimals(s.Spearman.Value, 3)
		}
		if s.Concordance.Defined {
			line.Cells[1] = decimals(s.Concordance.Value, 3)
		}
		if s.Judgements > 0 {
			line.Cells[2], line.Cells[3] = decimals(s.TotalVariation, 3), decimals(s.JensenShannon, 3)
		}
		m.Rows = append(m.Rows, line)
	}
	if m.Rows == nil {
		return nil
	}
	return m
}

// signed writes a difference of values that cannot exceed 1 in size, with its sign
// also where it is too small to be told from 0: +.154, −.000.
func signed(v float64) string {
	text := decimals(math.Abs(v), 3)
	switch {
	case v > 0:
		return "+" + text
	case v < 0:
		return "−" + text
	}
	return text
}

// logarithm writes a log likelihood: −1957.4.
func logarithm(v float64) string { return strings.Replace(fmt.Sprintf("%.1f", v), "-", "−", 1) }

// probability writes one that may be almost 0 or 1.
func probability(p float64) string {
	switch {
	case p < 0.001:
		return "< .001"
	case p > 0.999:
		return "> .999"
	}
	return decimals(p, 3)
}
