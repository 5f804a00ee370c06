package pddl

import "fmt"

// Formula is a condition: one of *Atom, *Compare, *Not, *And, *Or, *Imply, *Quantified.
// String prints it as PDDL.
type Formula interface {
	fmt.Stringer
	Position() Pos
	formula()
}

// Atom is a predicate of terms.
type Atom struct {
	Pos
	Predicate *Predicate
	Args      []Term
}

// Compare relates two numbers by =, <, <=, > or >=, or two objects by =.
type Compare struct {
	Pos
	Op          string
	Left, Right Term
}

// Not is negation.
type Not struct {
	Pos
	Body Formula
}

// And is conjunction; without parts it is true.
type And struct {
	Pos
	Parts []Formula
}

// Or is disjunction; without parts it is false.
type Or struct {
	Pos
	Parts []Formula
}

// Imply is material implication.
type Imply struct {
	Pos
	If, Then Formula
}

// Quantified is (forall ...) where All, else (exists ...).
type Quantified struct {
	Pos
	All        bool
	Parameters []*Parameter
	Body       Formula
}

func (*Atom) formula()       {}
func (*Compare) formula()    {}
func (*Not) formula()        {}
func (*And) formula()        {}
func (*Or) formula()         {}
func (*Imply) formula()      {}
func (*Quantified) formula() {}

// Term is an argument: one of *Variable, *Constant, *Number, *Call, *Arithmetic. The
// last three are numbers; a variable is one if its parameter is Any and stands for one.
type Term interface {
	fmt.Stringer
	Position() Pos
	term()
}

// Variable is a use of a parameter.
type Variable struct {
	Pos
	Parameter *Parameter
}

// Constant is a use of an object.
type Constant struct {
	Pos
	Object *Object
}

// Number is a literal.
type Number struct {
	Pos
	Value float64
}

// Call is a numeric fluent; its arguments are objects. Bare says that a function
// without parameters was written without parentheses.
type Call struct {
	Pos
	Function *Function
	Args     []Term
	Bare     bool
}

// Arithmetic is +, * of two or more, / of two, - of one or two.
type Arithmetic struct {
	Pos
	Op   string
	Args []Term
}

func (*Variable) term()   {}
func (*Constant) term()   {}
func (*Number) term()     {}
func (*Call) term()       {}
func (*Arithmetic) term() {}

// Effect is one of *Literal, *Assign, *Both, *When, *Each.
type Effect interface {
	fmt.Stringer
	Position() Pos
	effect()
}

// Literal makes an atom true, or false where Delete.
type Literal struct {
	Pos
	Delete bool
	Atom   *Atom
}

// Assign changes a fluent. Op is assign, increase, decrease, scale-up or scale-down.
type Assign struct {
	Pos
	Op     string
	Fluent *Call
	Value  Term
}

// Both is the conjunction of effects.
type Both struct {
	Pos
	Parts []Effect
}

// When is an effect that takes place if a condition holds in the old state.
type When struct {
	Pos
	If   Formula
	Then Effect
}

// Each is an effect for all objects: (forall ...).
type Each struct {
	Pos
	Parameters []*Parameter
	Body       Effect
}

func (*Literal) effect() {}
func (*Assign) effect()  {}
func (*Both) effect()    {}
func (*When) effect()    {}
func (*Each) effect()    {}
