package coordinator

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/service"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const (
	// VersionHeader of a call says which version of Foible calls.
	VersionHeader = "foible-version"
	// CoordinatorVersionHeader of an answer says which version answers, if the caller is of another.
	CoordinatorVersionHeader = "foible-coordinator-version"
)

// tellVersion tells a caller of another version which one this coordinator is.
func (c *Coordinator) tellVersion(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	if theirs := md.Get(VersionHeader); len(theirs) > 0 && theirs[0] != c.cfg.Version {
		_ = grpc.SetHeader(ctx, metadata.Pairs(CoordinatorVersionHeader, c.cfg.Version)) // what is answered stands without it
	}
}

// planSamples is how many results of a sweep of another version are compared with the plan of this one.
const planSamples = 64

// samePlan says whether this coordinator plans a sweep as the version did that made it, by a sample of its results: else
// it would take them for those of other cells.
func (c *Coordinator) samePlan(ctx context.Context, run *active.Sweep) error {
	if run.Spec.GetVersion() == c.cfg.Version {
		return nil
	}
	jobs := run.Plan.FitJobs()
	for i := range min(jobs, planSamples) {
		number := i * jobs / min(jobs, planSamples)
		for _, job := range []int{number, run.Plan.ScoreJob(run.Job(number).Chunk)} {
			value, err := c.store.JobResultBytes(ctx, run.ID, job)
			if errors.Is(err, service.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if !run.Sound(job, value) {
				return otherPlan(run.Spec, c.cfg.Version)
			}
		}
	}
	return nil
}

func otherPlan(made *foiblev1.Sweep, version string) error {
	return fmt.Errorf("%w: it was made by version %s, which splits sweeps into other jobs than this coordinator's, %s, and whose results this one cannot read; use that version, or submit the study again",
		service.ErrPrecondition, made.GetVersion(), version)
}
