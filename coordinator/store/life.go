package store

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/service"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// States of a sweep.
const (
	Running      = foiblev1.SweepState_SWEEP_STATE_RUNNING
	Paused       = foiblev1.SweepState_SWEEP_STATE_PAUSED
	Cancelled    = foiblev1.SweepState_SWEEP_STATE_CANCELLED
	Succeeded    = foiblev1.SweepState_SWEEP_STATE_SUCCEEDED
	FailedInPart = foiblev1.SweepState_SWEEP_STATE_FAILED
)

// DefaultPriority is that of a sweep which names none.
const DefaultPriority = 10

// Unended says whether a sweep in a state may still have results.
func Unended(state foiblev1.SweepState) bool { return state == Running || state == Paused }

// SameLife says whether two records are of one life of a sweep: it was neither deleted nor tried again between them.
func SameLife(a, b *foiblev1.Sweep) bool {
	return a.GetRetries() == b.GetRetries() && proto.Equal(a.GetCreateTime(), b.GetCreateTime())
}

// ErrOtherLife refuses what a coordinator would do to a sweep that has begun another life.
var ErrOtherLife = fmt.Errorf("%w: it has been tried again, or deleted", service.ErrPrecondition)

// RetriedOf is what has failed of a sweep; nil if nothing has, or if it is not known.
func RetriedOf(p *foiblev1.Progress) *foiblev1.Retried {
	if p.GetJobsFailed() == 0 && p.GetCellsFailed() == 0 {
		return nil
	}
	return &foiblev1.Retried{Jobs: p.GetJobsFailed(), Cells: p.GetCellsFailed()}
}

// BeginLife makes the record of a sweep that of its next life, in which failures among the results up to a place do not
// count.
func BeginLife(s *foiblev1.Sweep, until uint64) {
	s.Retries, s.RetryDue, s.RetryUntil = s.GetRetries()+1, false, until
	s.EndTime, s.Progress = nil, nil
}

// ErrEnded says why a coordinator of a version does not change a sweep that has ended.
func ErrEnded(s *foiblev1.Sweep, version string) error {
	switch {
	case s.GetState() == Cancelled && s.GetVersion() != version:
		return fmt.Errorf("%w: it was cancelled; only version %s would go on with the results that it has, submitted to this coordinator it begins anew", service.ErrPrecondition, s.GetVersion())
	case s.GetState() == Cancelled:
		return fmt.Errorf("%w: it was cancelled; submit it again, and it goes on with the results that it has", service.ErrPrecondition)
	}
	return fmt.Errorf("%w: it has ended; fetch its results, or extend it", service.ErrPrecondition)
}
