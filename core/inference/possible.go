package inference

import (
	"fmt"

	"foible/core/agent"
	"foible/core/ground"
)

// support says whether the observed actions up to a step can come from an agent at all.
// Particles and sampled plans that ran out do not tell.
type support int

const (
	unknownSupport support = iota
	noSupport              // the probability is 0
	someSupport            // the probability is above 0
)

// support of the actions up to step k, of states taken as known. It does not search. That
// the probability is above 0 is shown by an agent that plans one action ahead at every
// step; that it is 0, by an action that neither a slip nor the plan for any goal can
// explain.
func (s *SIPS) support(k int, p *agent.Parameters) support {
	found := noSupport
	for candidate := range s.candidates {
		h := newHidden(candidate, s.goals.Corrupt[candidate])
		if p.GoalNoise == 0 {
			h = newHidden(candidate, nil)
		}
		switch s.supportOf(&h, k, p) {
		case someSupport:
			return someSupport
		case unknownSupport:
			found = unknownSupport
		}
	}
	return found
}

// supportOf is support of one candidate goal.
func (s *SIPS) supportOf(h *hidden, k int, p *agent.Parameters) support {
	now := make([]bool, len(h.goals)) // hidden goals that the agent may have, with some probability for sure
	now[0] = true
	for step := 1; step <= k; step++ {
		next := make([]bool, len(h.goals))
		for from, has := range now {
			for to := range h.goals {
				next[to] = next[to] || has && h.passes(from, to, p.GoalNoise)
			}
		}
		explained := false // by whatever the agent may have had in mind
		for i, goal := range h.goals {
			one, may := s.explains(step, goal, p)
			next[i] = next[i] && one
			explained = explained || may
		}
		if !explained {
			return noSupport
		}
		now = next
	}
	for _, has := range now {
		if has {
			return someSupport
		}
	}
	return unknownSupport
}

// passes reports whether a goal transition can lead from one hidden goal to another.
func (h *hidden) passes(from, to int, noise float64) bool {
	switch {
	case noise == 0 || len(h.goals) == 1 && h.share[0] == 0: // it is never confused
		return from == to
	case from == 0 && to == 0:
		return noise < 1 || h.share[0] > 0
	case from == 0:
		return h.share[to] > 0
	case to == 0:
		return true
	}
	return from == to && noise < 1
}

// explains reports whether the action observed at a step has a probability above 0 for an
// agent that plans one action ahead for a goal, and whether it may have for one that has
// planned for the goal in whatever way.
func (s *SIPS) explains(step, goal int, p *agent.Parameters) (one, may bool) {
	at, to := s.states[step-1], s.states[step]
	o := s.observe(step)
	c := o.chances(p)
	plans := !s.task.Satisfies(at, goal) // otherwise the agent stays put
	least := int32(-1)                   // estimate among what can be drawn next
	match, elsewhere := false, false
	estimates := map[ground.StateID]int32{}
	for _, next := range s.task.Successors(at) {
		if estimate := s.goals.Heuristic[goal].Estimate(next.State); plans && next.State != at && estimate >= 0 {
			estimates[next.State] = estimate
			if least < 0 || estimate < least {
				least = estimate
			}
		}
	}
	for state, estimate := range estimates {
		drawn := p.SearchNoise > 0 || estimate == least // second, after the state itself
		match = match || state == to && drawn
		elsewhere = elsewhere || state != to && drawn
	}
	short := !p.Unlimited // a budget of 0 or 1 leaves no plan, one of 2 a plan of one action
	stays := !plans || short
	one = stays && c.stay > 0 || short && p.BudgetQ > 0 && (match && c.match > 0 || elsewhere && c.other > 0)
	_, opened := estimates[to]
	may = c.stay > 0 || c.other > 0 || opened && c.match > 0
	return one, may
}

// vanished says that nothing is left that explains the actions up to step k: what found
// nothing, a support other than none, and what may help.
func (s *SIPS) vanished(k int, of support, nothing, help string) *Undefined {
	at := fmt.Sprintf("at step %d, action %v", k, s.steps[k-1])
	reason := "zero probability " + at
	if of != noSupport {
		reason = nothing + " " + at
	}
	if of == someSupport {
		reason += "; its probability is above zero: " + help
	}
	return &Undefined{Step: k, Reason: reason}
}

// observe is the action that led to a step, as an observer sees it.
func (s *SIPS) observe(step int) observation {
	o := observation{standing: s.states[step] == s.states[step-1]}
	for _, next := range s.task.Successors(s.states[step-1]) {
		o.actions++
		if next.State == s.states[step] {
			o.leading++
		}
	}
	return o
}
