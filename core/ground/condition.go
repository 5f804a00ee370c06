package ground

import "foible.dev/foible/core/pddl"

// truth is a value of Kleene's strong three-valued logic: a conjunction is the least of
// its parts, a disjunction the greatest.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth { return yes - t }

// condition is a compiled formula: parameters are bound, quantifiers expanded, static
// parts folded.
type condition struct {
	kind   conditionKind
	id     int32         // of a fact or a derived instance; the predicate of a lookup
	static bool          // of a lookup
	op     string        // of a comparison
	terms  []*expression // of a lookup or a comparison; the arguments that rules were applied to
	parts  []*condition
	source pddl.Formula
	reason *pddl.Error // why a condition is never defined
}

type conditionKind uint8

const (
	never conditionKind = iota
	always
	neverDefined // of a fluent that has no value in any state
	fact         // a bit of the state
	lookup       // a fact whose arguments are known in a state only
	comparison
	negation
	conjunction
	disjunction
	instance // of a derived predicate
	applied  // the rules of a derived predicate, undefined if an argument is
)

var (
	falsity  = &condition{kind: never}
	validity = &condition{kind: always}
)

// folded is a condition of known truth.
func folded(t truth) *condition {
	if t == yes {
		return validity
	}
	return falsity
}

func negate(c *condition, source pddl.Formula) *condition {
	switch c.kind {
	case never:
		return validity
	case always:
		return falsity
	case neverDefined:
		return c
	case negation:
		return c.parts[0]
	}
	return &condition{kind: negation, parts: []*condition{c}, source: source}
}

// join is a conjunction or disjunction without what does not matter to it.
func join(kind conditionKind, parts []*condition, source pddl.Formula) *condition {
	neutral, decisive := always, never
	if kind == disjunction {
		neutral, decisive = never, always
	}
	var kept []*condition
	for _, part := range parts {
		switch part.kind {
		case decisive:
			return &condition{kind: decisive}
		case neutral:
		case kind:
			kept = append(kept, part.parts...)
		default:
			kept = append(kept, part)
		}
	}
	switch len(kept) {
	case 0:
		return &condition{kind: neutral}
	case 1:
		return kept[0]
	}
	return &condition{kind: kind, parts: kept, source: source}
}

// undefinedPart finds a part that is never defined.
func (c *condition) undefinedPart() *condition {
	if c.kind == neverDefined {
		return c
	}
	for _, part := range c.parts {
		if found := part.undefinedPart(); found != nil {
			return found
		}
	}
	return nil
}

// holds evaluates c in the loaded state.
func (t *Task) holds(c *condition) truth {
	switch c.kind {
	case never:
		return no
	case always:
		return yes
	case fact:
		return truthOf(hasBit(t.facts, c.id))
	case lookup:
		return t.lookUp(c)
	case comparison:
		return compare(c.op, c.terms[0].value(t.fluents), c.terms[1].value(t.fluents))
	case negation:
		return t.holds(c.parts[0]).not()
	case conjunction:
		return t.all(c.parts)
	case disjunction:
		return t.any(c.parts)
	case instance:
		return t.derive(c.id)
	case applied:
		if _, ok := t.evaluate(c.terms); ok {
			return t.holds(c.parts[0])
		}
	}
	return unknown
}

func (t *Task) all(parts []*condition) truth {
	least := yes
	for _, part := range parts {
		if least = min(least, t.holds(part)); least == no {
			break
		}
	}
	return least
}

func (t *Task) any(parts []*condition) truth {
	greatest := no
	for _, part := range parts {
		if greatest = max(greatest, t.holds(part)); greatest == yes {
			break
		}
	}
	return greatest
}

// hasBit reports whether a fact is in the bits of a state.
func hasBit(facts []uint64, id int32) bool { return facts[id>>6]>>(id&63)&1 == 1 }

func (t *Task) lookUp(c *condition) truth {
	args, ok := t.evaluate(c.terms)
	if !ok {
		return unknown
	}
	if c.static {
		return truthOf(t.static.find(c.id, args) >= 0)
	}
	id := t.dynamic.find(c.id, args)
	return truthOf(id >= 0 && hasBit(t.facts, id))
}

// evaluate is the values of terms, valid until the next call; not ok if one is
// undefined.
func (t *Task) evaluate(terms []*expression) ([]value, bool) {
	args := t.args[:0]
	for _, term := range terms {
		v := term.value(t.fluents)
		if v == undefined {
			return nil, false
		}
		args = append(args, v)
	}
	t.args = args
	return args, true
}

func compare(op string, left, right value) truth {
	if left == undefined || right == undefined {
		return unknown
	}
	switch op {
	case "=":
		return truthOf(left == right)
	case "<":
		return truthOf(left.float() < right.float())
	case "<=":
		return truthOf(left.float() <= right.float())
	case ">":
		return truthOf(left.float() > right.float())
	default:
		return truthOf(left.float() >= right.float())
	}
}

// guard is a condition split into facts, by words of the state, and the rest.
type guard struct {
	words []guardWord
	rest  []*condition
}

type guardWord struct {
	word       int32
	care, want uint64
}

// guardOf splits c; not ok if it can never hold.
func guardOf(c *condition) (g guard, ok bool) {
	parts := []*condition{c}
	if c.kind == conjunction {
		parts = c.parts
	}
	for _, part := range parts {
		positive, bit := part, uint64(1)
		if part.kind == negation {
			positive, bit = part.parts[0], 0
		}
		switch {
		case part.kind == always:
		case part.kind == never, positive.kind == fact && !g.require(positive.id, bit):
			return guard{}, false
		case positive.kind != fact:
			g.rest = append(g.rest, part)
		}
	}
	return g, true
}

// require adds a fact to the guard; false if it contradicts one that is there.
func (g *guard) require(id int32, bit uint64) bool {
	word, shift := id>>6, id&63
	for i := range g.words {
		if w := &g.words[i]; w.word == word {
			if w.care>>shift&1 == 1 && w.want>>shift&1 != bit {
				return false
			}
			w.care |= 1 << shift
			w.want |= bit << shift
			return true
		}
	}
	g.words = append(g.words, guardWord{word, 1 << shift, bit << shift})
	return true
}

// admits compares the words of a state's facts.
func (g *guard) admits(facts []uint64) bool {
	for _, w := range g.words {
		if facts[w.word]&w.care != w.want {
			return false
		}
	}
	return true
}

// passes evaluates the guard in the loaded state.
func (t *Task) passes(g *guard) bool {
	return g.admits(t.facts) && (len(g.rest) == 0 || t.all(g.rest) == yes)
}
