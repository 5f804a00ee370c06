package cost

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// measuredWorld is a made-up study of which a pilot has measured the first cells of some stimuli, and of some of these
// all cells. It returns the pilot's run and the work that all cells take.
func measuredWorld(t *testing.T, seed uint64) (*run, float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 8))
	about := func(sd float64) float64 { return math.Exp(sd * rng.NormFloat64()) }
	sets := make([]model.ParameterSet, 5+rng.IntN(40))
	for i := range sets {
		sets[i].Model = "plan-lesioned"
		sets[i].Set("action_noise", model.Setting{Number: float64(i+1) / 100})
	}
	shapes := make([]sweep.Shape, 4+rng.IntN(20))
	for i := range shapes {
		shapes[i] = sweep.Shape{Stimulus: fmt.Sprint(i), Goals: 2 + rng.IntN(4), Actions: 5 + rng.IntN(25), JudgementSteps: []int{2, 5}}
	}
	plan, err := sweep.NewPlan(sets, shapes, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{
		Pilot: &Pilot{Plan: plan, Config: &sweep.Config{Inference: sweep.MarginalInference, Fit: sweep.MarginalFit}},
		of:    make([]measured, len(shapes)), work: 1, seconds: 1, chosen: make([][]result.Prediction, 1),
	}
	seen := 2 + rng.IntN(len(shapes)-1)
	full := 1 + rng.IntN(seen)
	unlikeSize, unlikeFirst, machine := 0.5*rng.Float64(), 0.3*rng.Float64(), about(unlikeMachine)
	truth := perCell * float64(len(sets)*len(shapes))
	for k, i := range rng.Perm(len(shapes)) {
		made := 0.01 * math.Sqrt(sizeOf(&shapes[i])) * about(unlikeSize)
		first := made * (0.5 + rng.Float64())
		fit := (made + first) * (1 + float64(len(sets))/20) * about(unlikeFirst)
		truth += fit * machine
		m := &r.of[i]
		if k < seen {
			m.made, m.cells = made, first
		}
		if k < full {
			m.fit, m.tables, m.done = fit, made, true
		}
	}
	return r, truth
}

// Of 1,000 made-up studies, what all cells take lies within the range of the estimate, meant for 9 of 10, and the
// estimate is rarely off by a factor of two.
func TestEstimateRange(t *testing.T) {
	const worlds = 1000
	var within, far int
	var bias float64
	for seed := range uint64(worlds) {
		r, truth := measuredWorld(t, seed)
		e, err := r.estimate(0)
		if err != nil {
			t.Fatal(err)
		}
		if low, high := e.Range(); truth >= low && truth <= high {
			within++
		}
		off := math.Log(e.Seconds() / truth)
		bias += off / worlds
		if math.Abs(off) > math.Ln2 {
			far++
		}
	}
	t.Logf("%d of %d within the range; %d off by a factor of two; off by %+.1f %% on average", within, worlds, far, 100*(math.Exp(bias)-1))
	if within < 860 || within > 985 {
		t.Errorf("%d of %d within the range", within, worlds)
	}
	if far > 20 || math.Abs(bias) > 0.06 {
		t.Errorf("%d off by a factor of two; off by %+.1f %% on average", far, 100*(math.Exp(bias)-1))
	}
}

// Where everything was measured, the estimate is what was measured, and only the machine is uncertain.
func TestEstimateOfAll(t *testing.T) {
	r, _ := measuredWorld(t, 1)
	want := perCell * float64(len(r.Plan.Sets)*len(r.of))
	for i := range r.of {
		m := &r.of[i]
		m.made, m.cells, m.fit, m.tables, m.done = 1, 2, float64(3+i), 1, true
		want += m.fit
	}
	e, err := r.estimate(0)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(e.Fit-want) > 1e-9 || e.Tables != float64(len(r.of)) || e.Full != len(r.of) {
		t.Errorf("fit %v, tables %v, full %d; want %v, %d, %d", e.Fit, e.Tables, e.Full, want, len(r.of), len(r.of))
	}
	if spread := math.Exp(nineOfTen * unlikeMachine); math.Abs(e.Spread-spread) > 1e-12 {
		t.Errorf("spread %v, want %v", e.Spread, spread)
	}
}
