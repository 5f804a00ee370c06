// Package score finds how well predictions agree with a study's judgements: correlations
// with their intervals ([Scorer.Score]), differences between settings ([Scorer.Compare]),
// cross-validation and what people's agreement with each other allows. Read [Scorer] first.
package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Scorer compares predictions with the people of a study. The people are
// resampled once, so every parameter set meets the same resamples. Safe for
// concurrent use.
type Scorer struct {
	study      *study.Study
	human      stats.Human
	bootstrap  sweep.Bootstrap
	seed       uint64
	resampled  []resampled // by unit, those that the data allow
	Categories []string    // in order of first appearance
	category   []int       // of each stimulus
	sizes      []int       // points of each category
}

type resampled struct {
	unit string
	b    *stats.Bootstrap
}

// level of every interval.
const level = 0.95

// NewScorer resamples the people of a study. A unit that needs participants is
// left out where only means are known, and so is one with too few units, see [TooFew].
func NewScorer(st *study.Study, b sweep.Bootstrap, seed uint64) (*Scorer, error) {
	s := &Scorer{study: st, bootstrap: b, seed: seed, human: human(st)}
	for i := range st.Stimuli {
		k := slices.Index(s.Categories, st.Stimuli[i].Category)
		if k < 0 {
			k = len(s.Categories)
			s.Categories, s.sizes = append(s.Categories, st.Stimuli[i].Category), append(s.sizes, 0)
		}
		s.category = append(s.category, k)
		s.sizes[k] += len(s.human.Stimuli[i].Mean)
	}
	var err error
	s.resampled, err = s.resample(s.human)
	return s, err
}

func (s *Scorer) resample(h stats.Human) ([]resampled, error) {
	if s.bootstrap.Resamples == 0 {
		return nil, nil
	}
	var all []resampled
	for _, name := range s.bootstrap.Units {
		unit, ok := unitByName(name)
		if !ok {
			return nil, fmt.Errorf("bootstrap: unknown unit %q", name)
		}
		if tooFewUnits(h, name) != "" {
			continue
		}
		b, err := stats.NewBootstrap(h, unit, s.bootstrap.Resamples, random.BootstrapStream(s.seed, name))
		if errors.Is(err, stats.ErrNoParticipants) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("bootstrap by %s: %w", name, err)
		}
		all = append(all, resampled{name, b})
	}
	return all, nil
}

func unitByName(name string) (stats.Unit, bool) {
	for _, unit := range []stats.Unit{stats.ByParticipants, stats.ByStimuli, stats.Crossed} {
		if unit.String() == name {
			return unit, true
		}
	}
	return 0, false
}

// human flattens judgements: the points of a stimulus are its judgement steps x goals.
func human(st *study.Study) stats.Human {
	h := stats.Human{Linked: st.ParticipantsLinked}
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		goals := len(s.Goals)
		r := stats.Responses{Mean: flatten(s.Human.Mean, len(s.JudgementSteps), goals), Participants: s.Human.Participants}
		for _, rows := range s.Human.Responses {
			r.Values = append(r.Values, flatten(rows, len(s.JudgementSteps), goals))
		}
		h.Stimuli = append(h.Stimuli, r)
	}
	return h
}

// flatten lays rows end to end; a missing row is NaN, which the statistics take as "nobody".
func flatten(rows [][]float64, n, goals int) []float64 {
	return appendFlat(make([]float64, 0, n*goals), rows, n, goals)
}

// appendFlat appends what [flatten] makes.
func appendFlat(out []float64, rows [][]float64, n, goals int) []float64 {
	for j := range n {
		if j < len(rows) && rows[j] != nil {
			out = append(out, rows[j]...)
			continue
		}
		for range goals {
			out = append(out, math.NaN())
		}
	}
	return out
}

// Score compares what a parameter set predicts, one prediction a stimulus,
// with the people. Points without a prediction, or without an answer, are left out.
func (s *Scorer) Score(predictions []result.Prediction) (result.Fit, error) {
	model, err := s.flat(predictions)
	if err != nil {
		return result.Fit{}, err
	}
	var fit result.Fit
	for i := range predictions {
		if predictions[i].Undefined {
			fit.Undefined++
		}
		if predictions[i].Failed {
			fit.Failed++
		}
	}
	n := 0
	for _, row := range model {
		n += len(row)
	}
	all := newPoints(n)
	byCategory := make([]points, len(s.Categories))
	for k, n := range s.sizes {
		byCategory[k] = newPoints(n)
	}
	fit.ByStimulus = make([]result.Correlation, len(model))
	fit.ByCategory = make([]result.Correlation, 0, len(s.Categories))
	for i, row := range model {
		first := len(all.model)
		all.add(row, s.human.Stimuli[i].Mean)
		one := points{all.model[first:], all.human[first:]}
		fit.ByStimulus[i] = one.correlation(s.study.Stimuli[i].ID)
		of := &byCategory[s.category[i]]
		of.model, of.human = append(of.model, one.model...), append(of.human, one.human...)
	}
	fit.Overall = all.correlation("")
	for k, category := range s.Categories {
		fit.ByCategory = append(fit.ByCategory, byCategory[k].correlation(category))
	}
	if fit.Overall.Defined {
		fit.MCSE = s.monteCarloError(predictions, model, all)
	}
	for i := range predictions {
		fit.MCSEUnknown = fit.MCSEUnknown || predictions[i].Runs.Len() == 1
	}
	if fit.MCSEUnknown {
		fit.MCSE = 0
	}
	fit.Intervals, err = s.intervals(model)
	return fit, err
}

