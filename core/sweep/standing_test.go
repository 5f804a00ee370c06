package sweep_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// standingOf is that of the parameter sets of the rounds that are known, each of which has one fit, or none (nil).
func standingOf(p *sweep.Plan, fit func(i int) *result.Fit) *sweep.Standing {
	s := sweep.NewStanding(0)
	for round := range p.KnownRounds() {
		for chunk := range p.RoundChunks(round) {
			job := p.Job(p.ScoreJob(chunk))
			for i := range job.Sets {
				if f := fit(job.Index(i)); f != nil {
					s.Add(job.Sets[i].Model, job.Index(i), round, f)
				}
			}
		}
	}
	return s
}

// ranked is a fit with an r over some points of each stimulus.
func ranked(r float64, points ...int) *result.Fit {
	f := &result.Fit{Overall: result.Correlation{PearsonR: r, Defined: true}, MCSE: .01}
	for _, n := range points {
		f.Overall.N += n
		f.ByStimulus = append(f.ByStimulus, result.Correlation{N: n})
	}
	return f
}

// best is a model's best, -1 without one.
func best(s *sweep.Standing, model string) int {
	if set, ok := s.Best(model); ok {
		return set
	}
	return -1
}

// A parameter set that loses points does not win by it, and is compared with those alone that have the same.
func TestStandingOfFewerPoints(t *testing.T) {
	s := sweep.NewStanding(16)
	undefined := ranked(.99, 8, 8)
	undefined.Overall.Defined = false
	for set, f := range []*result.Fit{
		ranked(.943, 8, 4), ranked(.915, 8, 8), ranked(.90, 8, 8), ranked(.96, 4, 8), ranked(.97, 0, 8), undefined, nil,
	} {
		if f != nil {
			s.Add("full", set, 0, f)
		}
	}
	s.Add("boltzmann", 7, 0, ranked(.8, 8, 4)) // none of this model is complete
	s.Add("boltzmann", 8, 0, ranked(.7, 8, 4))
	s.Add("boltzmann", 9, 0, ranked(.9, 4, 8)) // the highest r among those with the most points
	s.Add("boltzmann", 10, 0, ranked(.99, 8, 0))
	if got := best(s, "full"); got != 1 {
		t.Errorf("the best of full is %d", got)
	}
	if got := s.Ranking("full"); !slices.Equal(got, []int{1, 2, 3, 0, 4, 5}) {
		t.Errorf("full ranks %v", got)
	}
	if got := s.Rivals("full"); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("%v are compared with the best of full", got)
	}
	if got := best(s, "boltzmann"); got != 9 {
		t.Errorf("the best of boltzmann is %d", got)
	}
	if got := s.Rivals("boltzmann"); !slices.Equal(got, []int{9}) {
		t.Errorf("%v are compared with the best of boltzmann, of as many points but other ones", got)
	}
	for set, complete := range map[int]bool{0: false, 1: true, 2: true, 3: false, 5: true, 9: false} {
		if at, ok := s.Place(set); !ok || at.Complete != complete {
			t.Errorf("set %d: %+v, %v", set, at, ok)
		}
	}
	for _, set := range []int{6, 11, 100} {
		if at, ok := s.Place(set); ok || at.Defined {
			t.Errorf("set %d has no fit, and the place %+v", set, at)
		}
	}
	if best(s, "plan-lesioned") != -1 || s.Ranking("plan-lesioned") != nil || s.Rivals("plan-lesioned") != nil {
		t.Error("a model without a fit has a best")
	}
}

// Where it is not known how many points there are, that of the parameter set with the most counts.
func TestStandingOfUnknownPoints(t *testing.T) {
	s := sweep.NewStanding(0)
	s.Add("full", 0, 0, ranked(.9, 4, 4))
	if at, _ := s.Place(0); !at.Complete || best(s, "full") != 0 {
		t.Errorf("%+v", at)
	}
	s.Add("full", 1, 0, ranked(.1, 4, 5))
	if at, _ := s.Place(0); at.Complete || best(s, "full") != 1 || s.Points() != 9 {
		t.Errorf("%+v, the best is %d", at, best(s, "full"))
	}
}

// A later round stands before an earlier one, but for one with fewer points, or without an r; what has been
// reported has been chosen.
func TestStandingOfRounds(t *testing.T) {
	s := sweep.NewStanding(8)
	s.Add("full", 0, 0, ranked(.9, 8))
	s.Add("full", 1, 0, ranked(.8, 8))
	s.Add("full", 2, 0, ranked(.7, 8))
	if !s.Add("full", 2, 1, ranked(.6, 8)) || best(s, "full") != 2 {
		t.Errorf("the best is %d, not the only one of the last round", best(s, "full"))
	}
	if !s.Add("full", 1, 1, ranked(.65, 8)) {
		t.Error("the best of the last round is not the best")
	}
	if s.Add("full", 1, 2, ranked(.99, 4)) || s.Add("full", 1, 2, &result.Fit{Overall: result.Correlation{N: 8}}) {
		t.Error("a fit of fewer points, or without an r, stands before an earlier one")
	}
	if at, _ := s.Place(1); at.Round != 1 || at.PearsonR != .65 {
		t.Errorf("%+v", at)
	}
	if got := s.Ranking("full"); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("full ranks %v", got)
	}
	s.Report("full", 2, ranked(.5, 4))
	if at, ok := s.Reported(2); best(s, "full") != 2 || !ok || at.Complete || at.N != 4 || at.PearsonR != .5 {
		t.Errorf("the best is %d, reported %+v", best(s, "full"), at)
	}
	if _, ok := s.Reported(1); ok {
		t.Error("another one is reported too")
	}
}

// In whatever order fits come, and come again, they rank alike; the best is the first of the ranking, and
// Add has told so when its fit came.
func TestStandingInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 7))
	type added struct {
		set, round int
		fit        *result.Fit
	}
	for range 300 {
		var all []added
		for set := range 1 + rng.IntN(8) {
			for round := range 1 + rng.IntN(3) {
				f := ranked(float64(rng.IntN(5))/8, 1+rng.IntN(2), 1+rng.IntN(2))
				f.Overall.Defined = rng.IntN(6) > 0
				all = append(all, added{set, round, f})
			}
		}
		var want []int
		for again := range 4 {
			s, told := sweep.NewStanding(0), -1
			for _, k := range append(rng.Perm(len(all)), rng.Perm(len(all))...) {
				if a := all[k]; s.Add("full", a.set, a.round, a.fit) {
					told = a.set
				}
			}
			got := s.Ranking("full")
			if again == 0 {
				want = got
			}
			first := -1
			if at, _ := s.Place(got[0]); at.Defined {
				first = got[0]
			}
			if !slices.Equal(got, want) || best(s, "full") != first || told != first {
				t.Fatalf("%v: they rank %v, then %v; the best is %d, told %d", all, want, got, best(s, "full"), told)
			}
		}
	}
}
