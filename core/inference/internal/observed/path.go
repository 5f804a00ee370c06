// Package observed is a stimulus as an observer of a boundedly rational agent sees it: the
// states that the agent passes, how probable each of its actions is by what it intended,
// and which goals it may have had in mind. Particle filter and marginal inference both
// start from here.
package observed

import (
	"fmt"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/search"
)

// Path is what an agent was seen to do, and what it may have wanted. Search keeps buffers,
// so a Path is not safe for concurrent use.
type Path struct {
	Task       *ground.Task
	Goals      agent.Goals      // heuristics of the task's goals, and what each can be confused with
	Candidates int              // the first goals of the task are the candidates
	Actions    []pddl.Step      // as they were given
	States     []ground.StateID // before the first action and after each, as far as they can be followed
	Search     *search.Searcher
	Impossible *Undefined // the first action that cannot be followed; nil if all can
}

// Undefined says from which step on there is no posterior, and why.
type Undefined struct {
	Step   int
	Reason string
}

// Follow follows a plan through a task whose first goals are the candidates.
func Follow(t *ground.Task, goals agent.Goals, candidates int, plan []pddl.Step) *Path {
	p := &Path{Task: t, Goals: goals, Candidates: candidates, Actions: plan, Search: search.New(t)}
	states, _, err := t.Validate(plan)
	p.States = states
	if err != nil {
		k := len(states)
		p.Impossible = &Undefined{Step: k, Reason: fmt.Sprintf("impossible at step %d, action %v", k, plan[k-1])}
	}
	return p
}

// Hidden are the goals that an agent with a given original goal can have.
type Hidden struct {
	Goals []int // indexes in the task; the original goal first
	// Share is the probability that a confusion leads to each. It sums to 1, or is 0
	// everywhere if the goal is never confused.
	Share []float64
}

// Hidden are the goals that an agent can have whose original goal is a candidate.
func (p *Path) Hidden(candidate int) Hidden { return hidden(candidate, p.Goals.Corrupt[candidate]) }

// hidden goals of one that can be confused with each of corrupt, which may have it itself
// and repetitions.
func hidden(goal int, corrupt []int) Hidden {
	h := Hidden{Goals: []int{goal}, Share: []float64{0}}
	at := map[int]int{goal: 0}
	for _, c := range corrupt {
		i, ok := at[c]
		if !ok {
			i = len(h.Goals)
			at[c] = i
			h.Goals, h.Share = append(h.Goals, c), append(h.Share, 0)
		}
		h.Share[i] += 1 / float64(len(corrupt))
	}
	return h
}

// Action is an observed action, to an observer who knows only the states.
type Action struct {
	available int // actions in the state before
	leading   int // how many of them lead to the state observed
	standing  bool
}

// Action is the one that led to a step, from 1.
func (p *Path) Action(step int) Action {
	a := Action{standing: p.States[step] == p.States[step-1]}
	for _, next := range p.Task.Successors(p.States[step-1]) {
		a.available++
		if next.State == p.States[step] {
			a.leading++
		}
	}
	return a
}

// Chances are the probabilities of an observed action by what the agent intended.
type Chances struct {
	Match float64 // it intended an action that leads to the state observed
	Other float64 // it intended an action that leads elsewhere
	Stay  float64 // it intended to stay where it is
	// SlippedMatch and SlippedStay are the parts of Match and of Stay that are slips all
	// the same: another action than the one intended leads to the same state.
	SlippedMatch, SlippedStay float64
}

// Chances of the action for an agent with given parameters.
func (a *Action) Chances(p *agent.Parameters) Chances {
	acting, staying := p.Chances(a.available, false), p.Chances(a.available, true)
	stands := 0.0
	if a.standing {
		stands = 1
	}
	c := Chances{
		Other: float64(float64(a.leading)*acting.Other) + float64(stands*acting.Noop),
		Stay:  float64(float64(a.leading)*staying.Other) + float64(stands*staying.Intended),
	}
	if a.leading > 0 {
		slips := float64(float64(a.leading-1)*acting.Other) + float64(stands*acting.Noop)
		c.Match = acting.Intended + slips
		if c.Match > 0 {
			c.SlippedMatch = slips / c.Match
		}
	}
	if c.Stay > 0 {
		c.SlippedStay = float64(float64(a.leading)*staying.Other) / c.Stay
	}
	return c
}
