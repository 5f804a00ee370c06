package ground

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"foible.dev/foible/core/pddl"
)

// Propositional is a task whose conditions are conjunctions of facts and whose effects
// are unconditional, as relaxed plans need it. Facts are numbered from 0. Negative
// conditions are left out: where deletes are ignored, so are they.
type Propositional struct {
	Facts     int // one more than the facts of a state: the last is never true
	Operators []PropositionalOperator
	Goals     [][]int32 // by Task.Goals

	task *Task
}

// PropositionalOperator is an operator by its facts, each list ascending.
type PropositionalOperator struct {
	Precondition, Add, Delete []int32
}

// Propositional is the propositional view of the task. The error, an *pddl.Error, names
// the first construct that has none.
func (t *Task) Propositional() (*Propositional, error) {
	facts := t.dynamic.len()
	p := &Propositional{Facts: facts + 1, task: t}
	for i := range t.Operators {
		op := &t.Operators[i]
		if err := inexpressible(&op.guard, op); err != nil {
			return nil, err
		}
		if len(op.effects.groups) > 0 {
			return nil, op.effects.groups[0].inexpressible(op)
		}
		p.Operators = append(p.Operators, PropositionalOperator{
			Precondition: op.guard.positive(),
			Add:          bitsOf(op.effects.add),
			Delete:       bitsOf(op.effects.del),
		})
	}
	for i := range t.goals {
		g := &t.goals[i]
		if err := inexpressible(&g.guard, nil); err != nil {
			return nil, err
		}
		if g.never {
			p.Goals = append(p.Goals, []int32{int32(facts)})
			continue
		}
		p.Goals = append(p.Goals, g.guard.positive())
	}
	return p, nil
}

// True appends the facts that are true in s, ascending.
func (p *Propositional) True(s StateID, dst []int32) []int32 {
	for word, w := range p.task.states.record(s)[p.task.states.fluents:] {
		dst = appendBits(dst, int32(word), w)
	}
	return dst
}

func (g *guard) positive() []int32 {
	var words []factWord
	for _, w := range g.words {
		words = append(words, factWord{w.word, w.want})
	}
	return bitsOf(words)
}

func inexpressible(g *guard, op *Operator) error {
	if len(g.rest) == 0 {
		return nil
	}
	f := g.rest[0].source
	of := "the goal"
	if op != nil {
		of = op.String()
	}
	return &pddl.Error{Pos: f.Position(), Message: fmt.Sprintf("%s of %s has no propositional form", f, of)}
}

func (g *group) inexpressible(op *Operator) error {
	var e pddl.Effect
	switch {
	case len(g.literals) > 0:
		e = g.literals[0].source
	default:
		e = g.assigns[0].source
	}
	what := "effect"
	if g.when.kind != always {
		what = "conditional effect"
	}
	return &pddl.Error{Pos: e.Position(), Message: fmt.Sprintf("%s %s of %s has no propositional form", what, e, op)}
}

// bitsOf is the facts of words, ascending.
func bitsOf(words []factWord) []int32 {
	words = slices.SortedFunc(slices.Values(words), func(a, b factWord) int { return cmp.Compare(a.word, b.word) })
	var facts []int32
	for _, w := range words {
		facts = appendBits(facts, w.word, w.bits)
	}
	return facts
}

func appendBits(dst []int32, word int32, w uint64) []int32 {
	for ; w != 0; w &= w - 1 {
		dst = append(dst, 64*word+int32(bits.TrailingZeros64(w)))
	}
	return dst
}
