package figure

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

func BenchmarkSensitivity(b *testing.B) {
	for _, n := range []int{7, 48, 100_000} {
		b.Run(fmt.Sprintf("svg/sets=%d", n), func(b *testing.B) {
			curve := largeGrid(n)
			for b.Loop() {
				if err := Sensitivity([]Curve{curve}, SensitivityOptions{}).WriteSVG(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScatter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := Panel{R: 0.9, N: 545}
	for range p.N {
		p.Points = append(p.Points, ScatterPoint{rng.Float64(), rng.Float64(), 0.05, "full", 0.01})
	}
	f := Scatter("", []Panel{p})
	b.Run("svg/points=545", func(b *testing.B) {
		for b.Loop() {
			if err := f.WriteSVG(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pdf/points=545", func(b *testing.B) {
		for b.Loop() {
			if err := f.WritePDF(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}
