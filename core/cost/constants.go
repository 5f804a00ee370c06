package cost

import "time"

// The experiments that set these constants:
//
//   - TestRange and TestRangeAtFirst: 100 and 200 made-up sweeps on clusters whose workers come and go. With the
//     constants as they are, the end lies in the range for 83.3 % of the time, the range is 1.40 of what is left wide
//     (median), and 80.5 % of the first ranges told hold the end; [Level] is 80 %. With one constant halved (left) or
//     doubled (right) the same three numbers are
//
//	tailShare    82.9 1.39 78.5   83.8 1.42 82.5
//	tableCells   83.3 1.44 79.5   83.2 1.38 78.0
//	scoreTime    83.2 1.40 80.5   83.7 1.40 80.5
//	unseenModel  82.3 1.33 79.5   85.5 1.53 84.5
//	unseenTable  83.3 1.40 80.5   83.3 1.40 80.5
//	unseenStage  80.4 1.27 78.5   87.2 1.79 84.0
//	unseenScore  83.3 1.40 80.5   83.6 1.40 80.5
//	unlikeJobs   83.3 1.40 80.5   83.6 1.41 82.0
//	misfit       82.6 1.37 80.0   86.1 1.51 82.0
//	smallChange  82.5 1.37 74.5   85.5 1.52 85.0
//	below        76.2 1.23 74.0   87.4 1.60 82.0
//	above        64.7 0.80 57.5   92.4 3.66 94.5
//	maxUnrest    81.7 1.32 71.0   84.6 1.46 82.0
//	memory       82.7 1.36 80.0   84.9 1.51 79.0
//	maxStretch   81.3 1.28 80.5   83.3 1.40 80.5
//	oneJob       81.4 1.32 80.0   85.4 1.53 81.0
//	recent       83.0 1.39 79.5   82.8 1.39 79.5
//	maxOff       83.4 1.38 80.5   83.3 1.40 80.5
//	overdue      83.3 1.36 77.5   81.7 1.47 84.5
//	leastJobs    83.3 1.40 81.0   83.4 1.40 81.0
//	firstJobs    83.4 1.40 83.7   83.4 1.40 77.0
//
//   - TestTopUp has what is assumed of topping up, TestRivals what is assumed of other sweeps at the same time.
//
//   - TestEstimateRange: 1,000 made-up studies, each measured in part by a pilot. For 95 % of them the whole work lies
//     in the range; the aim is 90 % or more.
//
//   - TestEstimate of command/fit: published sweeps, computed whole. The work is off by 2 to 6 %.
//
//   - Profiles of scans of 100,000 parameter sets set perCell: without it, 8.1 s were told of a scan that took 10.9 s.
//
//   - A sweep of 35 jobs with a worker of 1,024 slots that took 30 of them and hung set the limits of jobs: it ended
//     after 11 minutes.

// Of the end of a stage.
const tailShare = 0.25 // of the longest job, for which some slots wait at the end of a stage

// Of a pilot.
const (
	firstPart  = 0.5   // part of the pilot's size until which further stimuli have their first cells measured
	fullPart   = 1.2   // the first stimulus measured in full is one expected to be done by this part of the pilot
	timesFirst = 2     // a group of cells is expected to take this many times what the pilot did for the first cells
	stretch    = 24    // cells in a row that are measured of those that share samples and sizes
	alikes     = 3     // cells that are measured of those that take about as long as each other
	fewRuns    = 3     // runs of each of these
	mostAlike  = 48    // groups of cells that share nothing
	perCell    = 30e-6 // what a cell takes besides inference, to be sent, recorded and scored, in units of work
	telling    = 20.0  // cost of all cells goes as (cost of the first cells)^p, p = telling * first / all, at most 1
	fewStimuli = 3     // fewer say nothing of the variance of r over runs

	unlikeMachine = 0.08  // standard deviation of the logarithm of an estimate, however much has been measured
	unlikeFull    = 0.15  // at least, over stimuli, of the cost of all cells to what the first cells predict
	unlikeSize    = 0.35  // at least, over stimuli, of what the first cells predict to the root of the size
	unlikeKinds   = 0.3   // where some kinds of cells were not met
	nineOfTen     = 1.645 // standard deviations on either side of the middle of a range
)

// Level is the part of sweeps that are to end within the range of an [Estimator].
const Level = 0.8

// Of an estimator: what is assumed of what has not been seen yet, and how sure of it to be.
const (
	tableCells  = 20.0 // a table is as much work as this number of cells
	scoreTime   = 2e-3 // seconds a parameter set
	unseenModel = 0.9  // standard deviation of the logarithm of a model's cost a cell
	unseenTable = 0.65 // of a table's cost
	unseenStage = 0.5  // of how the costs of the report differ from those of the fit stage
	unseenScore = 1.5  // of the cost of scores
	unseenTopUp = 1.0  // of how much there is to top up in a round that has not been reached

	firstContenders = 0.15 // part of the parameter sets that is topped up first
	unlikeJobs      = 0.3  // of a job's cost, before any has been seen
	misfit          = 0.1  // of all costs together, however many jobs have been seen
	unsureRivals    = 0.15 // of the factor by which other sweeps delay this one: times the logarithm of that factor
	smallChange     = 0.1  // of the slots, in the time that a sweep has run, where none has been seen
)

// Of an estimator: how wide a range is, and how fast the past is forgotten.
const (
	below      = 1.3         // standard deviations from the middle to the lower end
	above      = 1.5         // to the upper end
	maxUnrest  = 0.22        // of the variance of the logarithm of the time that is left, for changing slots
	memory     = 0.25        // changes of the slots fade with this part of the time that the sweep has run
	maxStretch = 2.5         // most by which a job's error is scaled up because only a part of the job is left
	oneJob     = 0.1         // more variance of the logarithm of what is left of a single job
	useSpan    = time.Minute // in which the use of slots is forgotten
	recent     = 1. / 16     // weight of a job in how jobs lately differ from what was expected
	maxOff     = 2.          // of the logarithm of a job's cost over the expected one: what is beyond says no more
	maxSteps   = 256         // changes of the number of slots that are remembered
	rateSpan   = 30 * time.Second
	overdue    = 0.4 // a job that takes longer than expected takes so much longer still, of its time so far
	leastJobs  = 4   // nothing is said until this many jobs, or as many as there are slots if more, have been seen,
	firstJobs  = 10  // or 1 / firstJobs of the fit stage's jobs, if that is fewer
)

// Of [Estimator.Limit]: so long that a job that is merely slow is hardly ever meant.
const (
	// leastLimit is added to what jobs like it have taken: machines pause, and small jobs say little.
	leastLimit = time.Minute
	// limitFactor is how much longer than the slowest job like it, by its size, a job may take.
	limitFactor = 10
	// UnseenLimit is how long a job may take while none like it has been seen.
	UnseenLimit = 10 * time.Minute
	// maxRaise is by how much one job may raise what jobs are known to take: that of a machine that was asleep does not
	// count for all.
	maxRaise = 4
)
