package pddl

import "strings"

// Domain is a parsed domain. Lists are in the order of the source.
type Domain struct {
	Pos
	Name         string
	Requirements []Requirement
	Types        []*Type // without the root type, object
	Constants    []*Object
	Predicates   []*Predicate
	Functions    []*Function
	Derived      []*Derived
	Actions      []*Action
	Warnings     []Warning

	root       *Type
	types      map[string]*Type
	constants  map[string]*Object
	predicates map[string]*Predicate
	functions  map[string]*Function
	actions    map[string]*Action
}

// Requirement is an entry of (:requirements), Name with its colon.
type Requirement struct {
	Pos
	Name string
}

// Type is a type of objects. Parents is empty only for object.
type Type struct {
	Pos
	Name    string
	Parents []*Type
}

// Is reports whether every object of type t is of type u.
func (t *Type) Is(u *Type) bool {
	if t == u {
		return true
	}
	for _, parent := range t.Parents {
		if parent.Is(u) {
			return true
		}
	}
	return false
}

// Types are alternatives: (either a b), or one type. Empty means untyped.
type Types []*Type

// Admit reports whether an object of type t is of one of the types. No types admit all.
func (ts Types) Admit(t *Type) bool {
	for _, u := range ts {
		if t.Is(u) {
			return true
		}
	}
	return len(ts) == 0
}

// Object is a constant of the domain or an object of the problem.
type Object struct {
	Pos
	Name string
	Type *Type
}

// Parameter is a variable where it is declared. Name has its question mark.
type Parameter struct {
	Pos
	Name  string
	Types Types
	// Any says that the parameter may stand for a number as well as for an object:
	// an untyped parameter of a predicate or of the head of a derived predicate.
	Any bool
}

// Predicate is a declared predicate. Derived says that rules define it, not effects.
type Predicate struct {
	Pos
	Name       string
	Parameters []*Parameter
	Derived    bool
}

// Function is a declared numeric function of objects.
type Function struct {
	Pos
	Name       string
	Parameters []*Parameter
}

// Derived is one rule: the predicate holds of the parameters if the body does. Rules of
// the same predicate are alternatives.
type Derived struct {
	Pos
	Predicate  *Predicate
	Parameters []*Parameter
	Body       Formula
}

// Action is an action schema. Precondition and Effect are never nil.
type Action struct {
	Pos
	Name         string
	Parameters   []*Parameter
	Precondition Formula
	Effect       Effect
}

// Object is the root type: every object has it.
func (d *Domain) Object() *Type { return d.root }

// Type is the named type, or nil.
func (d *Domain) Type(name string) *Type { return d.types[key(name)] }

// Predicate is the named predicate, or nil.
func (d *Domain) Predicate(name string) *Predicate { return d.predicates[key(name)] }

// Function is the named function, or nil.
func (d *Domain) Function(name string) *Function { return d.functions[key(name)] }

// Action is the named action, or nil.
func (d *Domain) Action(name string) *Action { return d.actions[key(name)] }

// Problem is a parsed problem of a domain. Goal is nil where the problem has none.
type Problem struct {
	Pos
	Name         string
	Domain       *Domain
	Requirements []Requirement
	Objects      []*Object    // without the domain's constants
	Init         []*Atom      // ground, each once, of predicates that are not derived
	Values       []Assignment // each fluent once
	Goal         Formula
	Warnings     []Warning

	objects map[string]*Object
}

// Assignment is the initial value of a ground fluent.
type Assignment struct {
	Pos
	Fluent *Call
	Value  float64
}

// AllObjects are the domain's constants, then the problem's objects.
func (p *Problem) AllObjects() []*Object {
	all := make([]*Object, 0, len(p.Domain.Constants)+len(p.Objects))
	return append(append(all, p.Domain.Constants...), p.Objects...)
}

// Object is the named constant or object, or nil.
func (p *Problem) Object(name string) *Object {
	k := key(name)
	if o := p.objects[k]; o != nil {
		return o
	}
	return p.Domain.constants[k]
}

// key is what names are compared by.
func key(name string) string { return strings.ToLower(name) }
