package fit

import (
	"slices"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
)

// peopleTables are of people, and of the best parameter sets against them, besides
// the fits.
type peopleTables struct {
	reliability, differences, scores, crossed, likelihoods, comparison *tabular.Writer
}

// peopleSide is what these tables say, for the page.
type peopleSide struct {
	differences []Difference
	scores      []score.Scores // of those compared, as the next
	crossed     []score.CrossValidation
	likelihoods []score.Likelihood
	effects     *stats.RandomEffects // nil where models are not compared by participants
}

// Difference is that of two models' best parameter sets as they are reported, the
// first less the other.
type Difference struct {
	Model, Other string
	score.Difference
}

// Differences of all pairs of models, in the order of [model.Models], after Close.
func (r *Report) Differences() []Difference { return r.people.differences }

func (t *peopleTables) open(open func(name string) *tabular.Writer) {
	t.reliability = open("reliability")
	t.differences = open("differences")
	t.scores = open("scores")
	t.crossed = open("cross_validation")
	t.likelihoods = open("likelihoods")
	t.comparison = open("model_comparison")
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
	scorer, err := score.NewScorer(r.study, bootstrap, r.config.Seed)
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
		return r.tablesOfPeople.reliability.Row(part, category, score.CeilingSplits, rel.Half, rel.Means, rel.Ceiling, nil)
	}
	if reason := r.few[score.Reliability]; reason != "" {
		if err := r.tablesOfPeople.reliability.Row("all", nil, nil, nil, nil, nil, reason); err != nil {
			return err
		}
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

func (r *Report) addDifference(scorer *score.Scorer, one, other *sweep.Gathered, x, y []result.Prediction) error {
	d, err := scorer.Compare(x, y)
	if err != nil {
		return err
	}
	r.people.differences = append(r.people.differences, Difference{one.Set.Model, other.Set.Model, d})
	for _, m := range []struct {
		name string
		of   score.Change
	}{{"pearson_r", d.PearsonR}, {"rmse", d.RMSE}} {
		if !m.of.Defined {
			continue
		}
		key := r.key(one, other.Stage, other.Set.Model, other.Index+1, m.name, d.N, m.of.Value)
		var rows [][]any
		for _, in := range m.of.Intervals {
			rows = append(rows, []any{in.Unit, in.Low, in.High, in.Resamples, nil})
		}
		for _, unit := range r.unitsWithout() {
			rows = append(rows, []any{unit, nil, nil, nil, r.few[unit]})
		}
		if rows == nil {
			rows = [][]any{{nil, nil, nil, nil, nil}}
		}
		for _, row := range rows {
			if err := r.tablesOfPeople.differences.Row(append(slices.Clip(key), row...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Report) addScores(scorer *score.Scorer, g *sweep.Gathered, predictions []result.Prediction) error {
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
	return r.tablesOfPeople.scores.Row(row...)
}

// addCrossValidation writes a row for each stimulus left out, and one without a
// stimulus for all held-out predictions together.
func (r *Report) addCrossValidation(g *sweep.Gathered) error {
	v, _ := r.cross.Of(g.Set.Model)
	r.people.crossed = append(r.people.crossed, v)
	add := func(set, stimulus, chosen any, c *result.Correlation) error {
		row := []any{sweep.FitStage, g.Set.Model, set, stimulus, chosen, c.N, nil, nil, nil}
		if c.Defined {
			row[6] = c.PearsonR
		}
		if c.N > 0 {
			row[7] = c.RMSE
		}
		return r.tablesOfPeople.crossed.Row(row...)
	}
	for i := range v.Folds {
		f := &v.Folds[i]
		if err := add(f.Set+1, f.Group, f.ChosenR, &f.Correlation); err != nil {
			return err
		}
	}
	if reason := r.few[score.FewForFolds]; reason != "" {
		return r.tablesOfPeople.crossed.Row(sweep.FitStage, g.Set.Model, nil, nil, nil, nil, nil, nil, reason)
	}
	if len(v.Folds) == 0 {
		return nil
	}
	return add(nil, nil, nil, &v.Overall)
}

func (r *Report) addLikelihoods(scorer *score.Scorer, best []*sweep.Gathered, predictions [][]result.Prediction) error {
	all, err := scorer.Likelihoods(predictions)
	if err != nil || len(all) == 0 {
		return err
	}
	r.people.likelihoods = all
	for k, g := range best {
		for i := range all {
			l := &all[i]
			if err := r.tablesOfPeople.likelihoods.Row(r.key(g, l.Stimulus, l.Participant, l.N, l.Log[k], l.Chance, l.Lapse[k])...); err != nil {
				return err
			}
		}
	}
	effects, ok := score.CompareModels(all)
	if reason := r.few[score.FewForComparison]; reason != "" {
		for k, g := range best {
			if err := r.tablesOfPeople.comparison.Row(r.key(g, len(all), total(all, k), nil, nil, nil, nil, reason)...); err != nil {
				return err
			}
		}
	}
	if !ok {
		return nil
	}
	r.people.effects = &effects
	for k, g := range best {
		row := r.key(g, len(all), total(all, k), effects.Frequency[k], effects.Exceedance[k], effects.Protected[k], effects.OmnibusRisk, nil)
		if err := r.tablesOfPeople.comparison.Row(row...); err != nil {
			return err
		}
	}
	return nil
}

// total log likelihood of a model.
func total(all []score.Likelihood, model int) float64 {
	var sum float64
	for i := range all {
		sum += all[i].Log[model]
	}
	return sum
}

// compared are the best parameter sets that have a result for every stimulus, in
// the order of [model.Models], and what they predict.
func (r *Report) compared() (best []*sweep.Gathered, predictions [][]result.Prediction) {
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
