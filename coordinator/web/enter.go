package web

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"foible.dev/foible/coordinator/web/views"
)

type loginView struct {
	page
	Next    string
	Message string
	Open    bool // there are no tokens, and none is asked for
	Invited bool // there are no tokens, and a link is
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	s.showLogin(w, r, http.StatusOK, "")
}

func (s *Server) showLogin(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.show(w, r, status, "login.html", &loginView{
		page: s.newPage("Log in", nil), Next: local(r.FormValue("next")), Message: message,
		Open: s.gate.open, Invited: s.gate.keeper == nil && !s.gate.open,
	})
}

// login takes a token, once; what the browser keeps is a session.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	next := local(r.PostFormValue("next"))
	if s.gate.open {
		s.gate.begin(w, session{Expires: time.Now().Add(sessionLife)})
		http.Redirect(w, r, next, http.StatusSeeOther)
		return
	}
	if s.gate.keeper == nil {
		s.showLogin(w, r, http.StatusForbidden, "")
		return
	}
	record, err := s.gate.keeper.Admit(r.PostFormValue("token")) // the right token lets in however many others were refused
	if err != nil {
		if !s.turnAway(r, err.Error()) {
			s.showLogin(w, r, http.StatusTooManyRequests, "Too many tokens from this address have been refused of late. Try again in a minute.")
			return
		}
		s.showLogin(w, r, http.StatusForbidden, views.Sentence(err.Error()))
		return
	}
	s.gate.begin(w, session{Token: record.Hash, ReadOnly: record.ReadOnly, Expires: time.Now().Add(sessionLife)})
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// turnAway notes that someone was refused; false if there have been too many from that address.
func (s *Server) turnAway(r *http.Request, why string) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if !s.gate.refusals.Allow(host) {
		return false
	}
	s.log.Warn("visitor refused", "peer", r.RemoteAddr, "reason", why)
	return true
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request, v *visitor) {
	if v.meant(r.PostFormValue("csrf")) {
		s.gate.end(w, v)
	}
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

type enterView struct {
	page
	Key      string
	Valid    bool
	ReadOnly bool
	Expires  time.Time
}

// enterPage asks before a link is used: who looks at links before people do uses none up, and a cookie for this site
// by itself is not sent along from another one.
func (s *Server) enterPage(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	l, ok := s.gate.read(key)
	status := http.StatusOK
	if !ok {
		status = http.StatusForbidden
	}
	s.show(w, r, status, "enter.html", &enterView{page: s.newPage("Dashboard", nil), Key: key, Valid: ok, ReadOnly: l.ReadOnly, Expires: l.Expires})
}

func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	l, ok := s.gate.read(r.PostFormValue("key"))
	if !ok || !s.gate.use(l) {
		s.turnAway(r, "the link has ended, or is not one of this dashboard's")
		s.show(w, r, http.StatusForbidden, "enter.html", &enterView{page: s.newPage("Dashboard", nil)})
		return
	}
	expires := l.Expires
	if !l.ReadOnly {
		expires = time.Now().Add(sessionLife)
	}
	s.gate.begin(w, session{Token: l.Token, ReadOnly: l.ReadOnly, Sweep: l.Sweep, Expires: expires})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

type shareView struct {
	page
	Link    string
	Days    int
	Sweep   string   // the sweep that the link shows; "": all
	Sweeps  []string // that can be chosen
	Expires time.Time
}

// newShareView is the page with all sweeps to choose from.
func (s *Server) newShareView(r *http.Request, v *visitor) (*shareView, error) {
	all, err := s.coordinator.ListSweeps(r.Context())
	if err != nil {
		return nil, err
	}
	view := &shareView{page: s.newPage("Share", v), Days: 7, Sweep: r.FormValue("sweep")}
	for _, m := range all {
		view.Sweeps = append(view.Sweeps, m.GetSweepId())
	}
	return view, nil
}

func (s *Server) sharePage(w http.ResponseWriter, r *http.Request, v *visitor) {
	view, err := s.newShareView(r, v)
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.show(w, r, http.StatusOK, "share.html", view)
}

// share makes a link with which others may look, at one sweep or all, until it ends or the token of who made it does.
func (s *Server) share(w http.ResponseWriter, r *http.Request, v *visitor) {
	days, err := strconv.Atoi(r.PostFormValue("days"))
	life := time.Duration(days) * 24 * time.Hour
	if err != nil || life <= 0 || life > maxShareLife {
		s.refuse(w, r, v, http.StatusUnprocessableEntity, "A link lasts 1 to 90 days.")
		return
	}
	view, err := s.newShareView(r, v)
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	if view.Sweep != "" && !slices.Contains(view.Sweeps, view.Sweep) {
		s.refuse(w, r, v, http.StatusNotFound, "There is no sweep "+view.Sweep+".")
		return
	}
	view.Days, view.Expires = days, time.Now().Add(life).Truncate(time.Second)
	key := s.gate.link(link{Token: v.Token, ReadOnly: true, Sweep: view.Sweep, Expires: view.Expires})
	to := url.URL{Scheme: "https", Host: r.Host, Path: "/enter", RawQuery: key.Encode()}
	if s.cfg.Plain {
		to.Scheme = "http"
	}
	view.Link = to.String()
	s.show(w, r, http.StatusOK, "share.html", view)
}

// local is a path of this dashboard, to go to; the first page if it is none.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, `\`) {
		return "/"
	}
	return u.String()
}

func escape(s string) string { return url.QueryEscape(s) }
