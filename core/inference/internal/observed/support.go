package observed

import (
	"fmt"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
)

// Support says whether the observed actions up to a step can come from an agent at all.
// That no particle or sampled plan explains them does not show that none can.
type Support int

const (
	UnknownSupport Support = iota
	NoSupport              // the probability is 0
	SomeSupport            // the probability is above 0
)

// Support of the actions up to step k, from 1, with states taken as known. It does not
// search: the probability is shown to be above 0 by an agent that plans one action ahead
// at every step, and to be 0 by an action that neither a slip nor a plan for any goal
// explains.
func (p *Path) Support(k int, parameters *agent.Parameters) Support {
	found := NoSupport
	for candidate := range p.Candidates {
		h := hidden(candidate, p.Goals.Corrupt[candidate])
		if parameters.GoalNoise == 0 {
			h = hidden(candidate, nil)
		}
		switch p.supportOf(&h, k, parameters) {
		case SomeSupport:
			return SomeSupport
		case UnknownSupport:
			found = UnknownSupport
		}
	}
	return found
}

// supportOf is support of one candidate goal.
func (p *Path) supportOf(h *Hidden, k int, parameters *agent.Parameters) Support {
	now := make([]bool, len(h.Goals)) // hidden goals that the agent may have, with some probability for sure
	now[0] = true
	for step := 1; step <= k; step++ {
		next := make([]bool, len(h.Goals))
		for from, has := range now {
			for to := range h.Goals {
				next[to] = next[to] || has && h.passes(from, to, parameters.GoalNoise)
			}
		}
		explained := false // by whatever the agent may have had in mind
		for i, goal := range h.Goals {
			one, may := p.explains(step, goal, parameters)
			next[i] = next[i] && one
			explained = explained || may
		}
		if !explained {
			return NoSupport
		}
		now = next
	}
	for _, has := range now {
		if has {
			return SomeSupport
		}
	}
	return UnknownSupport
}

// passes reports whether a goal transition can lead from one hidden goal to another.
func (h *Hidden) passes(from, to int, noise float64) bool {
	switch {
	case noise == 0 || len(h.Goals) == 1 && h.Share[0] == 0: // it is never confused
		return from == to
	case from == 0 && to == 0:
		return noise < 1 || h.Share[0] > 0
	case from == 0:
		return h.Share[to] > 0
	case to == 0:
		return true
	}
	return from == to && noise < 1
}

// explains reports whether the action observed at a step has a probability above 0 for an
// agent that plans one action ahead for a goal, and whether it may have for one that has
// planned for the goal in whatever way.
func (p *Path) explains(step, goal int, parameters *agent.Parameters) (one, may bool) {
	at, to := p.States[step-1], p.States[step]
	action := p.Action(step)
	c := action.Chances(parameters)
	plans := !p.Task.Satisfies(at, goal) // otherwise the agent stays put
	least := int32(-1)                   // estimate among what can be drawn next
	match, elsewhere := false, false
	estimates := map[ground.StateID]int32{}
	for _, next := range p.Task.Successors(at) {
		if estimate := p.Goals.Heuristic[goal].Estimate(next.State); plans && next.State != at && estimate >= 0 {
			estimates[next.State] = estimate
			if least < 0 || estimate < least {
				least = estimate
			}
		}
	}
	for state, estimate := range estimates {
		drawn := parameters.SearchNoise > 0 || estimate == least // second, after the state itself
		match = match || state == to && drawn
		elsewhere = elsewhere || state != to && drawn
	}
	short := !parameters.Unlimited // a budget of 0 or 1 leaves no plan, one of 2 a plan of one action
	stays := !plans || short
	one = stays && c.Stay > 0 || short && parameters.BudgetQ > 0 && (match && c.Match > 0 || elsewhere && c.Other > 0)
	_, opened := estimates[to]
	may = c.Stay > 0 || c.Other > 0 || opened && c.Match > 0
	return one, may
}

// Vanished says that nothing is left that explains the actions up to step k. Where the
// support is not NoSupport, the reason says what found nothing and what may help.
func (p *Path) Vanished(k int, of Support, nothing, help string) *Undefined {
	at := fmt.Sprintf("at step %d, action %v", k, p.Actions[k-1])
	reason := "zero probability " + at
	if of != NoSupport {
		reason = nothing + " " + at
	}
	if of == SomeSupport {
		reason += "; its probability is above zero: " + help
	}
	return &Undefined{Step: k, Reason: reason}
}
