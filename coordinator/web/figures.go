package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"

	"foible.dev/foible/coordinator/web/views"
	"foible.dev/foible/core/figure"
)

// drawing is a figure as it was drawn once.
type drawing struct {
	mu    sync.Mutex     // guards what follows; held while it is drawn, so that it is drawn once
	drawn *views.Drawing // nil: it has not been drawn
}

// draw is the drawing of a name at a version of what it is drawn from. Pages ask for what they show by its version, so
// that a figure fits what stands around it though the sweep goes on.
func (s *Server) draw(name, version string, drawn func() (*figure.Figure, error)) (*views.Drawing, error) {
	d := s.drawings.get(name+"?"+version, func() *drawing { return &drawing{} })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drawn != nil {
		return d.drawn, nil
	}
	f, err := drawn()
	if err == nil {
		d.drawn, err = views.Draw(f)
	}
	return d.drawn, err
}

// isDrawn says whether the drawing that a page has asked for by its version is still kept.
func (s *Server) isDrawn(name, version string) bool {
	d, ok := s.drawings.find(name + "?" + version)
	if !ok {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drawn != nil
}

// sweepFigure answers with a figure of a sweep, or its numbers, by the name of a file.
func (s *Server) sweepFigure(w http.ResponseWriter, r *http.Request, v *visitor) {
	l, err := s.look(r.Context(), r.PathValue("sweep"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.serve(w, r, v, l)
}

// stimulusFigure answers with a figure of a stimulus, or its numbers, by the name of a file.
func (s *Server) stimulusFigure(w http.ResponseWriter, r *http.Request, v *visitor) {
	l, err := s.lookAt(r.Context(), r.PathValue("sweep"), r.PathValue("stimulus"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.serve(w, r, v, l)
}

// drawn is what has figures by their names.
type drawn interface {
	File(name string) (f views.File, ok bool)
}

var contentTypes = map[string]string{".svg": "image/svg+xml", ".pdf": "application/pdf", ".csv": "text/csv; charset=utf-8"}

// serve answers with the file that is asked for. One that a page asks for by its version stays as it is.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, v *visitor, of drawn) {
	kind := path.Ext(r.PathValue("figure"))
	f, ok := of.File(strings.TrimSuffix(r.PathValue("figure"), kind))
	if !ok || contentTypes[kind] == "" {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	if version := r.FormValue("v"); version == "" {
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fileName(f.Name)+kind))
	} else if version == f.Version || s.isDrawn(f.Path, version) {
		f.Version = version
		h.Set("Cache-Control", "private, max-age=86400, immutable")
	}
	content, err := s.content(&f, kind)
	if errors.Is(err, views.ErrNothing) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	h.Set("Content-Type", contentTypes[kind])
	h.Set("Content-Security-Policy", drawingPolicy)
	_, _ = w.Write(content) // who has gone need not have it
}

func (s *Server) content(f *views.File, kind string) ([]byte, error) {
	var b bytes.Buffer
	switch kind {
	case ".csv":
		err := f.Table(&b)
		return b.Bytes(), err
	case ".pdf":
		drawn, err := f.Figure()
		if err == nil {
			err = drawn.WritePDF(&b)
		}
		return b.Bytes(), err
	}
	d, err := s.draw(f.Path, f.Version, f.Figure)
	if err != nil {
		return nil, err
	}
	return d.SVG, nil
}

// fileName is a name without what files' names should not have.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, s)
}
