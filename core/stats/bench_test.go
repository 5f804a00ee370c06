package stats

import (
	"math/rand/v2"
	"testing"
)

// benchHuman has the size of the published Block Words study: 545 points in 16
// stimuli of 17 participants.
func benchHuman() Human {
	rng := rand.New(rand.NewPCG(1, 1))
	var h Human
	for s := range 16 {
		points := 34
		if s == 0 {
			points = 35
		}
		r := Responses{Mean: make([]float64, points)}
		once := make([]int, 17)
		for i := range once {
			once[i] = 1
			row := make([]float64, points)
			for p := range row {
				row[p] = rng.Float64()
			}
			r.Values = append(r.Values, row)
		}
		r.weightedMean(r.Mean, once)
		h.Stimuli = append(h.Stimuli, r)
	}
	return h
}

func BenchmarkBootstrap(b *testing.B) {
	h := benchHuman()
	model := noisyPeople(h, rand.New(rand.NewPCG(1, 1)))
	for _, unit := range []Unit{ByParticipants, ByStimuli, Crossed} {
		b.Run("New/unit="+unit.String()+"/points=545/resamples=500", func(b *testing.B) {
			for b.Loop() {
				if _, err := NewBootstrap(h, unit, 500, rand.New(rand.NewPCG(1, 1))); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Pearson/unit="+unit.String()+"/points=545/resamples=500", func(b *testing.B) {
			boot, err := NewBootstrap(h, unit, 500, rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				boot.Pearson(model)
			}
		})
	}
}

func BenchmarkInterval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	rs := make([]float64, 500)
	for i := range rs {
		rs[i] = rng.Float64()
	}
	b.Run("resamples=500", func(b *testing.B) {
		for b.Loop() {
			Interval(rs, 0.95)
		}
	})
}

func BenchmarkPearson(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, 545), make([]float64, 545)
	for i := range x {
		x[i], y[i] = rng.Float64(), rng.Float64()
	}
	b.Run("points=545", func(b *testing.B) {
		for b.Loop() {
			Pearson(x, y)
		}
	})
}
