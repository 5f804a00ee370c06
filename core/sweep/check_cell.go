package sweep

import (
	"errors"
	"fmt"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
)

// What a worker answers is checked against what its job can give, so that an answer which
// only looks like one is not taken for a result. Numbers that are right in kind and range
// and wrong all the same are found by computing them twice.

// slack is how far rounding may carry a number beyond a bound.
const slack = 1e-9

// maxLog bounds the logarithm of a probability, or of a density, of one step.
const maxLog = 1e6

// CheckCell says why a cell cannot be what a procedure gives for a parameter set on a
// stimulus; nil if it can. That its rows are distributions, in the right number, is known
// already.
func (s *Shape) CheckCell(c *result.Cell, set *model.ParameterSet, p *Procedure) error {
	if c.Failed() {
		return checkFailed(c)
	}
	m := model.Find(set.Model)
	switch {
	case m == nil:
		return fmt.Errorf("unknown model %q", set.Model)
	case c.Mistakes != nil && (m.Exact || p.Detail != DetailMistakes), c.Mistakes == nil && !m.Exact && p.Detail == DetailMistakes:
		return fmt.Errorf("with mistakes: %v, where %s are asked for", c.Mistakes != nil, p.Detail)
	case m.Exact != (c.UnreachableFrom != nil):
		return fmt.Errorf("with goals that cannot be reached: %v, of the model %s", c.UnreachableFrom != nil, m.Name)
	}
	switch {
	case m.Exact:
		return checkExact(c)
	case p.Method == SIPS:
		return s.checkFiltered(c, p)
	}
	return checkMarginal(c, p)
}

// checkFailed says what a cell has that could not be computed.
func checkFailed(c *result.Cell) error {
	if len(c.Posterior) > 0 || c.UnreachableFrom != nil || c.Mistakes != nil {
		return errors.New("numbers of a cell that could not be computed")
	}
	return checkExact(c)
}

// checkExact says what a cell has that only one of samples has.
func checkExact(c *result.Cell) error {
	if c.SE != nil || c.Runs.Len() > 0 || c.ESS != nil || c.Alive != nil || c.Evidence != nil || c.LogEvidence != nil || c.Samples != 0 || c.FailedRuns != 0 {
		return errors.New("samples of a model that is exact, or of a cell that could not be computed")
	}
	return nil
}

// checkFiltered checks a cell of sips.
func (s *Shape) checkFiltered(c *result.Cell, p *Procedure) error {
	rows, runs := len(c.Posterior), c.Runs.Len()
	particles := float64(p.ParticlesPerGoal * s.Goals)
	switch {
	case len(c.ESS) != rows || len(c.Alive) != rows || len(c.Evidence) != rows:
		return fmt.Errorf("sample sizes, goals and evidence of %d, %d and %d steps, want %d", len(c.ESS), len(c.Alive), len(c.Evidence), rows)
	case c.LogEvidence != nil || c.Samples != 0:
		return errors.New("evidence by goal, or searches, of a particle filter")
	case !among(c.ESS, 0, particles):
		return fmt.Errorf("an effective sample size beyond that of %v particles", particles)
	case !among(c.Alive, 0, float64(s.Goals)):
		return fmt.Errorf("more than %d goals alive", s.Goals)
	case c.Undefined != nil && c.FailedRuns != p.Runs:
		return fmt.Errorf("%d failed runs of %d, though none reaches the end", c.FailedRuns, p.Runs)
	case c.Undefined == nil && c.FailedRuns >= p.Runs:
		return fmt.Errorf("%d failed runs of %d", c.FailedRuns, p.Runs)
	case c.Undefined == nil && runs > 0 && runs+c.FailedRuns != p.Runs, runs > p.Runs:
		return fmt.Errorf("%d runs, and %d that failed, of %d", runs, c.FailedRuns, p.Runs)
	}
	return checkSampled(c, p, 0.5)
}

// checkMarginal checks a cell of marginal inference.
func checkMarginal(c *result.Cell, p *Procedure) error {
	rows := len(c.Posterior)
	switch {
	case c.ESS != nil || c.Alive != nil || c.FailedRuns != 0:
		return errors.New("particles of marginal inference")
	case len(c.Evidence) != rows || p.Detail != DetailJudged && len(c.LogEvidence) != rows:
		return fmt.Errorf("evidence of %d steps, and by goal of %d, want %d", len(c.Evidence), len(c.LogEvidence), rows)
	case c.Samples < 1:
		return fmt.Errorf("%d searches", c.Samples)
	case c.Runs.Len() != 0 && c.Runs.Len() != p.Runs:
		return fmt.Errorf("%d batches, want %d", c.Runs.Len(), p.Runs)
	}
	for _, row := range c.LogEvidence {
		for _, x := range row {
			if x > maxLog*float64(rows) {
				return fmt.Errorf("evidence of a goal of %v", x)
			}
		}
	}
	return checkSampled(c, p, float64(p.Runs)) // the largest that pseudo-values of p.Runs batches can have
}

// checkSampled checks what cells of samples have in common.
func checkSampled(c *result.Cell, p *Procedure, maxSE float64) error {
	rows := len(c.Posterior)
	if detailed := p.Detail != DetailJudged; detailed && len(c.SE) != rows || !detailed && len(c.SE) > 0 {
		return fmt.Errorf("standard errors of %d steps, of %d that are %s", len(c.SE), rows, p.Detail)
	}
	for _, row := range c.SE {
		if !among(row, 0, maxSE) {
			return fmt.Errorf("standard errors %v", row)
		}
	}
	if most := maxLog * float64(max(1, rows)); !among(c.Evidence, -most, most) {
		return errors.New("evidence beyond what any model can have")
	}
	return nil
}

// among says whether numbers are between two others, which they may touch.
func among(xs []float64, low, high float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !(x >= low-slack && x <= high+slack) })
}
