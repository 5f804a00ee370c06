package views

import (
	"net/url"
	"time"

	foiblev1 "foible.dev/foible/proto/foible/v1"

	"foible.dev/foible/core/words"
)

// Summary is a sweep in words and numbers.
type Summary struct {
	ID, Study, Extends string
	Path               string
	State              string // running, paused, done, failed, cancelled
	Ended              bool
	Percent            int // 100 only when all cells are there
	Done, Cells        string
	Rate, ETA, Cost    string // "" where there is none
	Estimated          bool   // Cost is, in part
	Retries            string
	Duplicates         string
	Failed             int64
	FailedCells        int64
	Troubles           []string // what is in the way of the work now
	Workers, Slots     int32
	Created, End       time.Time // End is zero while it goes on
	Took               string
	WaitsFor           string // the sweep that it extends and that has not ended; "" if it waits for none
	Stalled, Damage    string // why no jobs are scheduled, and what is damaged; "" if that is not so
}

const (
	running   = foiblev1.SweepState_SWEEP_STATE_RUNNING
	paused    = foiblev1.SweepState_SWEEP_STATE_PAUSED
	succeeded = foiblev1.SweepState_SWEEP_STATE_SUCCEEDED
	failed    = foiblev1.SweepState_SWEEP_STATE_FAILED
	cancelled = foiblev1.SweepState_SWEEP_STATE_CANCELLED
)

var stateWords = map[foiblev1.SweepState]string{running: "running", paused: "paused", succeeded: "done", failed: "done in part", cancelled: "cancelled"}

// NewSummary sums a sweep up.
func NewSummary(m *foiblev1.Sweep) *Summary {
	p := m.GetProgress()
	done := min(p.GetCellsDone(), p.GetCells())
	v := &Summary{
		ID: m.GetSweepId(), Study: m.GetStudyName(), Extends: m.GetExtends(), Path: SweepPath(m.GetSweepId()),
		State: stateWords[m.GetState()], Ended: m.GetState() != running && m.GetState() != paused,
		Percent: int(100 * done / max(1, p.GetCells())), Done: words.Thousands(done), Cells: words.Thousands(p.GetCells()),
		ETA: eta(m), Cost: coreHours(p.GetWorkerSeconds()), Estimated: p.GetWorkerSecondsEstimated(),
		Retries: words.Thousands(p.GetRetries()), Duplicates: words.Thousands(p.GetDuplicates()), Failed: p.GetJobsFailed(), FailedCells: p.GetCellsFailed(),
		Troubles: p.GetTroubles(), Workers: p.GetWorkers(), Slots: p.GetSlots(), Created: m.GetCreateTime().AsTime(),
	}
	v.Stalled, v.Damage, v.WaitsFor = m.GetStalled(), m.GetDamage(), m.GetWaitsFor()
	if v.WaitsFor != "" {
		v.State = "waiting"
	}
	if v.Damage != "" {
		v.State = "damaged"
	}
	if rate := p.GetCellsPerSecond(); m.GetState() == running && rate > 0 {
		v.Rate = significant(rate)
	}
	if end := m.GetEndTime(); end != nil {
		v.End = end.AsTime()
		v.Took = duration(v.End.Sub(v.Created))
	}
	return v
}

// eta says as a range how much longer a sweep takes; "" if nobody can tell.
func eta(m *foiblev1.Sweep) string {
	if m.GetState() != running || m.GetEtaHigh() == nil {
		return ""
	}
	low, high := duration(m.GetEtaLow().AsDuration()), duration(m.GetEtaHigh().AsDuration())
	if low == high {
		return "about " + high
	}
	return low + " to " + high
}

// SweepPath is the address of a sweep's page.
func SweepPath(id string) string { return "/sweeps/" + url.PathEscape(id) }

// WorkerSummary is a worker in words and numbers.
type WorkerSummary struct {
	Worker
	State  string
	Rest   string // for how long it is still set aside; "": it is not
	Age    string // of what was heard last
	Late   bool   // it has not been heard of for longer than it should
	For    string // how long it has been here, or was
	Doing  []jobView
	Others int // jobs that are not listed
}

type jobView struct {
	Sweep, Path, For string
	Number           int
}

const (
	lateAfter = 15 * time.Second // half a lease, unless told otherwise
	jobsShown = 4
)

// NewWorkerSummary sums a worker up.
func NewWorkerSummary(w Worker, now time.Time) WorkerSummary {
	v := WorkerSummary{Worker: w, State: "connected", Age: duration(now.Sub(w.Heard)), For: duration(now.Sub(w.Joined))}
	switch {
	case !w.Left.IsZero():
		v.State, v.For = "left", duration(w.Left.Sub(w.Joined))
	case w.Draining:
		v.State = "draining"
	case now.Before(w.Aside):
		v.State, v.Rest = "aside", duration(w.Aside.Sub(now))
	case now.Sub(w.Heard) > lateAfter:
		v.Late = true
	case w.Slow:
		v.State = "slow"
	}
	for i, j := range w.Jobs {
		if i == jobsShown {
			v.Others = len(w.Jobs) - jobsShown
			break
		}
		v.Doing = append(v.Doing, jobView{j.Sweep, SweepPath(j.Sweep), duration(now.Sub(j.Since)), j.Number})
	}
	return v
}
