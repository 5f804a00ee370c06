package web

import (
	"errors"
	"net"
	"net/http"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/web/views"
)

// pagePolicy lets a page have only what comes from this server, and nothing that stands in the page itself.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// drawingPolicy is for SVG, whose elements have styles and nothing else.
const drawingPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox"

// guarded sets the headers of every answer, and refuses names that are not this machine's where there is no
// certificate to prove them: a page of another site may have a name that leads here.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if s.cfg.Plain && !loopback(r.Host) {
			http.Error(w, "this dashboard answers only to names of its own machine, such as localhost", http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
		next.ServeHTTP(w, r)
	})
}

// loopback says whether a host, perhaps with a port, is a name of this machine that nobody else can have.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(trimBrackets(host))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func trimBrackets(host string) string {
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}

// looking lets visitors in who may look.
func (s *Server) looking(handle func(http.ResponseWriter, *http.Request, *visitor)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.gate.visitor(r)
		switch {
		case v != nil && v.Sweep != "" && r.URL.Path == "/":
			http.Redirect(w, r, v.Home(), http.StatusSeeOther)
		case v != nil && v.Sweep != "" && r.URL.Path != "/logout" && r.PathValue("sweep") != v.Sweep:
			s.refuse(w, r, v, http.StatusForbidden, "The link that you came by shows one sweep only.")
		case v != nil:
			handle(w, r, v)
		case r.Method == http.MethodGet && r.Header.Get("Accept") != "text/event-stream":
			http.Redirect(w, r, "/login?next="+escape(r.URL.RequestURI()), http.StatusSeeOther)
		default:
			http.Error(w, "log in first", http.StatusUnauthorized)
		}
	}
}

// acting lets visitors in who may act, and mean it: the form was made for this session.
func (s *Server) acting(handle func(http.ResponseWriter, *http.Request, *visitor)) http.HandlerFunc {
	return s.looking(func(w http.ResponseWriter, r *http.Request, v *visitor) {
		switch {
		case !v.meant(r.PostFormValue("csrf")):
			s.refuse(w, r, v, http.StatusForbidden, "The form is not of this session, or is old. Go back, load the page again, and try once more.")
		case v.ReadOnly:
			s.refuse(w, r, v, http.StatusForbidden, "You may look, and change nothing: the token, or the link, is only for reading.")
		default:
			handle(w, r, v)
		}
	})
}

// statuses of errors.
var statuses = []struct {
	err    error
	status int
}{
	{service.ErrNotFound, http.StatusNotFound},
	{service.ErrInvalid, http.StatusUnprocessableEntity},
	{service.ErrPrecondition, http.StatusConflict},
	{service.ErrUnavailable, http.StatusServiceUnavailable},
	{service.ErrStopping, http.StatusServiceUnavailable},
}

// failed answers with an error of the coordinator.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, v *visitor, err error) {
	for _, row := range statuses {
		if errors.Is(err, row.err) {
			s.refuse(w, r, v, row.status, views.Sentence(err.Error()))
			return
		}
	}
	if r.Context().Err() == nil {
		s.log.Error("page", "path", r.URL.Path, "error", err)
	}
	s.refuse(w, r, v, http.StatusInternalServerError, "That did not work; the coordinator's log says why.")
}
