package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	foiblev1 "foible.dev/foible/proto/foible/v1"

	"foible.dev/foible/core/words"
)

// sweepView is a sweep in words and numbers.
type sweepView struct {
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
	Stalled, Damage    string // why no jobs are given out, and what is damaged; "" if that is not so
}

var stateWords = map[foiblev1.SweepState]string{running: "running", paused: "paused", succeeded: "done", failed: "done in part", cancelled: "cancelled"}

func newSweepView(m *foiblev1.Sweep) *sweepView {
	p := m.GetProgress()
	done := min(p.GetCellsDone(), p.GetCells())
	v := &sweepView{
		ID: m.GetSweepId(), Study: m.GetStudyName(), Extends: m.GetExtends(), Path: sweepPath(m.GetSweepId()),
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

func sweepPath(id string) string { return "/sweeps/" + url.PathEscape(id) }

// listed is what of a list of sweeps is shown.
const listed = 200

func (s *Server) sweepsParts(ctx context.Context) (parts, error) {
	all, err := s.coordinator.ListSweeps(ctx)
	if err != nil {
		return nil, err
	}
	more := max(0, len(all)-listed)
	var views []*sweepView
	for _, m := range all[:len(all)-more] {
		views = append(views, newSweepView(m))
	}
	workers, slots := 0, 0
	for _, w := range s.coordinator.Workers() {
		if w.Left.IsZero() {
			workers++
			slots += w.Slots
		}
	}
	return renderAll(map[string]any{"sweeps": dict("Sweeps", views, "More", more, "Workers", workers+s.coordinator.Elsewhere(), "Slots", slots)})
}

func (s *Server) sweepsPage(w http.ResponseWriter, r *http.Request, v *visitor) {
	p := s.newPage("Sweeps", v)
	p.Events = "/events"
	var err error
	if p.parts, err = s.sweepsParts(r.Context()); err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.show(w, r, http.StatusOK, "sweeps.html", &p)
}

func (s *Server) sweepsEvents(w http.ResponseWriter, r *http.Request, v *visitor) {
	s.stream(w, r, v, source{parts: func(ctx context.Context, _ bool) (parts, error) { return s.sweepsParts(ctx) }})
}

// workerView is a worker in words and numbers.
type workerView struct {
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

func newWorkerView(w Worker, now time.Time) workerView {
	v := workerView{Worker: w, State: "connected", Age: duration(now.Sub(w.Heard)), For: duration(now.Sub(w.Joined))}
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
		v.Doing = append(v.Doing, jobView{j.Sweep, sweepPath(j.Sweep), duration(now.Sub(j.Since)), j.Number})
	}
	return v
}

func (s *Server) workersParts() (parts, error) {
	var here, gone []workerView
	now := time.Now()
	for _, w := range s.coordinator.Workers() {
		if v := newWorkerView(w, now); w.Left.IsZero() {
			here = append(here, v)
		} else {
			gone = append(gone, v)
		}
	}
	return renderAll(map[string]any{"workers": dict("Here", here, "Gone", gone, "Elsewhere", s.coordinator.Elsewhere())})
}

func (s *Server) workersPage(w http.ResponseWriter, r *http.Request, v *visitor) {
	p := s.newPage("Workers", v)
	p.Events = "/workers/events"
	var err error
	if p.parts, err = s.workersParts(); err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.show(w, r, http.StatusOK, "workers.html", &p)
}

func (s *Server) workersEvents(w http.ResponseWriter, r *http.Request, v *visitor) {
	s.stream(w, r, v, source{parts: func(context.Context, bool) (parts, error) { return s.workersParts() }})
}
