package sweep_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// published has the size of the published Block Words study: 16 stimuli of 5
// goals, 544 points, 17 participants each who answer everywhere; and what a
// model says of it, in 4 runs.
func published() (*study.Study, []sweep.Prediction) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func() []float64 {
		row, sum := make([]float64, 5), 0.0
		for g := range row {
			row[g] = rng.ExpFloat64()
			sum += row[g]
		}
		for g := range row {
			row[g] /= sum
		}
		return row
	}
	st := &study.Study{Name: "published"}
	var model []sweep.Prediction
	for i := range 16 {
		steps := []int{0, 2, 4, 5, 6, 8, 9}
		if i%5 == 0 {
			steps = steps[:6]
		}
		s := study.Stimulus{ID: fmt.Sprint(i), Category: fmt.Sprint(i % 4), JudgementSteps: steps, Goals: make([]study.Goal, 5)}
		h := &s.Human
		h.Mean = make([][]float64, len(steps))
		for j := range steps {
			h.Mean[j] = make([]float64, 5)
		}
		for p := range 17 {
			h.Participants = append(h.Participants, fmt.Sprint("p", p))
			answers := make([][]float64, len(steps))
			for j := range answers {
				answers[j] = draw()
				for g, x := range answers[j] {
					h.Mean[j][g] += x / 17
				}
			}
			h.Responses = append(h.Responses, answers)
		}
		st.Stimuli = append(st.Stimuli, s)
		p := sweep.Prediction{}
		for range steps {
			p.Rows = append(p.Rows, draw())
		}
		model = append(model, p)
	}
	sampled(model, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
	return st, model
}

func BenchmarkScore(b *testing.B) {
	st, model := published()
	for _, units := range [][]string{nil, {"participants"}, {"stimuli"}, {"both"}, sweep.DefaultBootstrap.Units} {
		resamples := 500
		if units == nil {
			resamples = 0
		}
		s, err := sweep.NewScorer(st, sweep.Bootstrap{Resamples: resamples, Units: units}, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("points=545/runs=4/resamples=%d/units=%d %v", resamples, len(units), units), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Score(model); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A parameter set of the published size on its way into the cross-validation.
func BenchmarkCrossValidation(b *testing.B) {
	st, model := published()
	var shapes []sweep.Shape
	g := &sweep.Gathered{Stage: sweep.FitStage, Set: sweep.ParameterSet{Model: "full"}}
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		shapes = append(shapes, sweep.Shape{Stimulus: s.ID, Goals: len(s.Goals), Actions: 9, JudgementSteps: s.JudgementSteps})
		g.Cells = append(g.Cells, &sweep.Cell{Judged: true, Posterior: model[i].Rows})
	}
	plan, err := sweep.NewPlan([]sweep.ParameterSet{g.Set}, shapes, 1, false)
	if err != nil {
		b.Fatal(err)
	}
	s, err := sweep.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		b.Fatal(err)
	}
	v := sweep.NewCrossValidator(s, plan)
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Add(g); err != nil {
			b.Fatal(err)
		}
	}
}

// Two models of the published size against each other, by every unit.
func BenchmarkCompare(b *testing.B) {
	st, model := published()
	s, err := sweep.NewScorer(st, sweep.DefaultBootstrap, 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Compare(model, model); err != nil {
			b.Fatal(err)
		}
	}
}
