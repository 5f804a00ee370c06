package sips

import (
	"context"
	"math"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
)

// Move is a Metropolis-Hastings move on what a particle's agent had in mind,
// given the states that it has been in. Each leaves the posterior unchanged: it
// draws goals and plans anew from some step on by the agent's own dynamics, so
// the acceptance ratio is that of the probabilities of the actions taken.
type Move string

const (
	NoMove     Move = "none"
	Replan     Move = "replan" // from a step drawn uniformly
	ChangeGoal Move = "goal"   // from the beginning, with an original goal drawn uniformly from the filter's
	Mixed      Move = "mixed"  // one of both, by a fair coin
)

// trace is what a particle had in mind when it acted at a state, and before.
// Traces are shared and never changed.
type trace struct {
	before *trace
	mind   agent.Mind
	at     ground.StateID
}

// remember adds what a particle has in mind to its trace, if moves need it.
func (f *filtering) remember(q *particle) {
	if f.o.Rejuvenate != NoMove {
		q.trace = &trace{before: q.trace, mind: q.Mind, at: q.at}
	}
}

// rejuvenate tries one move on a particle that has come to step k, 1 or later. The error
// is that of ctx, if it ends before.
func (f *filtering) rejuvenate(ctx context.Context, p *population, q *particle, k int) error {
	move := f.o.Rejuvenate
	if move == Mixed {
		if move = Replan; f.rng.IntN(2) == 1 {
			move = ChangeGoal
		}
	}
	from := 0
	if move == Replan {
		from = f.rng.IntN(k)
	}
	// Back to that step, by the states that it has come to, newest first.
	f.path = append(f.path[:0], q.at)
	last := q.trace
	old := f.logLeading(&last.mind, last.at, q.at)
	for range k - 1 - from {
		f.path = append(f.path, last.at)
		old += f.logLeading(&last.before.mind, last.before.at, last.at)
		last = last.before
	}
	m, made := agent.Begin(int(q.Original)), last.before
	switch {
	case made != nil:
		m = made.mind
	case move == ChangeGoal:
		m = agent.Begin(p.first + f.rng.IntN(p.goals))
	}
	// Accepted if u < new / old; no action can make up for what others have lost.
	least := old + math.Log(f.rng.Float64())
	at := last.at
	var log float64
	for i := len(f.path) - 1; i >= 0; i-- {
		if _, err := f.agent.Think(ctx, &m, at, f.rng); err != nil {
			return err
		}
		made = &trace{before: made, mind: m, at: at}
		if log += f.logLeading(&m, at, f.path[i]); !(log > least) {
			return nil
		}
		at = f.path[i]
	}
	q.Mind, q.trace = m, made
	return nil
}

func (f *filtering) logLeading(m *agent.Mind, from, to ground.StateID) float64 {
	return math.Log(f.agent.Leading(m, from, to))
}
