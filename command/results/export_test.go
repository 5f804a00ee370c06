package results

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// exporting is a coordinator of a sweep of failed jobs.
type exporting struct {
	foiblev1.SweepServiceClient
	jobs, wrong int // the wrong one answers no job
	sent        int
	endless     bool // nothing comes after the last job
}

func (e *exporting) ExportResults(ctx context.Context, _ *foiblev1.ExportResultsRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[foiblev1.ExportResultsResponse], error) {
	return &exportedResults{exporting: e, ctx: ctx}, nil
}

type exportedResults struct {
	grpc.ServerStreamingClient[foiblev1.ExportResultsResponse]
	*exporting
	ctx context.Context
}

func (r *exportedResults) Recv() (*foiblev1.ExportResultsResponse, error) {
	switch {
	case r.ctx.Err() != nil:
		return nil, status.FromContextError(r.ctx.Err()).Err()
	case r.sent == r.jobs && !r.endless:
		return nil, io.EOF
	case r.sent == r.jobs:
		<-r.ctx.Done()
		return nil, status.FromContextError(r.ctx.Err()).Err()
	}
	job := r.sent
	r.sent++
	if job == r.wrong {
		job = r.jobs
	}
	return &foiblev1.ExportResultsResponse{Job: int32(job), Result: &foiblev1.JobResult{
		Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: "why"}},
	}}, nil
}

// exported is what export makes of so many parameter sets, of which visit is told.
func exported(t *testing.T, ctx context.Context, from *exporting, sets int, visit func() error) error {
	t.Helper()
	all := make([]model.ParameterSet, sets)
	for i := range all {
		all[i] = model.ParameterSet{Model: "boltzmann"}
		all[i].Alpha.Number = float64(i)
	}
	plan, err := sweep.NewPlan(all, []sweep.Shape{{Stimulus: "a", Goals: 2, Actions: 1, JudgementSteps: []int{0}}}, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	from.jobs = plan.Jobs()
	c := &connect.Client{Sweeps: from, Target: connect.Target{Address: "here"}}
	return Export(ctx, c, Selection{Sweep: "s"}, plan, sweep.NewGather(plan, func(sets ...*sweep.Gathered) error {
		for range sets {
			if err := visit(); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestExport(t *testing.T) {
	const sets = 100
	full := errors.New("disk full")
	for name, test := range map[string]struct {
		from   exporting
		failAt int // visit that fails
		stopAt int // visit at which the user interrupts
		want   string
		visits int // at least
	}{
		"all":          {from: exporting{wrong: -1}, visits: sets},
		"disk full":    {from: exporting{wrong: -1}, failAt: 1, want: "disk full", visits: 1},
		"other job":    {from: exporting{wrong: 7}, want: "job 202: job 202 of 202"},
		"interrupted":  {from: exporting{wrong: -1, endless: true}, stopAt: 1, want: cli.ErrInterrupted.Error(), visits: 1},
		"silent, then": {from: exporting{wrong: -1, endless: true}, stopAt: sets, want: cli.ErrInterrupted.Error(), visits: sets},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no goroutine is left
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				visits := 0
				err := exported(t, ctx, &test.from, sets, func() error {
					visits++
					if visits == test.stopAt {
						interrupt()
					}
					if visits == test.failAt {
						return full
					}
					return nil
				})
				if visits < test.visits || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v after %d visits", err, visits)
				}
				if test.failAt > 0 && !errors.Is(err, full) {
					t.Errorf("got %v, want %v", err, full)
				}
			})
		})
	}
}
