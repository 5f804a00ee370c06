package sweep

import (
	"math"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/stats"
)

// Topping up: of each model that is not exact, the parameter sets that may be its best
// are run again with more runs, in rounds, until one is the best with a probability of
// tieLevel or has had TopUp times the runs. Which they are follows from the fits.

// MaxContenders bounds the parameter sets of a model that are topped up in a round: the
// most probable ones.
const MaxContenders = 64

// topUp is how a plan tops up; the zero value does not.
type topUp struct {
	times  int // most times the runs of the fit stage
	rounds int
	chunks int // of a round
	seed   uint64
}

// contendable is how many parameter sets can be topped up in a round.
func (p *Plan) contendable() int {
	n := 0
	for _, m := range p.models {
		if sets := m.End - m.First; sets > 1 && !model.Find(m.Name).Exact {
			n += min(sets, MaxContenders)
		}
	}
	return n
}

// MostTopUp is what topping up comes to if no model's best is ever clear: cells, and how many
// cells of the fit stage they are as much work as.
func (p *Plan) MostTopUp() (cells int, work float64) {
	of := p.contendable() * len(p.Stimuli)
	for round := 1; round <= p.TopUps(); round++ {
		cells += of
		work += float64(of * p.Times(round))
	}
	return cells, work
}

// newTopUp makes room for as many contenders as there can be.
func (p *Plan) newTopUp(c *Config) topUp {
	contenders := p.contendable()
	if c.TopUp < 2 || contenders == 0 {
		return topUp{}
	}
	most := p.Procedure(c, FitStage).times(c.TopUp)
	each := min(p.CellsPerJob, mostCells(p.Stimuli, most.Runs, most.Detail == DetailJudged))
	t := topUp{times: c.TopUp, chunks: (contenders + each - 1) / each, seed: c.Seed}
	for t.after(t.rounds) < t.times {
		t.rounds++
	}
	return t
}

// TopUps is the number of rounds of topping up.
func (p *Plan) TopUps() int { return p.topUp.rounds }

// Times is how many times the runs of the fit stage a parameter set has had after a round
// of topping up: twice as many each round.
func (p *Plan) Times(round int) int { return p.topUp.after(round) }

func (t *topUp) after(round int) int { return max(1, min(1<<round, t.times)) }

// times is a procedure with n times the runs. Marginal inference samples until its
// errors are small: variances n times smaller are required too, so that there are
// as many times the samples, however far they were within what was asked for before.
func (p Procedure) times(n int) Procedure {
	if n > 1 && p.Method == Marginal {
		p.MCSE /= math.Sqrt(float64(n))
		p.PosteriorSE /= math.Sqrt(float64(n))
	}
	p.Runs *= n
	return p
}

// contenders of a model in a round: the rivals that may be the best, at most MaxContenders. There are none if only one
// may be and had the runs of the round before, or if a rival's Monte-Carlo error is not known. A model without any in
// one round has none in later rounds.
func (p *Plan) contenders(m *ModelSets, round int, s *Standing) []int {
	if model.Find(m.Name).Exact {
		return nil
	}
	var before []int
	for i := range p.of(m, round-1) {
		before = append(before, i)
	}
	if len(before) == 0 {
		return nil
	}
	index := s.Rivals(m.Name)
	var rs, ses []float64
	for _, i := range index {
		at, _ := s.Place(i)
		if at.MCSEUnknown {
			return nil // nothing says which of them may be the best
		}
		rs, ses = append(rs, at.PearsonR), append(ses, at.MCSE)
	}
	if len(index) < 2 {
		return nil
	}
	ties := stats.Ties(rs, ses, random.TieStream(p.topUp.seed, m.Name, round-1))
	if len(ties) == 1 && slices.Contains(before, index[ties[0].Index]) {
		return nil
	}
	var all []int
	for _, t := range ties[:min(len(ties), MaxContenders)] {
		all = append(all, index[t.Index])
	}
	slices.Sort(all)
	return all
}
