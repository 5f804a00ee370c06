package pddl

import "fmt"

// Requirements that a feature may need.
const (
	typing       = ":typing"
	equality     = ":equality"
	negative     = ":negative-preconditions"
	disjunctive  = ":disjunctive-preconditions"
	existential  = ":existential-preconditions"
	universal    = ":universal-preconditions"
	conditional  = ":conditional-effects"
	numeric      = ":numeric-fluents"
	derivedRules = ":derived-predicates"
)

// implied maps every requirement that is understood to what it stands for.
var implied = map[string][]string{
	":strips":                   nil,
	typing:                      {typing},
	equality:                    {equality},
	negative:                    {negative},
	":negation":                 {negative}, // its name before PDDL 2
	disjunctive:                 {disjunctive},
	existential:                 {existential},
	universal:                   {universal},
	":quantified-preconditions": {existential, universal},
	conditional:                 {conditional},
	":fluents":                  {numeric},
	numeric:                     {numeric},
	derivedRules:                {derivedRules},
	":adl":                      {typing, equality, negative, disjunctive, existential, universal, conditional},
}

// features notes what a source uses against what it requires.
type features struct {
	have     map[string]bool
	warnings []Warning
}

// use warns once of a feature whose requirement is missing.
func (f *features) use(requirement string, pos Pos, what string) {
	if f.have[requirement] {
		return
	}
	f.have[requirement] = true
	f.warnings = append(f.warnings, Warning{pos, fmt.Sprintf("%s needs %q, which (:requirements) does not list", what, requirement)})
}

// require reads (:requirements ...).
func (f *features) require(section *node) []Requirement {
	var rs []Requirement
	for _, n := range section.list[1:] {
		if !n.keyword() {
			refuse(n.pos, `expected a requirement such as ":strips", found %s`, n)
		}
		features, ok := implied[key(n.text)]
		if !ok {
			refuse(n.pos, "requirement %s is not supported", n)
		}
		for _, feature := range features {
			f.have[feature] = true
		}
		rs = append(rs, Requirement{n.pos, n.text})
	}
	return rs
}
