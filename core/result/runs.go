package result

import (
	"fmt"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/stats"
)

// Runs are what single runs predict, by run, row and goal. All runs have as many
// rows. The zero value has no runs.
type Runs struct {
	numbers     []float64 // of all runs, row by row
	short       []float32 // in place of numbers: in single precision
	rows, goals int       // of a run
}

// NewRuns are runs with a number of rows and goals each, whose numbers lie end to end. The
// numbers are not copied.
func NewRuns(numbers []float64, rows, goals int) Runs {
	return Runs{numbers: numbers}.of(rows, goals)
}

// ShortRuns are runs in single precision, else as those of [NewRuns].
func ShortRuns(numbers []float32, rows, goals int) Runs {
	return Runs{short: numbers}.of(rows, goals)
}

func (r Runs) of(rows, goals int) Runs {
	n := len(r.numbers) + len(r.short)
	if n == 0 {
		return Runs{}
	}
	if size := rows * goals; size == 0 || n%size != 0 {
		panic(fmt.Sprintf("result: %d numbers of runs, of %d rows of %d goals each", n, rows, goals))
	}
	r.rows, r.goals = rows, goals
	return r
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
	if r.Len() == 0 {
		r.rows, r.goals = len(run), len(run[0])
	}
	if len(run) != r.rows {
		panic(fmt.Sprintf("result: a run of %d rows among runs of %d", len(run), r.rows))
	}
	r.numbers, r.short = r.Numbers(), nil
	for _, row := range run {
		if len(row) != r.goals {
			panic(fmt.Sprintf("result: a row of %d goals among rows of %d", len(row), r.goals))
		}
		r.numbers = append(r.numbers, row...)
	}
}

// Len is the number of runs.
func (r Runs) Len() int {
	n := len(r.numbers) + len(r.short)
	if n == 0 {
		return 0
	}
	return n / (r.rows * r.goals)
}

// Rows is the number of rows of each run.
func (r Runs) Rows() int { return r.rows }

// At is what a run predicts of a goal in a row.
func (r Runs) At(run, row, goal int) float64 {
	i := (run*r.rows+row)*r.goals + goal
	if r.short != nil {
		return float64(r.short[i])
	}
	return r.numbers[i]
}

// AppendRun appends the numbers of a run, row by row.
func (r Runs) AppendRun(b []float64, run int) []float64 {
	size := r.rows * r.goals
	if r.short == nil {
		return append(b, r.numbers[run*size:(run+1)*size]...)
	}
	for _, x := range r.short[run*size : (run+1)*size] {
		b = append(b, float64(x))
	}
	return b
}

// AppendBytes appends the numbers of a run in double precision, little-endian.
func (r Runs) AppendBytes(b []byte, run int) []byte {
	size := r.rows * r.goals
	if r.short != nil {
		return hashing.AppendBytes(b, r.short[run*size:(run+1)*size])
	}
	return hashing.AppendBytes(b, r.numbers[run*size:(run+1)*size])
}

// AppendLeft appends what is left of the mean of the runs without one of them, row by row.
func (r Runs) AppendLeft(b, mean []float64, run int) []float64 {
	size := r.rows * r.goals
	if r.short != nil {
		return leave(b, mean, r.short[run*size:(run+1)*size], r.Len())
	}
	return leave(b, mean, r.numbers[run*size:(run+1)*size], r.Len())
}

// AddLeft adds to the sums of x, and of x with y, what is left of the mean of the runs without
// run k modulo their number, or the mean where there are not two. at are the places of the
// means in a run.
func (r Runs) AddLeft(sums *stats.Moments, mean, y []float64, at []int32, k int) {
	n, size := r.Len(), r.rows*r.goals
	switch {
	case n < 2:
		for i, x := range mean {
			x -= sums.X0
			sums.X += x
			sums.XX += float64(x * x)
			sums.XY += float64(x * y[i])
		}
	case r.short != nil:
		addLeft(sums, &means{mean, y, at, n}, r.short[k%n*size:(k%n+1)*size])
	default:
		addLeft(sums, &means{mean, y, at, n}, r.numbers[k%n*size:(k%n+1)*size])
	}
}

// means are those of n runs, what they are compared with, and their places in a run.
type means struct {
	x, y []float64
	at   []int32
	n    int
}

func addLeft[T float32 | float64](sums *stats.Moments, m *means, run []T) {
	x0, sx, sxx, sxy := sums.X0, sums.X, sums.XX, sums.XY
	times, less := float64(m.n), float64(m.n-1)
	y, at := m.y[:len(m.x)], m.at[:len(m.x)]
	for i, mean := range m.x {
		x := (float64(times*mean)-float64(run[at[i]]))/less - x0
		sx += x
		sxx += float64(x * x)
		sxy += float64(x * y[i])
	}
	sums.X, sums.XX, sums.XY = sx, sxx, sxy
}

func leave[T float32 | float64](b, mean []float64, run []T, n int) []float64 {
	for i, x := range run {
		b = append(b, (float64(float64(n)*mean[i])-float64(x))/float64(n-1))
	}
	return b
}

// Numbers are those of all runs, end to end.
func (r Runs) Numbers() []float64 {
	if r.short == nil {
		return r.numbers
	}
	all := make([]float64, len(r.short))
	for i, x := range r.short {
		all[i] = float64(x)
	}
	return all
}

// Short are the numbers of all runs in single precision, end to end.
func (r Runs) Short() []float32 {
	if r.short != nil || len(r.numbers) == 0 {
		return r.short
	}
	all := make([]float32, len(r.numbers))
	for i, x := range r.numbers {
		all[i] = float32(x)
	}
	return all
}
