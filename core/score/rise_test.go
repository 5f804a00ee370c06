package score_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// noisyRuns are predictions of so many runs, each off from the truth at every goal by a
// normal error, alike at the steps of a stimulus; what is off at the goals of a step sums to 0.
func noisyRuns(truth []result.Prediction, runs int, ofRun float64, rng *rand.Rand) []result.Prediction {
	all := make([]result.Prediction, len(truth))
	for i := range truth {
		rows := truth[i].Rows
		p := &all[i]
		for _, row := range rows {
			p.Rows = append(p.Rows, make([]float64, len(row)))
		}
		for range runs {
			off := make([]float64, len(rows[0]))
			for g := range off {
				off[g] = rng.NormFloat64()
			}
			var run [][]float64
			for j, row := range rows {
				one, mean := make([]float64, len(row)), 0.0
				for g := range row {
					one[g] = math.Sqrt(.5)*off[g] + math.Sqrt(.5)*rng.NormFloat64()
					mean += one[g] / float64(len(row))
				}
				for g := range row {
					one[g] = row[g] + ofRun*(one[g]-mean)
					p.Rows[j][g] += one[g] / float64(runs)
				}
				run = append(run, one)
			}
			p.Runs.Add(run)
		}
	}
	return all
}

// rising is how many of 100 sweeps are warned that r rises, with the mean of what r gains
// and of what it is estimated to gain.
func rising(t *testing.T, st *study.Study, truth []result.Prediction, runs int, ofRun float64) (warned int, gain, estimated float64) {
	t.Helper()
	scorer, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := scorer.Score(truth)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(100) {
		rise, ok := scorer.Rises(noisyRuns(truth, runs, ofRun, rand.New(rand.NewPCG(seed, 1))))
		if !ok {
			t.Fatal("not known")
		}
		if rise.Matters() {
			warned++
		}
		gain += (limit.Overall.PearsonR - rise.R) / 100
		estimated += (rise.Limit - rise.R) / 100
	}
	return warned, gain, estimated
}

// On a study of the published size, of 100 sweeps in which ever more runs would raise r by .002
// to .004, none is warned with 5, 10 and 40 runs, and 1 with 2 runs, whose variances are less
// sure; by .008 to .01, all are. The gain is estimated within .001: that of 100 sweeps, on
// average, has an error of as much.
func TestRises(t *testing.T) {
	st, off := madeup.People()
	truth := make([]result.Prediction, len(off))
	for i := range off {
		for j, row := range st.Stimuli[i].Human.Mean {
			one := make([]float64, len(row))
			for g, h := range row {
				one[g] = h + 0.5*off[i].Rows[j][g]
			}
			truth[i].Rows = append(truth[i].Rows, one)
		}
	}
	for _, c := range []struct {
		runs        int
		ofRun       float64
		least, most int
	}{
		{10, .016, 0, 0},
		{10, .021, 0, 2},
		{10, .032, 100, 100},
		{5, .011, 0, 0},
		{5, .022, 100, 100},
		{40, .033, 0, 0},
		{40, .065, 100, 100},
		{2, .0092, 0, 6},
		{2, .016, 95, 100},
	} {
		warned, gain, estimated := rising(t, st, truth, c.runs, c.ofRun)
		t.Logf("%d runs off by %v: r would gain %.4f, estimated %.4f; %d of 100 warned", c.runs, c.ofRun, gain, estimated, warned)
		if math.Abs(gain-estimated) > .0015 {
			t.Errorf("%d runs off by %v: r gains %.4f, estimated as %.4f", c.runs, c.ofRun, gain, estimated)
		}
		if warned < c.least || warned > c.most {
			t.Errorf("%d runs off by %v, a gain of %.4f: %d of 100 warned, want %d to %d", c.runs, c.ofRun, gain, warned, c.least, c.most)
		}
	}
}
