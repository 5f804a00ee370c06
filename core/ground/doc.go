// Package ground turns a parsed problem into a task: operators, interned states and
// their cached successors.
//
// Read [Task] and [Successor] first.
//
// # Semantics
//
// An effect deletes first and adds then; conditions, values and arguments in effects
// are those of the old state. Operators whose precondition is statically false are left
// out. Facts that nothing states are false.
//
// A reference to a fluent without a value is an error of [New] where it can be known:
// where no action changes the function. Otherwise, as with a division by zero, the
// condition is undefined: not known to be true nor false, so that (or p undefined) is
// true if p is, and (not undefined) is undefined. An undefined precondition or goal does
// not hold, a conditional effect with an undefined condition does not take place, and
// an operator with an undefined value in an effect is not applicable. Nor is one whose
// conditional effects assign a fluent twice; several increases and decreases, or
// several scalings, add up.
//
// Derived predicates hold only by their rules. Those that refer to themselves take
// objects only and no negation of themselves, and mean the least fixed point.
package ground
