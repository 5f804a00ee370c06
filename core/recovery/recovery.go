// Package recovery says whether a study can tell models and their parameters
// apart: it simulates participants who judge as known parameter sets do, fits
// every model to them, and compares what comes out with what went in (Wilson and
// Collins 2019, Ten simple rules for the computational modeling of behavioral
// data, eLife 8, e49547, rules 4 and 5).
//
// Read [Run] first, then [Result.Axes] and [Result.Confusion]. [Simulate] makes
// the trajectories to be judged. What observers infer of them, and what is fitted
// to their judgements, comes from two sweeps that share no random number.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/participant"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Forms of answers.
const (
	Probability = "probability" // of each goal, in multiples of 0.05
	Selection   = "selection"   // goals that are ticked, equally probable
)

// AnswersOf are in the form in which the people of a study gave theirs:
// selections if every answer is even over some goals.
func AnswersOf(st *study.Study) string {
	form := Probability
	for i := range st.Stimuli {
		for _, steps := range st.Stimuli[i].Human.Responses {
			for _, answer := range steps {
				if answer == nil {
					continue
				}
				top := slices.Max(answer)
				if slices.ContainsFunc(answer, func(p float64) bool { return p != 0 && p != top }) {
					return Probability
				}
				form = Selection
			}
		}
	}
	return form
}

// Config says which participants to simulate.
type Config struct {
	Datasets     int   // of each model
	Participants []int // of a dataset, who judge each stimulus: sample sizes, ascending
	Linked       bool  // a participant judges all stimuli; otherwise each has others
	Answers      string
	Noise        participant.Noise
	Seed         uint64
}

// Posteriors are what parameter sets infer at the points of a study: [set][point],
// where a point is a goal at a judgement step of a stimulus, in this order; NaN
// where a set gives no posterior.
type Posteriors [][]float64

// NewPosteriors are not known of any set.
func NewPosteriors(sets int) Posteriors { return make(Posteriors, sets) }

// Add takes what a parameter set has come to in a sweep.
func (p Posteriors) Add(plan *sweep.Plan, g *sweep.Gathered) error {
	var row []float64
	for i, cell := range g.Cells {
		shape := &plan.Stimuli[i]
		if cell == nil {
			return fmt.Errorf("%s has no result on stimulus %s", g.Set.String(), shape.Stimulus)
		}
		rows := shape.Predict(cell).Rows
		for j := range shape.JudgementSteps {
			for goal := range shape.Goals {
				x := math.NaN()
				if j < len(rows) {
					x = rows[j][goal]
				}
				row = append(row, x)
			}
		}
	}
	p[g.Index] = row
	return nil
}

// Dataset is what simulated participants judged, of a sample size, and what was
// fitted to it. Datasets of one number have the same participants: the first n.
type Dataset struct {
	Number       int // within the model, from 1
	Participants int
	True         int   // parameter set by which they judge
	Fits         []Fit // of every model
	// Fitted is the model that agrees best by each criterion, in the order of
	// [Criteria]; -1 where none has an r.
	Fitted [2]int
}

// Criteria by which the fitted model is chosen: the highest r of any of its
// parameter sets, or the highest r with every stimulus predicted by the set
// that fits the others best (see [score.PearsonHeldOut]).
var Criteria = [2]string{"r", "held_out_r"}

// Fit of a model to a dataset.
type Fit struct {
	Set int         // parameter set of the highest r, the first of equals; -1 if none has one
	N   int         // points that it has been compared at
	R   Correlation // its r
	Out Correlation // r of held-out stimuli
}

// Correlation is an r, if there is one.
type Correlation struct {
	R       float64
	Defined bool
}

// by a criterion.
func (f *Fit) by(criterion int) Correlation {
	if criterion == 0 {
		return f.R
	}
	return f.Out
}

// Result of a recovery.
type Result struct {
	Config
	Sets     []model.ParameterSet
	Models   []sweep.ModelSets
	Datasets []Dataset // by true model, number and sample size
	// Unjudged is the part of the points, averaged over datasets, at which
	// observers have no posterior; their participants do not answer there.
	Unjudged float64
}

// Sweeps are what two sweeps that share no random number have come to.
type Sweeps struct {
	Sets    []model.ParameterSet // of both, those of a model next to each other
	Stimuli []sweep.Shape
	// Truth is what simulated observers infer, Fit what is fitted to them: of all Sets, at
	// the same points.
	Truth, Fit Posteriors
}

