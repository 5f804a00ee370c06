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
