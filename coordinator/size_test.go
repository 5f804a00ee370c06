package coordinator_test

import (
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// TestSizes: what would be too large is refused before any work, and there is one limit. A report of which one job would
// be too large is done in several.
func TestSizes(t *testing.T) {
	if sweep.MaxResultBytes > engine.MaxResult {
		t.Errorf("a result may have %d bytes, and the engine keeps %d", sweep.MaxResultBytes, engine.MaxResult)
	}
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.staged(1, 1)
		m.Stimuli[0].Actions = 2000
		m.Stimuli[0].JudgementSteps = nil
		for step := range int32(2001) {
			m.Stimuli[0].JudgementSteps = append(m.Stimuli[0].JudgementSteps, step)
		}
		m.Config.Fit = &foiblev1.StageConfig{Runs: 200}
		_, err := c.sweeps.CreateSweep(t.Context(), m)
		wantCode(t, err, codes.InvalidArgument, "stimulus s00: the result of one cell may have 9.3 MiB, more than the 7.9 MiB")

		parts := c.staged(8, 3)
		for _, s := range parts.GetStimuli() {
			s.Stimulus, s.Actions = "long"+s.GetStimulus(), 20_000
		}
		id := c.submit(parts)
		c.work(3, nil)
		s := c.wait(id)
		whole(t, s)
		for _, stage := range s.GetProgress().GetStages() {
			if stage.GetName() == "report" && (stage.GetJobs() != 2*3 || stage.GetCellsDone() != 5*3) {
				t.Errorf("the report has %v", stage)
			}
		}
		before, n := c.export(id)
		c.restart()
		if after, again := c.export(id); n != int(s.GetProgress().GetJobs()) || again != n || string(before) != string(after) {
			t.Errorf("%d results of %d jobs, and %d after a restart", n, s.GetProgress().GetJobs(), again)
		}
	})
}
