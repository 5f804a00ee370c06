package doorskeysgems

import (
	"fmt"
	"strings"

	"foible.dev/foible/core/pddl"
)

// Check finds what a maze cannot hold: places outside it, an agent, key or gem in a wall,
// and items that lie nowhere or in two places. It says nothing of a problem without a size.
func Check(p *pddl.Problem) []pddl.Warning {
	width, okX := number(p, "width")
	height, okY := number(p, "height")
	if !okX || !okY {
		return nil
	}
	c := checked{size: [2]float64{width.Value, height.Value}, wall: map[[2]float64]bool{}, lies: map[string]bool{}}
	for _, a := range p.Init {
		if xy, ok := coordinates(a); ok && strings.EqualFold(a.Predicate.Name, "wall") {
			c.wall[xy] = true
		}
	}
	for _, a := range p.Init {
		switch xy, ok := coordinates(a); strings.ToLower(a.Predicate.Name) {
		case "wall", "door":
			if ok {
				c.inside(a.Pos, a.String(), xy)
			}
		case "at":
			if ok && len(a.Args) == 3 {
				c.free(a.Pos, a.String(), xy)
				c.item(a)
			}
		}
	}
	x, okX := number(p, "xpos")
	y, okY := number(p, "ypos")
	if okX && okY {
		c.free(x.Pos, "the agent", [2]float64{x.Value, y.Value})
	}
	for _, o := range p.Objects {
		if kind := strings.ToLower(o.Type.Name); (kind == "key" || kind == "gem") && !c.lies[strings.ToLower(o.Name)] && !has(p, o) {
			c.warn(o.Pos, "%s %s lies nowhere", kind, o.Name)
		}
	}
	return c.warnings
}

// checked is a maze that is checked.
type checked struct {
	size     [2]float64 // cells along x and y
	wall     map[[2]float64]bool
	lies     map[string]bool // items, by name in small letters
	warnings []pddl.Warning
}

func (c *checked) warn(pos pddl.Pos, format string, args ...any) {
	c.warnings = append(c.warnings, pddl.Warning{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// inside warns of a place that is not in the maze, and reports whether it is.
func (c *checked) inside(pos pddl.Pos, what string, xy [2]float64) bool {
	for i, n := range xy {
		if n < 1 || n > c.size[i] {
			c.warn(pos, "%s is outside the maze, which has %s by %s cells, from (1, 1)", what,
				pddl.FormatNumber(c.size[0]), pddl.FormatNumber(c.size[1]))
			return false
		}
	}
	return true
}

// free warns of what is outside the maze or in a wall.
func (c *checked) free(pos pddl.Pos, what string, xy [2]float64) {
	if c.inside(pos, what, xy) && c.wall[xy] {
		c.warn(pos, "%s is in a wall", what)
	}
}

// item warns of a key or gem that lies in two places.
func (c *checked) item(a *pddl.Atom) {
	name := strings.ToLower(a.Args[0].String())
	if c.lies[name] {
		c.warn(a.Pos, "%s lies in two places", a.Args[0])
	}
	c.lies[name] = true
}

// coordinates are the last two arguments of a fact, if they are numbers.
func coordinates(a *pddl.Atom) (xy [2]float64, ok bool) {
	if len(a.Args) < 2 {
		return xy, false
	}
	for i, arg := range a.Args[len(a.Args)-2:] {
		n, isNumber := arg.(*pddl.Number)
		if !isNumber {
			return xy, false
		}
		xy[i] = n.Value
	}
	return xy, true
}

// number is the initial value of a function without arguments.
func number(p *pddl.Problem, function string) (pddl.Assignment, bool) {
	for _, v := range p.Values {
		if strings.EqualFold(v.Fluent.Function.Name, function) && len(v.Fluent.Args) == 0 {
			return v, true
		}
	}
	return pddl.Assignment{}, false
}

// has reports whether the agent has an item at first.
func has(p *pddl.Problem, o *pddl.Object) bool {
	for _, a := range p.Init {
		if strings.EqualFold(a.Predicate.Name, "has") && len(a.Args) == 1 && strings.EqualFold(a.Args[0].String(), o.Name) {
			return true
		}
	}
	return false
}
