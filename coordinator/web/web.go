// Package web is a coordinator's dashboard: pages made on the server by
// html/template, kept up to date by server-sent events, with the figures of
// core/figure. Everything a page needs is in the binary.
//
// Read [Config] and [Server] first, then [Coordinator], which is what the
// dashboard needs to know, and Gate, which says who may look and who may act.
package web

import (
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/net/netutil"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/web/views"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

// Config of a dashboard.
type Config struct {
	// Listener is where browsers dial in. The server closes it.
	Listener net.Listener
	// Plain is without encryption, which is for loopback addresses only: only names of this machine are answered to.
	Plain bool
	// Access decides who may look and act, by users' tokens, and has the certificate; nil: there are no tokens.
	Access *access.Keeper
	// LetIn lets whoever can reach the listener in, where there are no tokens; else a link of [Server.Invite] does.
	LetIn bool
	// Open opens a study's bundle.
	Open func(bundle []byte) (*Study, error)
	// Limits bound what browsers can use up.
	Limits Limits
	// Logger takes what an operator acts on; nil for none.
	Logger hclog.Logger
}

// Study is what pages show of a study beyond its results.
type Study struct {
	// Title says whether people were simulated.
	Title string
	// Story is a stimulus at every step, without models.
	Story func(stimulus string) (figure.Story, error)
	// TooFew are statistics that a bootstrap does not give of the study, and why.
	TooFew func(sweep.Bootstrap) []score.Few
}

// Server serves the dashboard of one coordinator.
type Server struct {
	cfg    Config
	log    hclog.Logger
	gate   *gate
	handle http.Handler

	coordinator Coordinator // set by Run, before anything is served
	ctx         context.Context
	fits        shelf[*views.FitTable] // by sweep
	studies     shelf[*book]           // by hash
	stories     shelf[*tale]           // by hash of the study, and stimulus
	opening     sync.Mutex             // held while a study is opened, which takes memory for a time
	drawings    shelf[*drawing]
	parts       shelf[*madePart]
	streams     chan struct{} // holds a token a stream of events
	background  sync.WaitGroup
}

// Bounds of what browsers can use up.
const (
	maxHeaderBytes = 16 << 10
	maxFormBytes   = 64 << 10
	stopTimeout    = 2 * time.Second
	keepTime       = 10 * time.Minute // that something nobody looks at is kept, such as a study
)

//go:embed static templates
var files embed.FS

// New makes a server, which does not serve yet.
func New(cfg Config) (*Server, error) {
	if cfg.Limits == (Limits{}) {
		return nil, errors.New("web: no limits")
	}
	if cfg.Listener == nil || cfg.Open == nil {
		return nil, errors.New("web: no listener, or no way to open studies")
	}
	if !cfg.Plain && cfg.Access == nil {
		return nil, errors.New("web: encryption without a certificate")
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	gate, err := newGate(cfg.Access, cfg.LetIn, !cfg.Plain, cfg.Limits.Logins)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s := &Server{
		cfg: cfg, log: log.Named("web"), gate: gate, streams: make(chan struct{}, cfg.Limits.Streams),
		fits: newShelf[*views.FitTable](8, 0), studies: newShelf[*book](8, cfg.Limits.StudyBytes), stories: newShelf[*tale](64, 0),
		drawings: newShelf[*drawing](128, 0), parts: newShelf[*madePart](128, 0),
	}
	s.handle = s.routes()
	return s, nil
}

// URL is where the dashboard is; of all addresses of a machine, it has the name by which others know it.
func (s *Server) URL() string {
	scheme, address := "https", s.cfg.Listener.Addr().String()
	if s.cfg.Plain {
		scheme = "http"
	}
	if host, port, err := net.SplitHostPort(address); err == nil && net.ParseIP(host).IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			address = net.JoinHostPort(name, port)
		}
	}
	return scheme + "://" + address
}

// Invite is a link that lets whoever opens it first in, to look and to act.
func (s *Server) Invite() string {
	return s.URL() + "/enter?" + s.gate.link(link{Once: true, Expires: time.Now().Add(inviteLife)}).Encode()
}

// Run serves what a coordinator has until ctx ends, and returns when all that it started has stopped: nil after ctx.
func (s *Server) Run(ctx context.Context, c Coordinator) error {
	ctx, stop := context.WithCancel(ctx)
	s.coordinator, s.ctx = c, ctx
	defer s.background.Wait()
	defer stop()

	server := &http.Server{
		Handler:           s.handle,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	listener := netutil.LimitListener(s.cfg.Listener, s.cfg.Limits.Connections)
	if !s.cfg.Plain {
		server.TLSConfig = s.cfg.Access.TLS()
		server.TLSConfig.NextProtos = []string{"h2", "http/1.1"}
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	stopped := make(chan struct{}) // closed when no request goes on
	context.AfterFunc(ctx, func() {
		defer close(stopped)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
	})
	s.background.Go(func() { s.tidy(ctx) })
	s.log.Info("dashboard", "url", s.URL())
	err := server.Serve(listener)
	stop()
	<-stopped
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// tidy forgets what nobody has looked at for a while, until ctx ends.
func (s *Server) tidy(ctx context.Context) {
	tick := time.NewTicker(keepTime / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			since := now.Add(-keepTime)
			s.fits.forget(since)
			s.studies.forget(since)
			s.stories.forget(since)
			s.drawings.forget(since)
			s.parts.forget(since)
		}
	}
}

// routes is every address of the dashboard.
func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /static/{file}", static)
	m.HandleFunc("GET /login", s.loginPage)
	m.HandleFunc("POST /login", s.login)
	m.HandleFunc("GET /enter", s.enterPage)
	m.HandleFunc("POST /enter", s.enter)

	look := func(pattern string, handle func(http.ResponseWriter, *http.Request, *visitor)) {
		m.HandleFunc(pattern, s.looking(handle))
	}
	look("GET /{$}", s.sweepsPage)
	look("GET /events", s.sweepsEvents)
	look("GET /workers", s.workersPage)
	look("GET /workers/events", s.workersEvents)
	look("GET /sweeps/{sweep}", s.sweepPage)
	look("GET /sweeps/{sweep}/events", s.sweepEvents)
	look("GET /sweeps/{sweep}/figures/{figure}", s.sweepFigure)
	look("GET /sweeps/{sweep}/stimuli/{stimulus}", s.stimulusPage)
	look("GET /sweeps/{sweep}/stimuli/{stimulus}/figures/{figure}", s.stimulusFigure)

	act := func(pattern string, handle func(http.ResponseWriter, *http.Request, *visitor)) {
		m.HandleFunc(pattern, s.acting(handle))
	}
	look("GET /sweeps/{sweep}/{action}", s.actionPage)
	act("POST /sweeps/{sweep}/{action}", s.action)
	look("GET /share", s.sharePage)
	act("POST /share", s.share)
	look("POST /logout", s.logout)

	cross := http.NewCrossOriginProtection()
	return s.guarded(cross.Handler(m))
}

func static(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, files, "static/"+r.PathValue("file"))
}
