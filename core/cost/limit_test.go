package cost_test

import (
	"testing"
	"time"

	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// A job's limit follows from the slowest job like it, by its size: of its stage and of all its models. Before one has
// been seen it is long.
func TestLimit(t *testing.T) {
	sets := make([]model.ParameterSet, 8)
	for i := range sets {
		if i < 4 {
			sets[i].Model = "boltzmann"
			sets[i].Set("alpha", model.Setting{Number: float64(i + 1)})
		} else {
			sets[i].Model = "action-lesioned"
			sets[i].Set("goal_noise", model.Setting{Number: float64(i) / 10})
		}
	}
	shapes := []sweep.Shape{{Stimulus: "short", Goals: 2, Actions: 4}, {Stimulus: "long", Goals: 2, Actions: 14}} // 3 times as long
	plan, err := sweep.NewPlan(sets, shapes, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	sipsInference, fitSize, reportSize := sweep.DefaultsOf(sweep.SIPS)
	e := cost.NewEstimator(plan, &sweep.Config{Inference: sipsInference, Fit: fitSize, Report: reportSize}, epoch)
	e.Joined(epoch, 1, 4)
	e.Joined(epoch, 2, 4)
	now := 0.
	do := func(job int, seconds float64) {
		e.Begun(after(now), job, 1)
		now += seconds
		e.Done(after(now), job, 1)
	}
	check := func(what string, job int, want time.Duration) {
		t.Helper()
		e.Begun(after(now), job, 1)
		if got := e.Limit(job); got != want {
			t.Errorf("%s: the limit of job %d is %v, want %v", what, job, got, want)
		}
		e.Dropped(after(now), job, 1)
	}
	const boltzmannShort, boltzmannLong, otherShort, otherLong = 2, 3, 4, 5
	score, otherScore := plan.ScoreJob(0), plan.ScoreJob(1)
	check("nothing seen", 0, cost.UnseenLimit)
	do(0, 2)
	check("a job like it", boltzmannShort, time.Minute+20*time.Second)
	check("a longer stimulus", boltzmannLong, time.Minute+60*time.Second)
	check("another model", otherShort, cost.UnseenLimit)
	check("a score", score, cost.UnseenLimit)
	do(1, 1)
	check("a faster job changes nothing", boltzmannLong, time.Minute+60*time.Second)
	do(otherLong, 90)
	check("by the size", otherShort, time.Minute+300*time.Second)
	check("of its own model", boltzmannShort, time.Minute+20*time.Second)
	do(score, 3)
	check("a score", otherScore, time.Minute+30*time.Second)
	do(boltzmannLong, 24*3600)
	check("a machine that slept", boltzmannShort, time.Minute+4*20*time.Second)

	// The job of a worker that hangs, done by another one, says nothing of how long jobs take; done by itself after all
	// it does.
	e.Begun(after(now), otherShort, 1)
	now += 3600
	e.Copied(after(now), otherShort, 2)
	now += 30
	e.Done(after(now), otherShort, 2)
	check("done by the second worker", 6, time.Minute+300*time.Second)
	e.Begun(after(now), 6, 1)
	now += 60
	e.Copied(after(now), 6, 2)
	now += 30
	e.Done(after(now), 6, 1)
	check("done by the first", 7, time.Minute+3*900*time.Second)

	plan.Choose(standingOf(plan, func(i int) *result.Fit { return &result.Fit{Overall: result.Correlation{Defined: true}} }))
	report := plan.ReportJobs()
	check("the report", report[0], cost.UnseenLimit)
	do(report[0], 10)
	check("another job of the report", report[1], time.Minute+300*time.Second)
	if got := e.Limit(report[1]); got != cost.UnseenLimit {
		t.Errorf("the limit of a job that no worker has is %v", got)
	}
}