// flat lays predictions out as [stimulus][point], NaN where there is none.
func (s *Scorer) flat(predictions []result.Prediction) ([][]float64, error) {
	if len(predictions) != len(s.study.Stimuli) {
		return nil, fmt.Errorf("predictions of %d stimuli, want %d", len(predictions), len(s.study.Stimuli))
	}
	model := make([][]float64, len(predictions))
	for i, p := range predictions {
		st := &s.study.Stimuli[i]
		if len(p.Rows) > len(st.JudgementSteps) || len(p.Rows) < len(st.JudgementSteps) && !p.Undefined {
			return nil, fmt.Errorf("stimulus %s: predictions at %d of %d judgement steps", st.ID, len(p.Rows), len(st.JudgementSteps))
		}
		for _, row := range p.Rows {
			if len(row) != len(st.Goals) {
				return nil, fmt.Errorf("stimulus %s: a prediction of %d goals, where it has %d", st.ID, len(row), len(st.Goals))
			}
		}
	}
	n := 0
	for i := range s.study.Stimuli {
		n += len(s.human.Stimuli[i].Mean)
	}
	all := make([]float64, 0, n)
	for i, p := range predictions {
		st, first := &s.study.Stimuli[i], len(all)
		all = appendFlat(all, p.Rows, len(st.JudgementSteps), len(st.Goals))
		model[i] = all[first:len(all):len(all)]
	}
	return model, nil
}

// monteCarloError is the standard error of the overall r that comes from the
// runs: a jackknife over the runs of each stimulus, whose variances add up since
// stimuli are run independently. A stimulus that changes is taken out of the
// sums of all points, and put in again.
func (s *Scorer) monteCarloError(predictions []result.Prediction, model [][]float64, all points) float64 {
	var total stats.Moments
	total.X0, total.Y0 = stats.Mean(all.model), stats.Mean(all.human)
	of := make([]stats.Moments, len(model))
	for i, row := range model {
		of[i].X0, of[i].Y0 = total.X0, total.Y0
		of[i].Add(row, s.human.Stimuli[i].Mean)
		total.Merge(&of[i], 1)
	}
	var variance float64
	var rs []float64
	left := make([]float64, 0, len(all.model))
	for i, p := range predictions {
		n := p.Runs.Len()
		if n < 2 {
			continue
		}
		others := total
		others.Merge(&of[i], -1)
		rs = rs[:0]
		for k := range n {
			left = p.Runs.AppendLeft(left[:0], model[i], k)
			without := stats.Moments{X0: total.X0, Y0: total.Y0}
			without.Add(left, s.human.Stimuli[i].Mean)
			without.Merge(&others, 1)
			if r, ok := without.Pearson(); ok {
				rs = append(rs, r)
			}
		}
		if len(rs) == n {
			variance += float64(float64(n-1) / float64(n) * stats.SumOfSquares(rs))
		}
	}
	return math.Sqrt(variance)
}

// intervals bootstraps the overall r. Where a model has no prediction, its
// points are taken from the people too; the resamples stay the same.
func (s *Scorer) intervals(model [][]float64) ([]result.Interval, error) {
	resamples := s.resampled
	if partial(model) {
		var err error
		if resamples, err = s.resample(mask(s.human, model)); err != nil {
			return nil, err
		}
	}
	var intervals []result.Interval
	for _, r := range resamples {
		rs := r.b.Pearson(model)
		if low, high, ok := stats.Interval(rs, level); ok {
			intervals = append(intervals, result.Interval{Unit: r.unit, Low: low, High: high, Resamples: len(rs)})
		}
	}
	return intervals, nil
}

// mask is the people without the points that a model does not predict. Those
// get a number in the model, which then plays no part.
func mask(h stats.Human, model [][]float64) stats.Human {
	masked := stats.Human{Linked: h.Linked}
	for i, r := range h.Stimuli {
		out := stats.Responses{Mean: slices.Clone(r.Mean), Participants: r.Participants}
		for _, row := range r.Values {
			out.Values = append(out.Values, slices.Clone(row))
		}
		for k, x := range model[i] {
			if !math.IsNaN(x) {
				continue
			}
			model[i][k] = 0
			out.Mean[k] = math.NaN()
			for _, row := range out.Values {
				row[k] = math.NaN()
			}
		}
		masked.Stimuli = append(masked.Stimuli, out)
	}
	return masked
}

// points pairs a model with people.
type points struct{ model, human []float64 }

func newPoints(n int) points {
	xs := make([]float64, 2*n)
	return points{xs[:0:n], xs[n : n : 2*n]}
}

func (p *points) add(model, human []float64) {
	for k, x := range model {
		if !math.IsNaN(x) && !math.IsNaN(human[k]) {
			p.model = append(p.model, x)
			p.human = append(p.human, human[k])
		}
	}
}

func (p *points) correlation(group string) result.Correlation {
	c := result.Correlation{Group: group, N: len(p.model)}
	if c.N >= FewestPoints {
		c.PearsonR, c.Defined = stats.Pearson(p.model, p.human)
	}
	if c.N > 0 {
		c.RMSE = stats.RMSE(p.model, p.human)
	}
	return c
}
