// Package samples draws the searches that marginal inference rests on, and keeps them for
// the parameter sets that follow.
//
// A [Table] has the searches for one goal from one state of an observed path. What matters
// of the plan that a search ends with is its [search.Meeting] with the path: how many of
// its actions the agent was seen to take, and whether it ends there. A search without a
// budget passes through the plans of all budgets, so a table is a list of [Event]: from
// which draw on, or at which draw, how many of the searches have a plan with which meeting.
// [Weights] turn events into probabilities for a distribution of budgets. Package marginal
// derives why these are unbiased.
//
// The searches of a table belong to batches, whose spread gives the standard error. Tables
// are sampled in levels, each doubling the searches, so that those which matter
// most can have more of them. What a table has at a level follows from its [Key], goal and
// step only: not from what was sampled before.
package samples
