package report

import (
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
)

// Mistakes is what a time course shows of the mistakes that a model infers in a stimulus.
func Mistakes(model string, m *result.Mistakes) figure.MistakeCourse {
	probabilities := func(of []result.Estimate) []float64 {
		ps := make([]float64, len(of))
		for i := range of {
			ps[i] = of[i].Probability
		}
		return ps
	}
	course := figure.MistakeCourse{Model: model, Confused: probabilities(m.Confused), Slip: probabilities(m.Slip)}
	if offPath, known := m.OffPath.Get(); known {
		course.OffPath = optional.Known(probabilities(offPath))
	} else {
		course.Unknown = result.PathsUnknown
	}
	return course
}
