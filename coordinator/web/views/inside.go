package views

import (
	"time"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// Inside is a sweep seen closely. Nothing in it changes.
type Inside struct {
	Config   sweep.Config
	Sets     []model.ParameterSet
	Stimuli  []sweep.Shape
	Coverage []sweep.Coverage
	Scored   []sweep.Chunk // those whose score job has a result, of the rounds whose parameter sets are known
	Chosen   []int         // indexes into Sets of the report's parameter sets; nil before they are chosen
	Failures []Failure
}

// Failure is a job whose result is a failure, or that has cells which could not be computed.
type Failure struct {
	Job      int
	Cells    bool   // the cells of Sets could not be computed; those of the job's other parameter sets were
	Stage    string // fit, top_up or report
	Score    bool   // a comparison with people
	Stimulus string // of a job that is none
	Sets     []model.ParameterSet
	Reason   string
}

// Worker is one connection of a worker.
type Worker struct {
	Host     string
	Slots    int
	Draining bool
	Joined   time.Time
	Heard    time.Time // its last heartbeat or result
	Left     time.Time // zero: it is connected
	Done     int64     // results of it that were recorded
	Failed   int64     // failures that it reported, and wrong answers, but for those of the computation
	Aside    time.Time // it keeps failing, and is given no jobs before; zero: it is given jobs
	Reason   string    // of its last failure, if it keeps failing
	Lost     int64     // jobs that it has lost to others, because it was not heard of
	Slow     bool      // a job of it was overdue, and no result has come since
	Overdue  int64     // times that a job of it was given to another too, because it took too long
	Jobs     []Job     // that it has, oldest first
}

// Job is one that a worker has.
type Job struct {
	Sweep  string
	Number int
	Since  time.Time
}
