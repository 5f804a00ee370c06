package web

import (
	"context"
	"net/http"
	"time"

	"foible.dev/foible/coordinator/web/views"
)

// listed is what of a list of sweeps is shown.
const listed = 200

func (s *Server) sweepsParts(ctx context.Context) (parts, error) {
	all, err := s.coordinator.ListSweeps(ctx)
	if err != nil {
		return nil, err
	}
	more := max(0, len(all)-listed)
	var shown []*views.Summary
	for _, m := range all[:len(all)-more] {
		shown = append(shown, views.NewSummary(m))
	}
	workers, slots := 0, 0
	for _, w := range s.coordinator.Workers() {
		if w.Left.IsZero() {
			workers++
			slots += w.Slots
		}
	}
	return renderAll(map[string]any{"sweeps": dict("Sweeps", shown, "More", more, "Workers", workers+s.coordinator.Elsewhere(), "Slots", slots)})
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

func (s *Server) workersParts() (parts, error) {
	var here, gone []views.WorkerSummary
	now := time.Now()
	for _, w := range s.coordinator.Workers() {
		if v := views.NewWorkerSummary(w, now); w.Left.IsZero() {
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
