package result

// Prediction is what a parameter set says about one stimulus at its judgement
// steps: [judgement step][goal], without the ones that have no posterior.
type Prediction struct {
	Rows      [][]float64
	Undefined bool // some step has no posterior
	Failed    bool // because the cell could not be computed
	// Runs are the posteriors of single runs, with the rows of Rows; fewer than two
	// say nothing of the Monte-Carlo error.
	Runs Runs
}
