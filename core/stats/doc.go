// Package stats measures how well a model's inferences match people's: the
// correlation over all (stimulus, judgement step, goal) points, its bootstrap
// interval, and the ceiling that the people's own noise sets; and what is asked
// in addition to r: other scores, and which model describes how many participants.
//
// Read [Pearson] first, then [Bootstrap]: it resamples the people once, and is
// then applied to any number of models, so that every model meets the same
// resamples.
//
// A quantity that is undefined (a constant side, too few points) is reported as
// so in a second result; no function returns NaN. Lengths that do not match
// panic. Every sum is taken in a fixed order and every product is rounded
// before it is added, so r and its intervals agree to the bit on all machines.
package stats
