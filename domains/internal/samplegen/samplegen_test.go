package main

import (
	"bytes"
	"io/fs"
	"slices"
	"testing"
)

func TestResponsesAreThoseInTheSamples(t *testing.T) {
	for _, s := range samples {
		got, err := s.responses()
		if err != nil {
			t.Fatal(err)
		}
		want, err := fs.ReadFile(s.files, "responses.csv")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: not what samplegen makes: go run ./domains/internal/samplegen", s.name)
		}
	}
}

func TestProbabilities(t *testing.T) {
	goals := []string{"a", "b", "c"}
	for _, c := range []struct {
		belief []float64
		want   []string
	}{
		{[]float64{1, 0, 0}, []string{"a,1.00", "b,0.00", "c,0.00"}},
		{[]float64{1. / 3, 1. / 3, 1. / 3}, []string{"a,0.35", "b,0.35", "c,0.30"}},
		{[]float64{0.08, 0.52, 0.4}, []string{"a,0.10", "b,0.50", "c,0.40"}},
	} {
		if got := probabilities(goals, c.belief); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.belief, got, c.want)
		}
	}
}

func TestSelection(t *testing.T) {
	goals := []string{"a", "b", "c"}
	for _, c := range []struct {
		belief []float64
		want   []string
	}{
		{[]float64{0.8, 0.1, 0.1}, []string{"a"}},
		{[]float64{0.1, 0.4, 0.5}, []string{"b", "c"}},
		{[]float64{0.3, 0.3, 0.4}, []string{"don't know"}},
	} {
		if got := selection(goals, c.belief); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.belief, got, c.want)
		}
	}
}
