package cost

import (
	"math"
	"time"
)

// stages in which jobs of a model may differ in what they take by their size.
const (
	fitting = iota
	toppingUp
	reporting
	stages
)

// slowest are the most seconds that jobs have taken for their size.
type slowest struct {
	models [stages][]float64 // seconds a unit of infer jobs that had cells of the model; negative: none has been seen
	score  float64           // seconds a parameter set, of score jobs; negative: none has been seen
}

func newSlowest(models int) slowest {
	s := slowest{score: -1}
	for stage := range s.models {
		s.models[stage] = make([]float64, models)
		for m := range s.models[stage] {
			s.models[stage][m] = -1
		}
	}
	return s
}

func stageOf(l *load) int {
	switch {
	case l.report:
		return reporting
	case l.times > 1:
		return toppingUp
	}
	return fitting
}

func (s *slowest) learn(l *load, units, seconds float64) {
	if units <= 0 {
		return
	}
	raise := func(known *float64) {
		rate := seconds / units
		if *known > 0 {
			rate = min(rate, maxRaise**known)
		}
		*known = max(*known, rate)
	}
	if l.score {
		raise(&s.score)
		return
	}
	for m, n := range l.cells {
		if n > 0 {
			raise(&s.models[stageOf(l)][m])
		}
	}
}

// rate is the most seconds a unit of jobs like this one; negative if none has been seen of one of its models.
func (s *slowest) rate(l *load) float64 {
	if l.score {
		return s.score
	}
	rate := 0.0
	for m, n := range l.cells {
		if n == 0 {
			continue
		}
		known := s.models[stageOf(l)][m]
		if known < 0 {
			return -1
		}
		rate = max(rate, known)
	}
	return rate
}

// units are the size of a job by which what jobs of a stage take is compared: parameter sets of a score job, else cells
// and tables on a stimulus of average size, with the runs of the fit stage.
func (e *Estimator) units(l *load) float64 {
	if l.score {
		return float64(l.sets)
	}
	units := tableCells * float64(l.tables)
	for _, n := range l.cells {
		units += n
	}
	return units * e.size[l.stimulus] * float64(l.times)
}

// Limit is how long a job that a worker has may take before it is likely that the worker does not get on with it: a
// minute, and ten times as long as the slowest of the jobs like it has taken for its size.
func (e *Estimator) Limit(job int) time.Duration {
	f, ok := e.flights[job]
	if !ok {
		return UnseenLimit
	}
	rate := e.slowest.rate(&f.load)
	if rate < 0 {
		return UnseenLimit
	}
	seconds := limitFactor * rate * e.units(&f.load)
	return leastLimit + time.Duration(math.Min(seconds, 1e8)*float64(time.Second))
}
