package sips

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/search"
)

// Exact is the posterior and the evidence that [Filter.Run] estimates, for tests and
// tiny tasks: a forward recursion over all that the agent may have in mind and all
// states that it may be in, with every way that its searches can go. Of the
// options only how states are observed plays a part.
func (s *Filter) Exact(p agent.Parameters, o Options) (*Run, error) {
	if err := cmp.Or(p.Validate(), o.validateNoise()); err != nil {
		return nil, err
	}
	a, err := agent.New(s.Task, &s.Goals, s.Search, p)
	if err != nil {
		return nil, err
	}
	e := newExact(s, a, o)
	now := hypotheses{}
	for goal := range s.Candidates {
		now.add(agent.Begin(goal), s.States[0], 1/float64(s.Candidates))
	}
	run := &Run{Undefined: s.Impossible}
	run.add(now.goals(s.Candidates), 0)
	for k := 1; k < len(s.States); k++ {
		if now, err = e.think(now); err != nil {
			return nil, fmt.Errorf("step %d: %w", k, err)
		}
		now = e.act(now, s.States[k])
		evidence := now.normalize()
		if evidence == 0 {
			run.Undefined = s.Vanished(k, observed.NoSupport, "", "")
			return run, nil
		}
		run.add(now.goals(s.Candidates), math.Log(evidence))
	}
	return run, nil
}

// hypothesis is a mind at a state.
type hypothesis struct {
	agent.Mind
	at ground.StateID
	p  float64
}

// hypotheses are distinct ones, in the order in which they were found.
type hypotheses struct {
	all   []hypothesis
	index map[string]int
}

func (hs *hypotheses) add(m agent.Mind, at ground.StateID, p float64) {
	if p == 0 {
		return
	}
	var key []byte
	for _, x := range []int32{m.Original, m.Goal, int32(at)} {
		key = binary.AppendVarint(key, int64(x))
	}
	for _, step := range m.Plan {
		key = binary.AppendVarint(binary.AppendVarint(key, int64(step.Operator)), int64(step.State))
	}
	if i, ok := hs.index[string(key)]; ok {
		hs.all[i].p += p
		return
	}
	if hs.index == nil {
		hs.index = map[string]int{}
	}
	hs.index[string(key)] = len(hs.all)
	hs.all = append(hs.all, hypothesis{Mind: m, at: at, p: p})
}

func (hs *hypotheses) goals(n int) []float64 {
	goals := make([]float64, n)
	for _, h := range hs.all {
		goals[h.Original] += h.p
	}
	return goals
}

// normalize scales the probabilities to sum 1 and returns their former sum.
func (hs *hypotheses) normalize() float64 {
	var sum float64
	for _, h := range hs.all {
		sum += h.p
	}
	for i := range hs.all {
		hs.all[i].p /= sum
	}
	return sum
}

type exact struct {
	*Filter
	agent *agent.Agent
	o     Options
	plans map[thought][]search.Outcome
}

func newExact(s *Filter, a *agent.Agent, o Options) *exact {
	return &exact{Filter: s, agent: a, o: o, plans: map[thought][]search.Outcome{}}
}

// thought is what a new plan depends on.
type thought struct {
	goal int32
	at   ground.StateID
}

// think is agent.Think, in all ways that it can go.
func (e *exact) think(hs hypotheses) (hypotheses, error) {
	var next hypotheses
	for _, h := range hs.all {
		for _, change := range e.changes(&h.Mind) {
			m := h.Mind
			m.Goal = change.goal
			if len(m.Plan) > 1 && m.Plan[0].State == h.at {
				m.Plan = m.Plan[1:]
				next.add(m, h.at, h.p*change.p)
				continue
			}
			plans, err := e.search(thought{m.Goal, h.at})
			if err != nil {
				return hypotheses{}, err
			}
			for _, plan := range plans {
				m.Plan = plan.Path
				next.add(m, h.at, h.p*change.p*plan.Probability)
			}
		}
	}
	return next, nil
}

type change struct {
	goal int32
	p    float64
}

// changes are the goals that a mind may have after a goal transition.
func (e *exact) changes(m *agent.Mind) []change {
	noise, corrupt := e.agent.GoalNoise, e.Goals.Corrupt[m.Original]
	if noise == 0 || len(corrupt) == 0 {
		return []change{{m.Goal, 1}}
	}
	p := map[int32]float64{m.Goal: 1 - noise}
	if m.Goal == m.Original {
		for _, goal := range corrupt {
			p[int32(goal)] += noise / float64(len(corrupt))
		}
	} else {
		p[m.Original] += noise
	}
	var changes []change
	for _, goal := range slices.Sorted(maps.Keys(p)) {
		changes = append(changes, change{goal, p[goal]})
	}
	return changes
}

// search is all partial plans that the agent may make, with their probabilities.
func (e *exact) search(t thought) ([]search.Outcome, error) {
	if known, ok := e.plans[t]; ok {
		return known, nil
	}
	atLeast := e.agent.Budget().AtLeast
	if e.agent.Unlimited {
		atLeast = func(int) float64 { return 1 }
	}
	found, err := search.Outcomes(e.Task, &search.Query{From: t.at, Goal: int(t.goal), Heuristic: e.Goals.Heuristic[t.goal], Options: search.Options{Noise: e.agent.SearchNoise}}, atLeast)
	e.plans[t] = found
	return found, err
}

// act is all ways in which the agents may act, each weighted with what is then observed.
func (e *exact) act(hs hypotheses, observed ground.StateID) hypotheses {
	var next hypotheses
	for _, h := range hs.all {
		e.agent.Outcomes(&h.Mind, h.at, func(to ground.StateID, p float64) bool {
			switch {
			case !e.o.Exact:
				p *= math.Exp(e.likelihood(to, observed, &e.o))
			case to != observed:
				p = 0
			}
			next.add(h.Mind, to, h.p*p)
			return true
		})
	}
	return next
}
