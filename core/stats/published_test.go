package stats

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"foible.dev/foible/core/published"
)

// readCSV is a published table without its header.
func readCSV(t testing.TB, path ...string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join(append([]string{published.Dir(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records[1:]
}

// blockWords reads the published responses: 16 stimuli, 15 to 19 participants
// each, whose numbers do not link people across stimuli; 545 points, which keys
// names by stimulus, step and goal.
func blockWords(t testing.TB) (h Human, keys [][][3]string) {
	t.Helper()
	type answer struct {
		row, point int
		value      float64
	}
	var answers [][]answer
	stimulus := make(map[string]int)
	var rows, points []map[string]int
	for _, r := range readCSV(t, "mistakes-2021", "block-words", "responses.csv") {
		// stimulus, participant, step, goal, probability
		s, seen := stimulus[r[0]]
		if !seen {
			s = len(stimulus)
			stimulus[r[0]] = s
			h.Stimuli = append(h.Stimuli, Responses{})
			answers = append(answers, nil)
			keys = append(keys, nil)
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
			keys[s] = append(keys[s], [3]string{r[0], r[2], r[3]})
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
	return h, keys
}

// goldenModel reads the inferences of a model with one golden parameter set for
// the four Block Words stimuli that the golden values cover, and the people's
// judgements of these stimuli.
func goldenModel(t testing.TB, name string) (Human, [][]float64) {
	t.Helper()
	inferred := make(map[[3]string]float64)
	for _, r := range readCSV(t, "golden", "marginal.csv") {
		// domain, stimulus, model, six parameters, step, goal, probability, se
		if r[0] == "block-words" && r[2] == name {
			v, err := strconv.ParseFloat(r[11], 64)
			if err != nil {
				t.Fatal(err)
			}
			inferred[[3]string{r[1], r[9], r[10]}] = v
		}
	}
	h, keys := blockWords(t)
	var covered Human
	var model [][]float64
	for s, r := range h.Stimuli {
		var x []float64
		for _, key := range keys[s] {
			if v, ok := inferred[key]; ok {
				x = append(x, v)
			}
		}
		if len(x) == len(r.Mean) {
			covered.Stimuli, model = append(covered.Stimuli, r), append(model, x)
		}
	}
	return covered, model
}

// TestPublishedInterval compares the bootstrap over participants on real
// judgements and models with NumPy's (testdata/check.py, 20,000 resamples).
// Bounds of 20,000 resamples have a standard error of about .0003 each; the
// tolerance is .001. The half-widths are .021 and .026 for these four stimuli;
// the paper gives .02 for all sixteen.
func TestPublishedInterval(t *testing.T) {
	for _, c := range []struct {
		model              string
		r, mean, low, high float64
	}{
		{"plan-lesioned", 0.94058, 0.92885, 0.9061, 0.9477},
		{"action-lesioned", 0.93676, 0.92483, 0.8957, 0.9470},
	} {
		h, model := goldenModel(t, c.model)
		var xs, ys []float64
		for s, r := range h.Stimuli {
			xs, ys = append(xs, model[s]...), append(ys, r.Mean...)
		}
		r, ok := Pearson(xs, ys)
		if !ok || len(xs) != 150 || math.Abs(r-c.r) > 1e-5 {
			t.Errorf("%s: r = %v over %d points, want %v over 150", c.model, r, len(xs), c.r)
		}
		b, err := NewBootstrap(h, ByParticipants, 20_000, rand.New(rand.NewPCG(2021, 1)))
		if err != nil {
			t.Fatal(err)
		}
		rs := b.Pearson(model)
		low, high, ok := Interval(rs, 0.95)
		if !ok || math.Abs(low-c.low) > 0.001 || math.Abs(high-c.high) > 0.001 || math.Abs(Mean(rs)-c.mean) > 0.0005 {
			t.Errorf("%s: mean %.5f, interval [%.4f, %.4f]; want %v, [%v, %v]", c.model, Mean(rs), low, high, c.mean, c.low, c.high)
		}
	}
}

// noisyPeople is a model that correlates about .88 with the people.
func noisyPeople(h Human, rng *rand.Rand) [][]float64 {
	model := make([][]float64, len(h.Stimuli))
	for s, r := range h.Stimuli {
		for _, v := range r.Mean {
			model[s] = append(model[s], v+0.134*rng.NormFloat64())
		}
	}
	return model
}
