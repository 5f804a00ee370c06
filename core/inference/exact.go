package inference

import (
	"encoding/binary"
	"fmt"
	"math"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/search"
)

// leastSearch is the probability below which a search is not followed.
const leastSearch = 1e-10

// Enumerate computes what [SIPS.Run] estimates, by a forward recursion over all
// that the agent may have in mind: original goal, goal, what is left of its plan,
// and its state. Of the options only those of the observation count; the run has
// no ESS and no Alive. It is meant for tests and tiny tasks, and shares with the
// filter nothing but agent.Probability.
func (s *SIPS) Enumerate(p agent.Parameters, o Options) (*Run, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	e := &enumeration{SIPS: s, agent: p, o: o, ids: map[string]int32{}, outcomes: map[thought][]weighed{}}
	e.plan(nil) // has id 0
	if !p.Unlimited {
		e.budget = p.BudgetProbabilities(leastSearch)
	}
	var begin, minds mass
	for goal := range int32(s.original) {
		e.changeGoal(thought{original: goal, goal: goal, plan: none, at: s.states[0]}, 1/float64(s.original), &begin)
	}
	if err := e.think(&begin, &minds); err != nil {
		return nil, err
	}
	run := &Run{Undefined: s.failed}
	e.note(run, &minds)
	run.Evidence[0] = 0
	for k := 1; k < len(s.states); k++ {
		next, err := e.step(&minds, k)
		if err != nil {
			return nil, err
		}
		if next.sum() == 0 {
			run.Undefined = &Undefined{Step: k, Reason: fmt.Sprintf("zero probability at step %d, action %v", k, s.steps[k-1])}
			return run, nil
		}
		e.note(run, next)
		minds = *next
	}
	return run, nil
}

// thought is all that an agent's future depends on.
type thought struct {
	original, goal int32
	plan           int32 // what is left of it, by id; none before it has thought
	at             ground.StateID
}

const none = -1

// weighed is a plan with its probability.
type weighed struct {
	plan        int32
	probability float64
}

// mass holds probabilities of thoughts, in a fixed order.
type mass struct {
	thoughts      []thought
	probabilities []float64
	index         map[thought]int
}

func (m *mass) add(t thought, p float64) {
	if p == 0 {
		return
	}
	i, ok := m.index[t]
	if !ok {
		if m.index == nil {
			m.index = map[thought]int{}
		}
		i = len(m.thoughts)
		m.index[t] = i
		m.thoughts, m.probabilities = append(m.thoughts, t), append(m.probabilities, 0)
	}
	m.probabilities[i] += p
}

func (m *mass) sum() float64 {
	var sum float64
	for _, p := range m.probabilities {
		sum += p
	}
	return sum
}

// enumeration is one run.
type enumeration struct {
	*SIPS
	agent    agent.Parameters
	o        Options
	budget   []float64
	plans    [][]search.Step // by id
	ids      map[string]int32
	outcomes map[thought][]weighed // of thinking about a goal at a state
}

// plan is the id of a plan.
func (e *enumeration) plan(steps []search.Step) int32 {
	var key []byte
	for _, step := range steps {
		key = binary.AppendVarint(key, int64(step.Operator))
		key = binary.AppendVarint(key, int64(step.State))
	}
	id, ok := e.ids[string(key)]
	if !ok {
		id = int32(len(e.plans))
		e.ids[string(key)] = id
		e.plans = append(e.plans, steps)
	}
	return id
}

// changeGoal adds what the goal transition makes of a thought.
func (e *enumeration) changeGoal(t thought, p float64, into *mass) {
	corrupt := e.goals.Corrupt[t.original]
	if len(corrupt) == 0 {
		into.add(t, p)
		return
	}
	into.add(t, p*(1-e.agent.GoalNoise))
	p *= e.agent.GoalNoise
	if t.goal != t.original {
		t.goal = t.original
		into.add(t, p)
		return
	}
	for _, goal := range corrupt {
		t.goal = int32(goal)
		into.add(t, p/float64(len(corrupt)))
	}
}

// think gives a plan to those that have none.
func (e *enumeration) think(from, into *mass) error {
	for i, t := range from.thoughts {
		if t.plan != none && len(e.plans[t.plan]) > 0 {
			into.add(t, from.probabilities[i])
			continue
		}
		made, err := e.search(int(t.goal), t.at)
		if err != nil {
			return err
		}
		for _, w := range made {
			t.plan = w.plan
			into.add(t, from.probabilities[i]*w.probability)
		}
	}
	return nil
}

// search is all plans for a goal from a state.
func (e *enumeration) search(goal int, at ground.StateID) ([]weighed, error) {
	key := thought{goal: int32(goal), at: at}
	if made, ok := e.outcomes[key]; ok {
		return made, nil
	}
	outcomes, err := search.Outcomes(e.task, at, goal, e.goals.Heuristic[goal], e.agent.SearchNoise, e.budget, leastSearch)
	if err != nil {
		return nil, err
	}
	var made []weighed
	for _, o := range outcomes {
		made = append(made, weighed{e.plan(o.Path), o.Probability})
	}
	e.outcomes[key] = made
	return made, nil
}

// step takes all thoughts from step k-1 to k. The sum of what it returns is the
// probability of the observation.
func (e *enumeration) step(minds *mass, k int) (*mass, error) {
	var acted, next mass
	for i, t := range minds.thoughts {
		plan := e.plans[t.plan]
		intended := agent.Noop
		if len(plan) > 0 {
			intended = plan[0].Operator
		}
		successors := e.task.Successors(t.at)
		act := func(action ground.OperatorID, to ground.StateID) {
			p := minds.probabilities[i] * e.agent.Probability(action, intended, len(successors)) * e.seen(to, k)
			after := thought{t.original, t.goal, none, to}
			if len(plan) > 0 && plan[0].State == to {
				after.plan = e.plan(plan[1:])
			}
			e.changeGoal(after, p, &acted)
		}
		for _, s := range successors {
			act(s.Operator, s.State)
		}
		act(agent.Noop, t.at)
	}
	return &next, e.think(&acted, &next)
}

// seen is the probability of the observation at step k in a state, relative to that in the state it shows.
func (e *enumeration) seen(at ground.StateID, k int) float64 {
	observed := e.states[k]
	switch {
	case at == observed:
		return 1
	case e.o.Exact:
		return 0
	}
	facts, squares := e.task.Difference(at, observed)
	p := math.Pow(e.o.PredicateNoise/(1-e.o.PredicateNoise), float64(facts))
	if squares > 0 {
		p *= math.Exp(-squares / (2 * e.o.FluentNoise * e.o.FluentNoise))
	}
	return p
}

// note adds a step to the run, and makes the probabilities sum to 1.
func (e *enumeration) note(run *Run, m *mass) {
	sum := m.sum()
	posterior := make([]float64, e.original)
	for i, t := range m.thoughts {
		m.probabilities[i] /= sum
		posterior[t.original] += m.probabilities[i]
	}
	run.Posterior = append(run.Posterior, posterior)
	run.Evidence = append(run.Evidence, math.Log(sum))
}
