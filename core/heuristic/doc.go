// Package heuristic estimates how many actions a state is from a goal. Read
// [Table] and [Relaxation] first.
//
// +Inf is a dead end: the goal cannot be reached even if nothing ever became
// false. A satisfied goal is 0 away.
package heuristic
