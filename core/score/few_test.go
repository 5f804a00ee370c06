package score_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// crowded is n stimuli, each judged at two steps over three goals by so many participants; by means alone if there is none.
func crowded(rng *rand.Rand, n, participants int, linked bool) (*study.Study, []result.Prediction) {
	st := &study.Study{ParticipantsLinked: linked}
	var predictions []result.Prediction
	draw := func() []float64 {
		row := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		sum := row[0] + row[1] + row[2]
		for i := range row {
			row[i] /= sum
		}
		return row
	}
	for i := range n {
		s := study.Stimulus{ID: fmt.Sprint("s", i), JudgementSteps: []int{0, 1}, Goals: make([]study.Goal, 3)}
		for k := range participants {
			s.Human.Participants = append(s.Human.Participants, fmt.Sprint("p", k))
			s.Human.Responses = append(s.Human.Responses, [][]float64{draw(), draw()})
		}
		s.Human.Mean = [][]float64{draw(), draw()}
		st.Stimuli = append(st.Stimuli, s)
		predictions = append(predictions, result.Prediction{Rows: [][]float64{draw(), draw()}})
	}
	return st, predictions
}

// Below the stated numbers of stimuli and participants there are no intervals, ceilings, folds and comparisons, and it is
// said why; from there on there are.
func TestTooFew(t *testing.T) {
	b := sweep.Bootstrap{Resamples: 50, Units: []string{"participants", "stimuli", "both"}}
	for _, c := range []struct {
		stimuli, participants int
		linked                bool
		want                  string // what is not given, by reason
		intervals             string // of what there are some
	}{
		{1, 1, false, "participants: a stimulus has 1 participant, and 5 are needed in each; stimuli: 1 stimulus, and 5 are needed; both: a stimulus has 1 participant, and 5 are needed in each; reliability: a stimulus has 1 participant, and 5 are needed in each; cross-validation: 1 stimulus, and 3 are needed; comparison: 1 participant, and 5 are needed", ""},
		{4, 5, false, "stimuli: 4 stimuli, and 5 are needed; both: 4 stimuli, and 5 are needed", "participants"},
		{5, 4, true, "participants: a stimulus has 4 participants, and 5 are needed in each; both: a stimulus has 4 participants, and 5 are needed in each; reliability: a stimulus has 4 participants, and 5 are needed in each; comparison: 4 participants, and 5 are needed", "stimuli"},
		{5, 5, true, "", "participants stimuli both"},
		{5, 0, false, "", "stimuli"}, // of means alone there is nothing to say
		{2, 0, false, "stimuli: 2 stimuli, and 5 are needed; both: 2 stimuli, and 5 are needed; cross-validation: 2 stimuli, and 3 are needed", ""},
	} {
		st, predictions := crowded(rand.New(rand.NewPCG(14, 21)), c.stimuli, c.participants, c.linked)
		var few, units []string
		for _, f := range score.TooFew(st, b) {
			few = append(few, f.What+": "+f.Reason)
		}
		scorer, err := score.NewScorer(st, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := scorer.Score(predictions)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range fit.Intervals {
			units = append(units, in.Unit)
		}
		if got := strings.Join(few, "; "); got != c.want {
			t.Errorf("%d stimuli, %d participants:\n%s\nwant\n%s", c.stimuli, c.participants, got, c.want)
		}
		if got := strings.Join(units, " "); got != c.intervals {
			t.Errorf("%d stimuli, %d participants: intervals by %q, want %q", c.stimuli, c.participants, got, c.intervals)
		}
		ceilings, err := score.NewCeilings(st, 1)
		if err != nil || strings.Contains(c.want, "reliability") && ceilings.All.Ceiling != 0 {
			t.Errorf("%d participants: ceiling %v, %v", c.participants, ceilings.All, err)
		}
		likelihoods, err := scorer.Likelihoods([][]result.Prediction{predictions, predictions})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := score.CompareModels(likelihoods); ok != (c.participants > 0 && !strings.Contains(c.want, "comparison")) {
			t.Errorf("%d participants: models are compared: %v", c.participants, ok)
		}
	}
}

// Stimuli that a parameter set has no posterior on do not count for its intervals.
func TestTooFewPredicted(t *testing.T) {
	st, predictions := crowded(rand.New(rand.NewPCG(14, 22)), 6, 6, false)
	b := sweep.Bootstrap{Resamples: 50, Units: []string{"participants", "stimuli", "both"}}
	for i := range 2 {
		predictions[i] = result.Prediction{Undefined: true}
	}
	fit := fitOf(t, st, b, 1, predictions)
	if len(fit.Intervals) != 1 || fit.Intervals[0].Unit != "participants" {
		t.Errorf("intervals over 4 stimuli: %+v", fit.Intervals)
	}
}

// r of two points is not given, and the error of a single run is not known, which is no error of 0.
func TestTooFewPointsAndRuns(t *testing.T) {
	st, predictions := crowded(rand.New(rand.NewPCG(14, 23)), 2, 0, false)
	for i := range st.Stimuli {
		st.Stimuli[i].Human.Mean[1] = nil
		st.Stimuli[i].Human.Mean[0][2] = 1 - st.Stimuli[i].Human.Mean[0][0] - st.Stimuli[i].Human.Mean[0][1]
	}
	st.Stimuli[1].Goals, st.Stimuli[1].Human.Mean[0], predictions[1].Rows = st.Stimuli[1].Goals[:2], []float64{.25, .75}, [][]float64{{.5, .5}, {.25, .75}}
	fit := fitOf(t, st, sweep.Bootstrap{}, 1, predictions)
	if fit.Overall.N != 5 || !fit.Overall.Defined || !fit.ByStimulus[0].Defined || fit.ByStimulus[1].N != 2 || fit.ByStimulus[1].Defined {
		t.Errorf("%+v", fit)
	}
	if fit.MCSEUnknown {
		t.Error("the error of an exact model is not known")
	}
	predictions[0].Runs = result.RunsOf(predictions[0].Rows)
	if fit = fitOf(t, st, sweep.Bootstrap{}, 1, predictions); !fit.MCSEUnknown || fit.MCSE != 0 {
		t.Errorf("of a single run: %+v", fit)
	}
	s := sweep.NewStanding(0)
	s.Add("full", 0, 0, &fit)
	if at, _ := s.Place(0); !at.MCSEUnknown {
		t.Errorf("%+v", at)
	}
	cell := result.Cell{Posterior: predictions[0].Rows, SE: [][]float64{{0, 0, 0}, {0, 0, 0}}, Runs: predictions[0].Runs}
	if _, known := cell.Error(0, 0); known {
		t.Error("the error of a cell of a single run is known")
	}
}