// Run simulates datasets and fits every model to each.
//
// An observer that takes what it sees for impossible has no posterior from there
// on, and its participants give no answer. A parameter set that has none where
// people answered is even over the goals there: otherwise r would be over fewer
// points, and the model that gives up first would win.
//
// It uses all cores, and ends with the context.
func Run(ctx context.Context, s *Sweeps, c Config) (*Result, error) {
	if c.Datasets < 1 || len(c.Participants) == 0 || c.Participants[0] < 1 || !slices.IsSorted(c.Participants) {
		return nil, errors.New("a recovery needs datasets and ascending numbers of participants")
	}
	l := newLayout(s.Stimuli)
	if l.points() == 0 {
		return nil, errors.New("the study has no judgement steps")
	}
	even := make([][]float64, len(s.Sets))
	for i := range s.Sets {
		if len(s.Truth[i]) != l.points() || len(s.Fit[i]) != l.points() {
			return nil, fmt.Errorf("%s has no posteriors", s.Sets[i].String())
		}
		even[i] = l.even(s.Fit[i])
	}
	r := &Result{Config: c, Sets: s.Sets, Models: modelsOf(s.Sets)}
	unjudged := 0
	for _, model := range r.Models {
		for k, i := range deal(model.End-model.First, c.Datasets, random.RecoveryStream(c.Seed, "settings of observers", model.Name, 0)) {
			for _, size := range c.Participants {
				r.Datasets = append(r.Datasets, Dataset{Number: k + 1, Participants: size, True: model.First + i})
			}
			for _, p := range s.Truth[model.First+i] {
				if math.IsNaN(p) {
					unjudged++
				}
			}
		}
	}
	r.Unjudged = float64(unjudged) / float64(len(r.Models)*c.Datasets*l.points())

	var wait sync.WaitGroup
	var next atomic.Int64 // number of the people to be simulated, times the sample sizes
	sizes := len(c.Participants)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for ctx.Err() == nil {
				at := int(next.Add(int64(sizes))) - sizes
				if at >= len(r.Datasets) {
					return
				}
				of := r.Datasets[at : at+sizes]
				for size, mean := range r.judge(l, s.Truth[of[0].True], s.Sets[of[0].True].Model, of[0].Number-1) {
					d := &of[size]
					for _, m := range r.Models {
						d.Fits = append(d.Fits, fitOf(m, even, mean, l.start))
					}
					d.choose()
				}
			}
		})
	}
	wait.Wait()
	return r, ctx.Err()
}

// judge is the mean judgement at each point, by sample size. Every participant
// has a stream of its own, so that one sample has the first people of another.
func (r *Result) judge(l *layout, posterior []float64, model string, dataset int) [][]float64 {
	means := make([][]float64, len(r.Participants))
	sum := make([]float64, len(posterior))
	size := 0
	for p := range r.Participants[len(r.Participants)-1] {
		rng := random.RecoveryStream(r.Seed, fmt.Sprintf("participant %d", p), model, dataset)
		person := r.Noise.Recruit(rng)
		for i := range len(l.start) - 1 {
			if i > 0 && !r.Linked {
				person = r.Noise.Recruit(rng)
			}
			for at := l.start[i]; at < l.start[i+1]; at += l.goals[i] {
				row := posterior[at : at+l.goals[i]]
				if math.IsNaN(row[0]) {
					sum[at] = math.NaN()
					continue
				}
				for g, x := range r.answer(person.Belief(row, rng)) {
					sum[at+g] += x
				}
			}
		}
		for ; size < len(r.Participants) && r.Participants[size] == p+1; size++ {
			mean := make([]float64, len(sum))
			for at, x := range sum {
				mean[at] = x / float64(p+1)
			}
			means[size] = l.missing(mean)
		}
	}
	return means
}

// answer is a belief as it is reported, as probabilities.
func (r *Result) answer(belief []float64) []float64 {
	out := make([]float64, len(belief))
	if r.Answers == Selection {
		chosen := participant.Choose(belief)
		for _, g := range chosen {
			out[g] = 1 / float64(len(chosen))
		}
		return out
	}
	for g, units := range participant.Round(belief) {
		out[g] = float64(units) / participant.Parts
	}
	return out
}

// fitOf a model to mean judgements.
func fitOf(m sweep.ModelSets, posteriors [][]float64, human []float64, start []int) Fit {
	f := Fit{Set: -1}
	var y []float64
	for _, h := range human {
		if !math.IsNaN(h) {
			y = append(y, h)
		}
	}
	x := make([]float64, len(y))
	for set := m.First; set < m.End; set++ {
		x = x[:0]
		for at, h := range human {
			if !math.IsNaN(h) {
				x = append(x, posteriors[set][at])
			}
		}
		if r, ok := stats.Pearson(x, y); ok && (f.Set < 0 || r > f.R.R) {
			f.Set, f.N, f.R = set, len(y), Correlation{r, true}
		}
	}
	f.Out.R, f.Out.Defined = score.PearsonHeldOut(posteriors[m.First:m.End], human, start)
	return f
}

// choose the model that agrees best, the first of equals.
func (d *Dataset) choose() {
	for criterion := range Criteria {
		d.Fitted[criterion] = -1
		best := math.Inf(-1)
		for m := range d.Fits {
			if c := d.Fits[m].by(criterion); c.Defined && c.R > best {
				d.Fitted[criterion], best = m, c.R
			}
		}
	}
}

// layout is where the points of stimuli are: from start[i] to start[i+1], steps x goals.
type layout struct {
	start, goals []int
}

func newLayout(stimuli []sweep.Shape) *layout {
	l := &layout{start: []int{0}}
	for i := range stimuli {
		l.goals = append(l.goals, stimuli[i].Goals)
		l.start = append(l.start, l.start[i]+stimuli[i].Goals*len(stimuli[i].JudgementSteps))
	}
	return l
}

func (l *layout) points() int { return l.start[len(l.start)-1] }

// even is a row with what is missing even over the goals.
func (l *layout) even(row []float64) []float64 {
	out := slices.Clone(row)
	for i, goals := range l.goals {
		for at := l.start[i]; at < l.start[i+1]; at++ {
			if math.IsNaN(out[at]) {
				out[at] = 1 / float64(goals)
			}
		}
	}
	return out
}

// missing spreads a NaN at the first goal to all goals of a judgement step.
func (l *layout) missing(row []float64) []float64 {
	for i, goals := range l.goals {
		for at := l.start[i]; at < l.start[i+1]; at += goals {
			if math.IsNaN(row[at]) {
				for g := range goals {
					row[at+g] = math.NaN()
				}
			}
		}
	}
	return row
}
