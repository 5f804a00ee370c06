package inference

import (
	"math"

	"foible/core/agent"
	"foible/core/ground"
)

// Move is a Metropolis-Hastings move on what a particle's agent had in mind,
// given the states that it has been in. Each leaves the posterior unchanged: it
// draws goals and plans anew from some step on by the agent's own dynamics, so
// the acceptance ratio is that of the probabilities of the actions taken.
type Move string

const (
	NoMove     Move = "none"
	Replan     Move = "replan" // from a step drawn uniformly
	ChangeGoal Move = "goal"   // from the beginning, with an original goal drawn uniformly
	Mixed      Move = "mixed"  // one of both, by a fair coin
)

// trace is what a particle had in mind after a step, back to the first. Traces
// are shared and never changed.
type trace struct {
	before *trace
	mind   agent.Mind
	at     ground.StateID
}

// trace remembers a step if moves need it.
func (f *filter) trace(before *trace, m agent.Mind, at ground.StateID) *trace {
	if f.o.Rejuvenate == NoMove {
		return nil
	}
	return &trace{before: before, mind: m, at: at}
}

// rejuvenate tries one move on a particle that is at step k.
func (f *filter) rejuvenate(q *particle, k int) {
	move := f.o.Rejuvenate
	if move == Mixed {
		if move = Replan; f.rng.IntN(2) == 1 {
			move = ChangeGoal
		}
	}
	if move == ChangeGoal && f.o.PerGoal {
		move = Replan // the goal of a filter is given
	}
	from := 0
	if move == Replan {
		from = f.rng.IntN(k + 1)
	}
	// The steps that stay, newest first, and the states that the others passed through.
	states := make([]ground.StateID, 0, k-from)
	at := q.trace
	var old float64
	for range k - from {
		states = append(states, at.at)
		old += f.logLeading(&at.before.mind, at.before.at, at.at)
		at = at.before
	}
	var made *trace
	switch {
	case from == 0:
		original := int(q.Original)
		if move == ChangeGoal {
			original = f.rng.IntN(f.original)
		}
		made = f.trace(nil, f.agent.Begin(original, at.at, f.rng), at.at)
	default:
		m := at.before.mind
		f.agent.Think(&m, at.at, f.rng)
		made = f.trace(at.before, m, at.at)
	}
	var log float64
	for i := len(states) - 1; i >= 0; i-- {
		log += f.logLeading(&made.mind, made.at, states[i])
		if math.IsInf(log, -1) {
			return
		}
		m := made.mind
		f.agent.Think(&m, states[i], f.rng)
		made = f.trace(made, m, states[i])
	}
	if log < old && f.rng.Float64() >= math.Exp(log-old) {
		return
	}
	q.Mind, q.trace = made.mind, made
}

func (f *filter) logLeading(m *agent.Mind, from, to ground.StateID) float64 {
	return math.Log(f.leading(m, from, to))
}
