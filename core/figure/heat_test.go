package figure_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"foible.dev/foible/core/figure"
)

// What is nearly all there is not called all; what is not known is no number.
func TestHeatRoundsDown(t *testing.T) {
	f := figure.Heat(figure.HeatMap{
		Title: "study", What: "cells done", Rows: []string{"1-1", "1-2"}, Columns: []string{"full", "boltzmann"},
		Parts: [][]float64{{0.999, 1}, {0.29, math.NaN()}},
	})
	var svg bytes.Buffer
	if err := f.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">99<", ">100<", ">29<", ">–<", ">1-2<", ">boltzmann<", "Percent of cells done."} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	for _, empty := range []figure.HeatMap{{}, {Rows: []string{"1-1"}, Parts: [][]float64{nil}}} {
		if err := figure.Heat(empty).WritePDF(&svg); err != nil {
			t.Error(err)
		}
	}
}
