package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/web/views"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// look is a sweep as a page sees it. Fits that have been scored since the last time are read in the background.
func (s *Server) look(ctx context.Context, id string) (*views.Sweep, error) {
	m, err := s.coordinator.Sweep(ctx, id)
	if err != nil {
		return nil, err
	}
	in, err := s.coordinator.Inside(ctx, id)
	if err != nil {
		return nil, err
	}
	table := s.fits.get(id, func() *views.FitTable { return views.NewFitTable(in) })
	fits, missing := table.Now(in)
	if len(missing) > 0 {
		s.background.Go(func() { s.readFits(table, id, missing) })
	}
	l := &views.Sweep{Sweep: m, Title: m.GetStudyName(), Inside: in, Fits: fits}
	if study, err := s.study(ctx, m.GetStudyHash()); err == nil { // else figures do without
		l.Title = study.Title
		if study.TooFew != nil {
			l.Few = study.TooFew(in.Config.Bootstrap)
		}
	}
	return l, nil
}

// readFits reads chunks of a sweep.
func (s *Server) readFits(table *views.FitTable, id string, chunks []sweep.Chunk) {
	defer table.Read()
	for _, chunk := range chunks {
		job, fits, err := s.coordinator.ChunkFits(s.ctx, id, chunk)
		if err != nil {
			if s.ctx.Err() == nil {
				s.log.Error("read fits", "sweep", id, "chunk", chunk, "error", err)
			}
			return
		}
		table.Take(&job, chunk, fits)
	}
}

// study opens a study, once.
func (s *Server) study(ctx context.Context, hash string) (*Study, error) {
	book := s.studies.get(hash, func() *book { return &book{} })
	book.mu.Lock()
	defer book.mu.Unlock()
	if book.study != nil {
		return book.study, nil
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	bundle, err := s.coordinator.Study(ctx, hash)
	if err != nil {
		return nil, err
	}
	study, err := s.cfg.Open(bundle)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	book.study = study
	s.studies.weigh(hash, int64(len(bundle)))
	return study, nil
}

// book holds a study.
type book struct {
	mu    sync.Mutex // guards what follows; held while it is opened
	study *Study
}

// lookAt is a stimulus of a sweep as a page sees it.
func (s *Server) lookAt(ctx context.Context, id, stimulus string) (*views.Stimulus, error) {
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(l.Inside.Stimuli, func(one sweep.Shape) bool { return one.Stimulus == stimulus })
	if index < 0 {
		return nil, fmt.Errorf("sweep %s has no stimulus %q: %w", id, stimulus, service.ErrNotFound)
	}
	story, err := s.story(ctx, l.GetStudyHash(), stimulus)
	if err != nil {
		return nil, err
	}
	return l.Stimulus(index, story, func(set int) (*result.Cell, error) { return s.coordinator.Cell(ctx, id, set, index) })
}

// story is a stimulus without models; each is drawn once.
func (s *Server) story(ctx context.Context, hash, stimulus string) (*figure.Story, error) {
	study, err := s.study(ctx, hash)
	if err != nil {
		return nil, err
	}
	told := s.stories.get(hash+"/"+stimulus, func() *tale { return &tale{} })
	told.mu.Lock()
	defer told.mu.Unlock()
	if told.story != nil {
		return told.story, nil
	}
	story, err := study.Story(stimulus)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	told.story = &story
	return told.story, nil
}

// tale holds the story of a stimulus.
type tale struct {
	mu    sync.Mutex // guards what follows; held while it is drawn
	story *figure.Story
}

type sweepPageView struct {
	page
	Study  string // its title
	Query  views.Query
	Models []string
}

func (s *Server) sweepPage(w http.ResponseWriter, r *http.Request, v *visitor) {
	id, q := r.PathValue("sweep"), views.ReadQuery(r.URL.Query())
	p := &sweepPageView{page: s.newPage(id, v), Query: q}
	p.Events = views.SweepPath(id) + "/events?" + q.Encode()
	m, err := s.coordinator.Sweep(r.Context(), id)
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	p.Study = m.GetStudyName()
	if study, err := s.study(r.Context(), m.GetStudyHash()); err == nil {
		p.Study = study.Title
	}
	for _, named := range model.Models {
		if m.GetConfig().GetModels()[named.Name] != nil {
			p.Models = append(p.Models, named.Name)
		}
	}
	if p.parts, err = s.sweepParts(r.Context(), id, v, q, true); err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.show(w, r, http.StatusOK, "sweep.html", p)
}

func (s *Server) sweepEvents(w http.ResponseWriter, r *http.Request, v *visitor) {
	id, q := r.PathValue("sweep"), views.ReadQuery(r.URL.Query())
	s.stream(w, r, v, source{
		parts:   func(ctx context.Context, all bool) (parts, error) { return s.sweepParts(ctx, id, v, q, all) },
		changes: func() <-chan struct{} { return s.coordinator.Changes(id) },
	})
}

// sweepParts are the parts of a sweep's page: its numbers, or all.
func (s *Server) sweepParts(ctx context.Context, id string, v *visitor, q views.Query, all bool) (parts, error) {
	if !all {
		m, err := s.coordinator.Sweep(ctx, id)
		if err != nil {
			return nil, err
		}
		view := views.NewSummary(m)
		return renderAll(map[string]any{"state": dict("Sweep", view, "Visitor", v), "progress": view})
	}
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	view := views.NewSummary(l.Sweep)
	now, err := renderAll(map[string]any{"state": dict("Sweep", view, "Visitor", v), "progress": view})
	if err != nil {
		return nil, err
	}
	for name, of := range l.Parts(q, s.draw) {
		if now[name], err = s.made(fmt.Sprint(id, " ", name, " ", of.Key), name, &of); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// madePart is a part as it was made last.
type madePart struct {
	mu      sync.Mutex // guards what follows; held while it is made, so that it is made once for all who look
	version string
	part    part
}

// made is a part that is made again only when what it is made from has another version.
func (s *Server) made(key, name string, of *views.Part) (part, error) {
	p := s.parts.get(key, func() *madePart { return &madePart{} })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.version == of.Version && p.part.Version != "" {
		return p.part, nil
	}
	v, err := of.View()
	if err != nil {
		return part{}, err
	}
	if p.part, err = render(name, v); err != nil {
		return part{}, err
	}
	p.version = of.Version
	return p.part, nil
}

type stimulusView struct {
	page
	*views.StimulusPage
}

func (s *Server) stimulusPage(w http.ResponseWriter, r *http.Request, v *visitor) {
	l, err := s.lookAt(r.Context(), r.PathValue("sweep"), r.PathValue("stimulus"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	shown, err := l.Page(r.FormValue("step"), s.draw)
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.show(w, r, http.StatusOK, "stimulus.html", &stimulusView{s.newPage("Stimulus "+shown.Stimulus, v), shown})
}
