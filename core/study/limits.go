package study

// limits bound what is read of a study, so that what somebody else has written cannot take up the reader's memory.
type limits struct {
	tableBytes int64 // of a CSV file
	pddlBytes  int64 // of a file of PDDL
	planBytes  int64 // of a plan
	pddlTotal  int64 // of all PDDL and plans
	cells      int   // of a CSV file
	columns    int   // of a CSV file
	cellBytes  int   // of a cell
	stimuli    int
	goals      int // of a stimulus
	steps      int // judgement steps of a stimulus
	answers    int // of participants, each to one judgement step, given or not
}

// studyLimits keep reading the worst study within half a gigabyte.
var studyLimits = limits{
	tableBytes: 32 << 20, pddlBytes: 4 << 20, planBytes: 1 << 20, pddlTotal: 16 << 20,
	cells: 2_000_000, columns: 10_000, cellBytes: 64 << 10,
	stimuli: 10_000, goals: 1000, steps: 1000, answers: 1_000_000,
}
