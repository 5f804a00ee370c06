package sweep

import (
	"cmp"
	"encoding/binary"
	"slices"

	"foible.dev/foible/core/result"
)

// Standing ranks the parameter sets of a sweep, and says which is the best of each
// model. It is the only rule of that. Fits are added as they come, in any order.
//
// A point is a (stimulus, judgement step, goal) that people judged. Correlations over
// different points are not compared: a parameter set that has no posterior at some points,
// because its posterior is undefined or its cell has failed, would often gain by that. A
// parameter set is complete if it has a posterior at every point. Parameter sets of a model
// rank
//
//  1. by the number of their points, so that complete ones come first,
//  2. by the round of their fit: later rounds have more runs, and noise lowers r,
//  3. by r,
//  4. by their index: the first of equals.
//
// A parameter set without a defined r has no rank. Of several fits of a parameter set, that
// of the latest round stands, unless it has fewer points than an earlier one, or no r. The report does
// not take part in the choice; a parameter set that has been reported was chosen, and is the
// best of its model. Not safe for concurrent use.
type Standing struct {
	most     int              // points that a parameter set can have, as far as is known
	places   []place          // by index of the parameter set
	reported map[int]Place    // by index
	models   []string         // by place.model
	best     []int            // by model, index of the best, by fits only; -1 without one
	chosen   []int            // by model, index of the one that was reported; -1 without one
	points   map[string]int32 // numbers of the sets of points that were met, see pointsOf
}

// place is a Place in few bytes: a sweep may have a million of them.
type place struct {
	r, mcse       float64
	n             int32
	points        int32 // which ones: number in Standing.points
	round         int32
	model         uint8
	there, ranked bool // there is a fit; its r is defined
	unsure        bool // its Monte-Carlo error is not known
}

// Place is the fit by which a parameter set is ranked.
type Place struct {
	Round    int // see [Plan]
	N        int // points
	PearsonR float64
	Defined  bool // PearsonR exists; a place without it has no rank
	MCSE     float64
	// MCSEUnknown: see [result.Fit].
	MCSEUnknown bool
	Complete    bool // it has a posterior at every point
}

// NewStanding is that of no fit. points is the number of points that people judged, 0 if it
// is not known; then that of the parameter set with the most counts.
func NewStanding(points int) *Standing {
	return &Standing{most: points, reported: map[int]Place{}, points: map[string]int32{}}
}

// Add takes the fit of a parameter set, by its index in the plan, in a round before the
// report. It says whether the parameter set is now the best of its model by this fit.
func (s *Standing) Add(model string, set, round int, f *result.Fit) (best bool) {
	s.most = max(s.most, f.Overall.N)
	if set >= len(s.places) {
		s.places = append(s.places, make([]place, set+1-len(s.places))...)
	}
	m := s.model(model)
	p := place{
		r: f.Overall.PearsonR, mcse: f.MCSE, n: int32(f.Overall.N), points: s.pointsOf(f),
		round: int32(round), model: uint8(m), there: true, ranked: f.Overall.Defined, unsure: f.MCSEUnknown,
	}
	if before := s.places[set]; before.there && cmp.Or(
		order(p.ranked, before.ranked), cmp.Compare(p.n, before.n), cmp.Compare(p.round, before.round)) < 0 {
		return false
	}
	s.places[set] = p
	// The best stays so when it gets a later fit, even of a lower r: it then has more runs than
	// all that it was better than.
	if at := s.best[m]; !p.ranked || at >= 0 && at != set && s.Compare(set, at) > 0 {
		return false
	}
	s.best[m] = set
	return true
}

// AddJob takes the fits of a score job, one a parameter set or none, in any round.
func (s *Standing) AddJob(job *Job, fits []result.Fit) {
	for i := range fits {
		if job.Stage == ReportStage {
			s.Report(job.Sets[i].Model, job.Index(i), &fits[i])
		} else {
			s.Add(job.Sets[i].Model, job.Index(i), job.Round, &fits[i])
		}
	}
}

