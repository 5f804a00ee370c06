package ground

import "foible.dev/foible/core/pddl"

// walk visits the atoms of a formula, with their polarity, and all its terms, those
// inside others too.
func walk(f pddl.Formula, positive bool, atom func(*pddl.Atom, bool), term func(pddl.Term)) {
	switch f := f.(type) {
	case *pddl.Atom:
		walkTerms(f.Args, term)
		atom(f, positive)
	case *pddl.Compare:
		walkTerms([]pddl.Term{f.Left, f.Right}, term)
	case *pddl.Not:
		walk(f.Body, !positive, atom, term)
	case *pddl.And:
		for _, part := range f.Parts {
			walk(part, positive, atom, term)
		}
	case *pddl.Or:
		for _, part := range f.Parts {
			walk(part, positive, atom, term)
		}
	case *pddl.Imply:
		walk(f.If, !positive, atom, term)
		walk(f.Then, positive, atom, term)
	case *pddl.Quantified:
		walk(f.Body, positive, atom, term)
	}
}

func walkTerms(terms []pddl.Term, visit func(pddl.Term)) {
	for _, term := range terms {
		visit(term)
		switch term := term.(type) {
		case *pddl.Call:
			walkTerms(term.Args, visit)
		case *pddl.Arithmetic:
			walkTerms(term.Args, visit)
		}
	}
}
