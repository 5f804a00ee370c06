package blockwords

import (
	"fmt"
	"strings"

	"foible.dev/foible/core/pddl"
)

// Check finds blocks that stand nowhere or in two places, that carry two blocks, or that
// are said to be clear and carry one, and a hand that is empty and full. It says nothing
// of a domain that lacks a predicate of Block Words.
func Check(p *pddl.Problem) []pddl.Warning {
	for name, arity := range map[string]int{"on": 2, "ontable": 1, "clear": 1, "holding": 1, "handempty": 0} {
		if predicate := p.Domain.Predicate(name); predicate == nil || len(predicate.Parameters) != arity {
			return nil
		}
	}
	c := checked{places: map[string]int{}, carried: map[string]string{}, clear: map[string]*pddl.Atom{}}
	for _, a := range p.Init {
		c.fact(a)
	}
	for _, a := range p.Init {
		if name := strings.ToLower(a.Predicate.Name); name == "clear" {
			if above := c.carried[key(a, 0)]; above != "" {
				c.warn(a.Pos, "%s is clear, and yet %s stands on it", a.Args[0], above)
			}
		} else if name == "handempty" && c.held != "" {
			c.warn(a.Pos, "the hand is empty, and yet holds %s", c.held)
		}
	}
	block := p.Domain.Type("block")
	for _, o := range p.AllObjects() {
		if block == nil || !o.Type.Is(block) {
			continue
		}
		name := strings.ToLower(o.Name)
		switch {
		case c.places[name] == 0:
			c.warn(o.Pos, "block %s stands nowhere", o.Name)
		case c.places[name] > 1:
			c.warn(o.Pos, "block %s is in %d places", o.Name, c.places[name])
		case c.clear[name] == nil && c.carried[name] == "" && !strings.EqualFold(c.held, name):
			c.warn(o.Pos, "nothing stands on block %s, and it is not said to be clear: it cannot be taken", o.Name)
		}
	}
	return c.warnings
}

// checked is what is known of blocks, by their names in small letters.
type checked struct {
	places   map[string]int    // how many it is in
	carried  map[string]string // what stands on it
	clear    map[string]*pddl.Atom
	held     string // what the hand holds
	warnings []pddl.Warning
}

func (c *checked) warn(pos pddl.Pos, format string, args ...any) {
	c.warnings = append(c.warnings, pddl.Warning{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// fact notes where a fact puts a block.
func (c *checked) fact(a *pddl.Atom) {
	switch strings.ToLower(a.Predicate.Name) {
	case "on":
		c.places[key(a, 0)]++
		if other := c.carried[key(a, 1)]; other != "" {
			c.warn(a.Pos, "%s stands on %s, and so does %s", a.Args[0], a.Args[1], other)
		}
		if key(a, 0) == key(a, 1) {
			c.warn(a.Pos, "%s stands on itself", a.Args[0])
		}
		c.carried[key(a, 1)] = a.Args[0].String()
	case "ontable":
		c.places[key(a, 0)]++
	case "holding":
		c.places[key(a, 0)]++
		c.held = a.Args[0].String()
	case "clear":
		c.clear[key(a, 0)] = a
	}
}

func key(a *pddl.Atom, i int) string { return strings.ToLower(a.Args[i].String()) }