// Report takes the fit of a parameter set in the report.
func (s *Standing) Report(model string, set int, f *result.Fit) {
	s.most = max(s.most, f.Overall.N)
	s.reported[set] = Place{N: f.Overall.N, PearsonR: f.Overall.PearsonR, Defined: f.Overall.Defined, MCSE: f.MCSE, MCSEUnknown: f.MCSEUnknown}
	s.chosen[s.model(model)] = set
}

// model is the number of a model.
func (s *Standing) model(name string) int {
	m := slices.Index(s.models, name)
	if m < 0 {
		m = len(s.models)
		s.models, s.best, s.chosen = append(s.models, name), append(s.best, -1), append(s.chosen, -1)
	}
	return m
}

// pointsOf numbers the points that a fit has. From the step on where a posterior is
// undefined it stays so, so that of each stimulus the number of points says which they are.
func (s *Standing) pointsOf(f *result.Fit) int32 {
	var key []byte
	for i := range f.ByStimulus {
		key = binary.AppendUvarint(key, uint64(f.ByStimulus[i].N))
	}
	if key == nil {
		key = binary.AppendUvarint(key, uint64(f.Overall.N))
	}
	number, ok := s.points[string(key)]
	if !ok {
		number = int32(len(s.points))
		s.points[string(key)] = number
	}
	return number
}

// Compare orders parameter sets by rank, for sorting: negative if a ranks before b. Those
// without a defined r come last, in the order of the plan.
func (s *Standing) Compare(a, b int) int {
	x, y := s.at(a), s.at(b)
	if !x.ranked || !y.ranked {
		return cmp.Or(order(y.ranked, x.ranked), cmp.Compare(a, b))
	}
	return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(y.round, x.round), cmp.Compare(y.r, x.r), cmp.Compare(a, b))
}

// order is that of false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// at is the place of a parameter set; the zero place without a fit.
func (s *Standing) at(set int) place {
	if set >= len(s.places) {
		return place{}
	}
	return s.places[set]
}

// Best is the index of a model's best parameter set. It is not ok if none has a defined r.
func (s *Standing) Best(model string) (set int, ok bool) {
	m := slices.Index(s.models, model)
	switch {
	case m < 0:
		return 0, false
	case s.chosen[m] >= 0:
		return s.chosen[m], true
	}
	return s.best[m], s.best[m] >= 0
}

// Place is the fit by which a parameter set ranks. It is not ok without one.
func (s *Standing) Place(set int) (p Place, ok bool) {
	x := s.at(set)
	return Place{Round: int(x.round), N: int(x.n), PearsonR: x.r, Defined: x.ranked, MCSE: x.mcse, MCSEUnknown: x.unsure, Complete: s.complete(int(x.n))}, x.there
}

// Reported is the fit of a parameter set in the report, Round aside. It is not ok without one.
func (s *Standing) Reported(set int) (p Place, ok bool) {
	p, ok = s.reported[set]
	p.Complete = s.complete(p.N)
	return p, ok
}

// complete reports whether n is the number of all points.
func (s *Standing) complete(n int) bool { return n >= s.most }

// Points is the number of points that a complete parameter set has.
func (s *Standing) Points() int { return s.most }

// Ranking lists the parameter sets of a model that have a fit, the best first.
func (s *Standing) Ranking(model string) []int {
	var all []int
	m := slices.Index(s.models, model)
	for set := range s.places {
		if p := &s.places[set]; p.there && int(p.model) == m {
			all = append(all, set)
		}
	}
	slices.SortFunc(all, s.Compare)
	return all
}

// Rivals lists the parameter sets of a model with a defined r over the same points as that
// of the best, which is among them, in the order of the plan. Only these are compared with
// each other.
func (s *Standing) Rivals(model string) []int {
	best, ok := s.Best(model)
	if !ok {
		return nil
	}
	var all []int
	for set := range s.places {
		if s.Rival(set, best) {
			all = append(all, set)
		}
	}
	return all
}

// Rival says whether two parameter sets of a model have a defined r over the same points.
func (s *Standing) Rival(a, b int) bool {
	x, y := s.at(a), s.at(b)
	return x.ranked && y.ranked && x.model == y.model && (x.points == y.points || s.complete(int(x.n)) && s.complete(int(y.n)))
}
