package web

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"time"
)

// parts are what of a page changes: HTML by the id of the element that it is inside of.
type parts map[string]part

type part struct {
	HTML    string `json:"html"`
	Version string `json:"version"` // differs where the HTML does
}

func newPart(html string) part {
	h := fnv.New64a()
	_, _ = h.Write([]byte(html))
	return part{html, fmt.Sprintf("%x", h.Sum64())}
}

// Pauses between updates, so that a busy sweep keeps neither server nor browser busy: of numbers, and of tables and figures.
const (
	numbersPause = 250 * time.Millisecond
	figuresPause = 2 * time.Second
	quietPause   = time.Second      // after which a page is looked at without a change: ages grow, rates fall
	silence      = 10 * time.Second // after which a word is sent, to find out whether anybody is there
	writeTimeout = 20 * time.Second
)

// source is where the parts of a page come from.
type source struct {
	// parts makes those that are numbers, or all.
	parts func(ctx context.Context, all bool) (parts, error)
	// changes is closed when it is worth looking again; nil: now and then.
	changes func() <-chan struct{}
}

// stream keeps a page up to date by server-sent events, as long as it is open and its visitor may look.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, v *visitor, from source) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // of the request, which is done
	send := func(event string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := fmt.Fprint(w, event)
		return err == nil && out.Flush() == nil
	}
	if !send("retry: 1000\n\n") {
		return
	}
	sent := parts{}
	var figures, spoken time.Time // when they were last sent
	for s.gate.current(&v.session) {
		var changed <-chan struct{}
		if from.changes != nil {
			changed = from.changes()
		}
		all := time.Since(figures) >= figuresPause
		now, err := from.parts(r.Context(), all)
		if err != nil {
			if r.Context().Err() == nil {
				s.log.Warn("update a page", "path", r.URL.Path, "error", err)
			}
			return
		}
		if all {
			figures = time.Now()
		}
		news := maps.Clone(now)
		maps.DeleteFunc(news, func(id string, p part) bool { return sent[id].Version == p.Version })
		maps.Copy(sent, news)
		switch {
		case len(news) > 0:
			data, _ := json.Marshal(news) // of strings: it never fails
			if !send("event: parts\ndata: " + string(data) + "\n\n") {
				return
			}
			spoken = time.Now()
		case time.Since(spoken) > silence:
			if !send(": still here\n\n") {
				return
			}
			spoken = time.Now()
		}
		if !pause(r.Context(), numbersPause, nil) || !pause(r.Context(), quietPause, changed) {
			return
		}
	}
}

// pause waits, or until something is closed; false once ctx has ended.
func pause(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-until:
	case <-ctx.Done():
		return false
	}
	return true
}
