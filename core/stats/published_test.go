package stats

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"foible/core/published"
)

// blockWords reads the published responses: 16 stimuli, 15 to 19 participants
// each, whose numbers do not link people across stimuli; 545 points.
func blockWords(t testing.TB) Human {
	t.Helper()
	file, err := os.Open(filepath.Join(published.Dir(t), "mistakes-2021", "block-words", "responses.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		row, point int
		value      float64
	}
	var h Human
	var answers [][]answer
	stimulus := make(map[string]int)
	var rows, points []map[string]int
	for _, r := range records[1:] { // stimulus, participant, step, goal, probability
		s, seen := stimulus[r[0]]
		if !seen {
			s = len(stimulus)
			stimulus[r[0]] = s
			h.Stimuli = append(h.Stimuli, Responses{})
			answers = append(answers, nil)
			rows = append(rows, make(map[string]int))
			points = append(points, make(map[string]int))
		}
		if _, seen := rows[s][r[1]]; !seen {
			rows[s][r[1]] = len(rows[s])
			h.Stimuli[s].Participants = append(h.Stimuli[s].Participants, r[1])
		}
		key := r[2] + " " + r[3]
		if _, seen := points[s][key]; !seen {
			points[s][key] = len(points[s])
		}
		v, err := strconv.ParseFloat(r[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		answers[s] = append(answers[s], answer{rows[s][r[1]], points[s][key], v})
	}
	for s := range h.Stimuli {
		r := &h.Stimuli[s]
		once := make([]int, len(rows[s]))
		for i := range once {
			once[i] = 1
			row := make([]float64, len(points[s]))
			for p := range row {
				row[p] = math.NaN()
			}
			r.Values = append(r.Values, row)
		}
		for _, a := range answers[s] {
			r.Values[a.row][a.point] = a.value
		}
		r.Mean = make([]float64, len(points[s]))
		r.weightedMean(r.Mean, once)
	}
	return h
}

// noisyPeople is a stand-in for a model that correlates about .88 with the
// people, as the published models do: their own means and Gaussian noise.
func noisyPeople(h Human, rng *rand.Rand) [][]float64 {
	model := make([][]float64, len(h.Stimuli))
	for s, r := range h.Stimuli {
		for _, v := range r.Mean {
			model[s] = append(model[s], v+0.134*rng.NormFloat64())
		}
	}
	return model
}

// TestPublishedHalfWidth checks the size of the intervals on the published
// responses, for the stand-in model: the paper gives half-widths near .02 over
// participants, and a bootstrap that resampled, say, rows in place of
// participants would miss that. Few stimuli make the other units wider.
func TestPublishedHalfWidth(t *testing.T) {
	h := blockWords(t)
	rng := rand.New(rand.NewPCG(2021, 1))
	model := noisyPeople(h, rng)
	var xs, ys []float64
	for s, r := range h.Stimuli {
		xs, ys = append(xs, model[s]...), append(ys, r.Mean...)
	}
	r, ok := Pearson(xs, ys)
	if !ok || len(xs) != 545 || math.Abs(r-0.88) > 0.02 {
		t.Fatalf("stand-in model: r = %v over %d points, want .88 over 545", r, len(xs))
	}
	half := make(map[Unit]float64)
	for _, unit := range []Unit{ByParticipants, ByStimuli, Crossed} {
		b, err := NewBootstrap(h, unit, 2000, rng)
		if err != nil {
			t.Fatal(err)
		}
		rs := b.Pearson(model)
		low, high, ok := Interval(rs, 0.95)
		if !ok || len(rs) != 2000 {
			t.Fatalf("by %v: %d correlations", unit, len(rs))
		}
		half[unit] = (high - low) / 2
		t.Logf("by %v: r = %.3f, mean of resamples %.3f, interval [%.3f, %.3f]", unit, r, mean(rs), low, high)
	}
	if w := half[ByParticipants]; w < 0.01 || w > 0.025 {
		t.Errorf("half-width over participants = %.4f, want about .02", w)
	}
	if half[Crossed] < half[ByParticipants] || half[Crossed] < half[ByStimuli] {
		t.Errorf("the crossed interval is not the widest: %v", half)
	}
}

// TestPublishedCeiling checks that 15 to 19 people a stimulus leave a perfect
// model little to lose: .95 to .99.
func TestPublishedCeiling(t *testing.T) {
	r, ok, err := Ceiling(blockWords(t), 200, rand.New(rand.NewPCG(2021, 1)))
	if err != nil || !ok || r < 0.95 || r > 0.99 {
		t.Errorf("ceiling = %v, %v, %v", r, ok, err)
	}
	t.Logf("ceiling %.4f", r)
}
