// Package cost says what a sweep takes. It knows no clock: whoever uses it says what time there is.
//
// [Estimate] and [Estimator] share one model of a sweep's work. A cell takes a time set by its model, times a factor
// for its stimulus. Tables of searches, which marginal inference makes when a process first meets a stimulus and search
// noise, take as long as some cells, once for each process. A comparison with people follows for each parameter set, then
// the rounds of topping up, the report and its comparisons.
//
//   - Before a sweep, a [Pilot] computes a few of its cells, and an [Estimate] extends them to all: in work that is
//     counted (the same on every machine) and in seconds of one core.
//   - During a sweep, an [Estimator] learns from what jobs have taken when the sweep will end, and after what time a job
//     is overdue ([Estimator.Limit]).
//
// Both give ranges. That of an [Estimate] is wider the more stimuli differed in cost. That of an [Estimator] is wider
// the more jobs differed from what was expected, the less is known of the work to come, and the more the number of
// slots has changed. All assumptions are constants in constants.go, with the experiments that set them.
package cost

import "foible.dev/foible/core/sweep"

// sizeOf is about how much a stimulus asks of inference compared with others: its goals, times the states that are seen.
func sizeOf(s *sweep.Shape) float64 { return float64(max(1, s.Goals) * (max(0, s.Actions) + 1)) }

// moreOf is how many more particles a cell of the report has than one of the fit stage.
func moreOf(c *sweep.Config) float64 {
	return float64(c.Report.Runs*max(1, c.Report.ParticlesPerGoal)) / float64(max(1, c.Fit.Runs)*max(1, c.Fit.ParticlesPerGoal))
}
