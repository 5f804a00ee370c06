package sweep

import "fmt"

// Runs are what single runs predict, by run, row and goal. All runs have as many
// rows. The zero value has no runs.
type Runs struct {
	numbers     []float64 // of all runs, row by row
	rows, goals int       // of a run
}

// NewRuns are runs of so many rows and goals each, whose numbers lie end to end. The
// numbers are not copied.
func NewRuns(numbers []float64, rows, goals int) Runs {
	if len(numbers) == 0 {
		return Runs{}
	}
	if size := rows * goals; size == 0 || len(numbers)%size != 0 {
		panic(fmt.Sprintf("sweep: %d numbers of runs, of %d rows of %d goals each", len(numbers), rows, goals))
	}
	return Runs{numbers, rows, goals}
}

// RunsOf are runs given as [run][row][goal], which are copied.
func RunsOf(runs ...[][]float64) Runs {
	var all Runs
	for _, run := range runs {
		all.Add(run)
	}
	return all
}

// Add copies a run, given as [row][goal], behind the others. One without rows adds nothing.
func (r *Runs) Add(run [][]float64) {
	if len(run) == 0 {
		return
	}
	if len(r.numbers) == 0 {
		r.rows, r.goals = len(run), len(run[0])
	}
	if len(run) != r.rows {
		panic(fmt.Sprintf("sweep: a run of %d rows among runs of %d", len(run), r.rows))
	}
	for _, row := range run {
		if len(row) != r.goals {
			panic(fmt.Sprintf("sweep: a row of %d goals among rows of %d", len(row), r.goals))
		}
		r.numbers = append(r.numbers, row...)
	}
}

// Len is the number of runs.
func (r Runs) Len() int {
	if len(r.numbers) == 0 {
		return 0
	}
	return len(r.numbers) / (r.rows * r.goals)
}

// Rows is the number of rows of each run.
func (r Runs) Rows() int { return r.rows }

// Run has the numbers of a run, row by row.
func (r Runs) Run(i int) []float64 {
	size := r.rows * r.goals
	return r.numbers[i*size : (i+1)*size : (i+1)*size]
}

// Row has the numbers of a row of a run, by goal.
func (r Runs) Row(i, row int) []float64 {
	return r.Run(i)[row*r.goals : (row+1)*r.goals : (row+1)*r.goals]
}

// Numbers are those of all runs, end to end.
func (r Runs) Numbers() []float64 { return r.numbers }
