// Package doorskeysgems is the Doors, Keys & Gems domain: an agent walks a
// maze, opens doors with keys that each open one, and takes a gem.
package doorskeysgems

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/pddl"
)

// Name is the domain's name in study.yaml.
const Name = "doors-keys-gems"

// PDDL is the domain.
//
//go:embed domain.pddl
var PDDL []byte

// Goal is the PDDL text of a gem's name: (has gem1). The error names the gems
// that there are.
func Goal(gem string, p *pddl.Problem) (string, error) {
	all := gems(p)
	for _, g := range all {
		if strings.EqualFold(g, gem) {
			return fmt.Sprintf("(has %s)", g), nil
		}
	}
	if len(all) == 0 {
		return "", fmt.Errorf("no gem %q: the problem has no gems", gem)
	}
	return "", fmt.Errorf("no gem %q: the gems are %s", gem, strings.Join(all, ", "))
}

func gems(p *pddl.Problem) []string {
	gem := p.Domain.Type("gem")
	if gem == nil {
		return nil
	}
	var names []string
	for _, o := range p.AllObjects() {
		if o.Type.Is(gem) {
			names = append(names, o.Name)
		}
	}
	return names
}

// Colour is the colour of a gem in figures and pictures, "#rrggbb": that of
// its number if its name ends in one, as in gem2, else that of its place among the goals.
func Colour(goal int, gem string) string { return figure.GoalColour(index(goal, gem)) }

// index is the number of a gem counted from 0, `otherwise` where its name has none.
func index(otherwise int, gem string) int {
	digits := gem[len(strings.TrimRight(gem, "0123456789")):]
	if n, err := strconv.Atoi(digits); err == nil && n > 0 {
		return n - 1
	}
	return otherwise
}
