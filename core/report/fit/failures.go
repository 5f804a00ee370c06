package fit

import (
	"cmp"
	"fmt"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// Failure is why cells of a model could not be computed, in all stages.
type Failure struct {
	Model  string
	Reason string
	Cells  int // that could not be computed for this reason
	Of     int // cells of the model in the fit stage
}

// String says it in one line.
func (f Failure) String() string {
	if f.Cells >= f.Of {
		return fmt.Sprintf("%s: no fit: %s (%s)", f.Model, f.Reason, words.Count(f.Cells, "cell"))
	}
	return fmt.Sprintf("%s: %s of %s could not be computed: %s", f.Model, words.Thousands(f.Cells), words.Count(f.Of, "cell"), f.Reason)
}

// Failures are the causes of failed cells so far, in the order of [model.Models], those of the most cells first.
func (r *Report) Failures() []Failure {
	var all []Failure
	for cause, cells := range r.failedCells {
		cause.Cells = cells
		all = append(all, cause)
	}
	place := func(f *Failure) int {
		return slices.IndexFunc(model.Models, func(m model.Model) bool { return m.Name == f.Model })
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), cmp.Compare(b.Cells, a.Cells), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// fail writes why a parameter set has no fit, or no cells of some stimuli.
func (r *Report) fail(g *sweep.Gathered) error {
	if g.Fit == nil {
		r.Manifest.Complete = false
		for _, reason := range g.Failures {
			if err := r.addFailure(g, nil, reason); err != nil {
				return err
			}
		}
	}
	for i, cell := range g.Cells {
		if cell == nil || !cell.Failed() {
			continue
		}
		r.Manifest.Complete = false
		if err := r.addFailure(g, r.study.Stimuli[i].ID, cell.Undefined.Reason); err != nil {
			return err
		}
		r.failedCells[Failure{Model: g.Set.Model, Reason: cell.Undefined.Reason, Of: r.Manifest.Parameters[g.Set.Model] * len(g.Cells)}]++
	}
	return nil
}

// addFailure writes a row; the stimulus is nil of a job that is not of one.
func (r *Report) addFailure(g *sweep.Gathered, stimulus any, reason string) error {
	if err := r.openOnce(&r.failed, "failures"); err != nil {
		return err
	}
	return r.failed.Row(r.key(g, stimulus, reason)...)
}

// outcomeOf says why a cell has no posterior from some step on.
func outcomeOf(u *result.Undefined) string {
	if u.Failed {
		return "could not be computed: " + u.Reason
	}
	return u.Reason
}
