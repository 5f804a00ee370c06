// Package pddl reads planning domains, problems, goals and plans written in PDDL.
//
// Read [Domain] and [Formula] first: a parsed domain is a tree whose names are all
// resolved, so that a variable points at its parameter and an atom at its predicate.
//
// The language is PDDL 2.2 without time: :strips, :typing, :equality,
// :negative-preconditions, :disjunctive-preconditions, :existential-preconditions,
// :universal-preconditions, :quantified-preconditions, :conditional-effects,
// :fluents and :numeric-fluents, :derived-predicates, :adl. It adds one construct: an
// argument of a predicate whose parameter is untyped may be a number or a numeric
// expression, as in (at ?item xpos (+ ypos 1)), in conditions and in effects. Whatever
// else a file holds is refused with its position. Names match without regard to case
// and print as they were declared.
//
// What planners read though the grammar does not have it is read too: a type in several
// lists, which has the supertypes of all of them; parameters of a declared predicate that
// share a name; "(clear?x)" for "(clear ?x)", with a warning; domains and problems of any
// name; :negation; and (:length, which is ignored. Refused are action costs, an object of
// several types, and two actions of one name, since a plan could mean either.
//
// Where a name stands for a term it may be an object, or a function without
// parameters written without its parentheses; a name may not be both.
package pddl
