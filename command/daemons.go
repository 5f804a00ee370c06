package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/internal/replace"
	"foible.dev/foible/worker"
)

// DefaultLease is how long a job stays with a worker that is not heard of.
const DefaultLease = 30 * time.Second

// DefaultLimits are what others can use up of a coordinator unless told otherwise.
func DefaultLimits() coordinator.Limits { return coordinator.DefaultLimits() }

// CoordinatorOptions say where a coordinator listens and keeps its data.
type CoordinatorOptions struct {
	Listen, Data string
	NATS         engine.Servers // keep the data, but for authority and tokens, if there are any
	Lease        time.Duration
	JobDeadline  time.Duration // that a job may take before an idle worker gets it too; 0: by what jobs take
	TLSCert      string        // file of a site's own certificate; "": the coordinator makes one
	TLSKey       string        // and of its key
	Insecure     bool          // without encryption and tokens
	Observe      ObserveOptions
	Limits       coordinator.Limits
	AddressFile  string // takes the address when the coordinator listens; "": none
	Web          string // address of the dashboard; "": none
	WebAsked     bool   // Web was named, so that it is an error if there can be none

	addressMode fs.FileMode // of AddressFile; 0: 0644

	announced func() error    // called before the address is written; nil: nothing
	dismissed <-chan struct{} // closed when no work is left, so that workers are to end; nil: never
}

// Coordinator runs a coordinator until ctx ends.
func Coordinator(ctx context.Context, term *Terminal, o CoordinatorOptions) error {
	if err := hostPort("--listen", o.Listen, o.Insecure); err != nil {
		return err
	}
	switch {
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return usagef("--tls-cert and --tls-key belong together; name both files")
	case o.Insecure && o.TLSCert != "":
		return usagef("--insecure is without certificates; leave it or --tls-cert out")
	}
	if o.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey); err != nil {
			return fmt.Errorf("--tls-cert and --tls-key: %w; name the files, in PEM, of a certificate and of its key", err)
		}
	}
	servers, err := natsServers(o.NATS)
	if err != nil {
		return err
	}
	if o.Lease < time.Second {
		return usagef("--lease %v: must be at least 1s", o.Lease)
	}
	if o.JobDeadline < 0 || o.JobDeadline > 0 && o.JobDeadline < time.Second {
		return usagef("--job-deadline %v: must be at least 1s, or 0 for one by what jobs take", o.JobDeadline)
	}
	if o.Web != "" && o.Web != noWeb {
		if err := hostPort("--web", o.Web, o.Insecure); err != nil {
			return err
		}
	}
	if err := o.distinctAddresses(); err != nil {
		return err
	}
	if o.Data == "" {
		return usagef("--data: name a directory")
	}
	if err := o.Limits.Validate(); err != nil {
		return &UsageError{Err: err}
	}
	watched, err := observe(ctx, term, "foible-coordinator", o.Observe)
	if err != nil {
		return err
	}
	defer watched.stop()
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("the address %s is taken, perhaps by another coordinator; name another with --listen", o.Listen)
		}
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return fmt.Errorf("cannot listen on %s: %w; name another address with --listen", o.Listen, err)
	}
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		_ = listener.Close()
		return cannotWrite(o.Data, "--data", err)
	}
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Servers, cfg.Version, cfg.Logger = listener, o.Data, servers, Version(), term.Logger
	cfg.JobDeadline = o.JobDeadline
	cfg.Scorer, cfg.Shapes = domains.Scorer, domains.Shapes
	cfg.Lease, cfg.Grace = o.Lease, min(cfg.Grace, o.Lease)
	cfg.Limits = o.Limits
	cfg.Metrics, cfg.Tracing = watched.metrics, watched.tracing
	cfg.Dismissed = o.dismissed
	if !o.Insecure {
		if cfg.Access, err = access.Open(access.Config{
			DataDir: o.Data, Names: access.Names(o.Listen), CertFile: o.TLSCert, KeyFile: o.TLSKey,
			Limits: o.Limits.Access, Logger: term.Logger,
		}); err != nil {
			_ = listener.Close()
			return cannotWrite(o.Data, "--data", err)
		}
		term.Logger.Info("tokens are in these files", "workers", access.TokenFile(o.Data, access.Worker), "users", access.TokenFile(o.Data, access.User))
	}
	if cfg.Web, err = newDashboard(term, &o, cfg.Access); err != nil {
		_ = listener.Close()
		return err
	}
	cfg.Listening = func() error {
		if err := o.announce(listener.Addr()); err != nil {
			return err
		}
		if err := notifyReady(); err != nil {
			term.Logger.Warn("the service manager cannot be told that the coordinator serves", "error", err)
		}
		return nil
	}
	c, err := coordinator.New(cfg)
	if err != nil {
		return err
	}
	err = c.Run(ctx)
	switch {
	case errors.Is(err, engine.ErrInUse):
		return fmt.Errorf("another coordinator works in %s; stop that one, or give this one a directory of its own with --data", words.Quoted(o.Data))
	case errors.Is(err, engine.ErrVersion):
		return fmt.Errorf("%w; start that version here, or give this one a directory, or NATS servers, of its own", err)
	case errors.Is(err, engine.ErrLogin):
		return fmt.Errorf("%w; name a file with what they ask for, by --nats-creds or --nats-login", err)
	case errors.Is(err, engine.ErrUntrusted):
		return fmt.Errorf("%w; name its authority by --nats-ca, and the server as its certificate does", err)
	}
	return err
}

// distinctAddresses returns an error if two of the coordinator's flags name one address.
func (o *CoordinatorOptions) distinctAddresses() error {
	flags := []struct{ name, address string }{{"--listen", o.Listen}, {"--web", o.Web}, {"--metrics", o.Observe.Metrics}}
	for i, a := range flags {
		for _, b := range flags[i+1:] {
			if sameAddress(a.address, b.address) {
				return usagef("%s %s and %s %s are the same address; each needs its own, such as --listen %s, --web %s and --metrics %s",
					a.name, a.address, b.name, b.address, DefaultAddress, DefaultWebAddress, MetricsExample)
			}
		}
	}
	return nil
}

// sameAddress reports whether only one of two addresses, each host:port, can be listened on at a time. A host that stands
// for all addresses of the machine includes every other. Port 0 is a different free port each time.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil { // none, or "off"
		return false
	}
	nA, errA := net.LookupPort("tcp", portA)
	nB, errB := net.LookupPort("tcp", portB)
	if errA != nil || errB != nil || nA != nB || nA == 0 {
		return false
	}
	all := func(host string) bool {
		ip := net.ParseIP(host)
		return host == "" || ip != nil && ip.IsUnspecified()
	}
	known := func(host string) string {
		if host == "localhost" {
			return "127.0.0.1"
		}
		return strings.ToLower(host)
	}
	return all(hostA) || all(hostB) || known(hostA) == known(hostB)
}

// natsServers checks the servers of --nats; nil if there are none.
func natsServers(s engine.Servers) (*engine.Servers, error) {
	if len(s.URLs) == 0 {
		if s.CredsFile+s.LoginFile+s.CAFile+s.CertFile+s.KeyFile != "" {
			return nil, usagef("flags that begin with --nats- are about the servers of --nats; name these")
		}
		return nil, nil
	}
	for i, text := range s.URLs {
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(text)
		switch {
		case err == nil && u.User != nil:
			return nil, usagef("--nats: what stands on a command line can be seen by all; write name and password into a file, and name that with --nats-login")
		case err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls":
			return nil, usagef("--nats %q: write it as nats://host:4222 or tls://host:4222", s.URLs[i])
		}
		s.URLs[i] = text
	}
	switch {
	case s.CredsFile != "" && s.LoginFile != "":
		return nil, usagef("--nats-creds and --nats-login are two ways to log in; leave one out")
	case (s.CertFile == "") != (s.KeyFile == ""):
		return nil, usagef("--nats-cert and --nats-key belong together; name both files")
	}
	if s.CAFile != "" {
		if _, err := access.Roots(s.CAFile); err != nil {
			return nil, fmt.Errorf("--nats-ca %s: %w; name a file of certificates in PEM", words.Quoted(s.CAFile), cause(err))
		}
	}
	if s.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile); err != nil {
			return nil, fmt.Errorf("--nats-cert and --nats-key: %w; name the files, in PEM, of a certificate and of its key", err)
		}
	}
	for flag, file := range map[string]string{"--nats-creds": s.CredsFile, "--nats-login": s.LoginFile} {
		if _, err := os.Stat(file); file != "" && err != nil {
			return nil, fmt.Errorf("%s %s: %w; name the file with what the NATS servers ask for", flag, words.Quoted(file), cause(err))
		}
	}
	return &s, nil
}

// announce writes down where the coordinator listens, for those who read it there.
func (o *CoordinatorOptions) announce(at net.Addr) error {
	if o.announced != nil {
		if err := o.announced(); err != nil {
			return err
		}
	}
	if o.AddressFile == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // all addresses: of these, the one by which others know the machine
		if host, err = os.Hostname(); err != nil {
			return fmt.Errorf("the name of this machine: %w; give it with --listen", err)
		}
	}
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return err
	}
	if err := replace.Content(o.AddressFile, cmp.Or(o.addressMode, 0o644), []byte(net.JoinHostPort(host, port)+"\n")); err != nil {
		return fmt.Errorf("--address-file %s: %w; name another file", words.Quoted(o.AddressFile), cause(err))
	}
	return nil
}

// maxSlots is what a worker accepts.
const maxSlots = 1024

// slots checks a number of worker slots given by a flag; 0 is one a core.
func slots(flag string, n int) (int, error) {
	if n < 0 || n > maxSlots {
		return 0, usagef("%s %d: must be 1 to %d", flag, n, maxSlots)
	}
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return n, nil
}

// WorkerOptions say whom a worker works for.
type WorkerOptions struct {
	Coordinator Target
	Slots       int    // 0: one a core
	Memory      string // that the process may use, as in 8GiB; "": most of what there is
	Drain       time.Duration
	Patience    time.Duration // for a coordinator that does not answer; 0: without end
	Observe     ObserveOptions

	dialling func() // called when the address file has been read, which is seldom; nil: nothing
}

// leaveTimeout is how long a worker that has drained waits for jobs that do not stop.
const leaveTimeout = time.Second

// Worker works until ctx ends, and then drains.
func Worker(ctx context.Context, term *Terminal, o WorkerOptions) error {
	n, err := slots("--slots", o.Slots)
	if err != nil {
		return err
	}
	budget, err := memoryBudget(o.Memory)
	if err != nil {
		return err
	}
	if o.Drain < 0 {
		return usagef("--drain %v: must be at least 0s", o.Drain)
	}
	if o.Patience < 0 {
		return usagef("--patience %v: must be at least 0s", o.Patience)
	}
	watched, err := observe(ctx, term, "foible-worker", o.Observe)
	if err != nil {
		return err
	}
	defer watched.stop()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if done, err := awaitToken(ctx, term, o); done || err != nil {
		return err
	}
	var c *client
	// Once the token's coordinator has been reached, a worker stays, whatever the network or another program in that
	// place does. What answers at an address from a file may be something else that has come to where it was.
	var met atomic.Bool
	refusal := func() (reason error, final bool) {
		return c.refusal(), o.Coordinator.AddressFile == "" && !met.Load()
	}
	calls, err := watched.calls()
	if err != nil {
		return err
	}
	if o.Coordinator.AddressFile != "" {
		calls = append(calls, grpc.WithContextDialer((&addressFile{read: o.Coordinator.current, after: o.dialling}).dial))
	}
	c, err = dialAs(access.Worker, o.Coordinator, append(calls, grpc.WithChainStreamInterceptor(patient(ctx, term, o, &met, refusal, giveUp)))...)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	cfg := worker.DefaultConfig()
	cfg.Memory = budget
	science := worker.NewScience(c.studies)
	science.SamplesMemory, cfg.Relieve = samplesMemory(cfg.Memory, n), science.Relieve
	cfg.Conn, cfg.Slots, cfg.Version, cfg.Logger, cfg.DrainTimeout = c.conn, n, Version(), term.Logger, o.Drain
	cfg.Dismissed = func() { giveUp(nil) }
	if cfg.Executor, err = watched.executor(science, n); err != nil {
		return err
	}
	if cfg.Host, err = os.Hostname(); err != nil {
		cfg.Host = "unknown"
	}
	w, err := worker.New(cfg)
	if err != nil {
		return err
	}
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()
	late := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(o.Drain+worker.HandBackTimeout+leaveTimeout, func() { close(late) })
	})()
	select {
	case err = <-ran:
	case <-late: // the jobs that go on have been handed back, and end with the process
		term.Logger.Warn("leaving jobs that do not stop")
	}
	if reason, final := refusal(); err != nil && reason != nil && final {
		return reason
	}
	if impatient := context.Cause(ctx); err == nil && errors.Is(impatient, errImpatient) {
		return impatient
	}
	return err
}

var errImpatient = errors.New("no coordinator has answered")

// patient holds calls back until the coordinator can be reached, so that its
// absence is said once and makes no job fail. When ctx ends it waits no more,
// nor for what answers and is refused for good. When patience ends, so does the worker. It sets met.
func patient(ctx context.Context, term *Terminal, o WorkerOptions, met *atomic.Bool, refusal func() (reason error, final bool), giveUp context.CancelCauseFunc) grpc.StreamClientInterceptor {
	return func(call context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		waiting, cancel := context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		if o.Patience > 0 && desc.ClientStreams {
			defer time.AfterFunc(o.Patience, func() {
				giveUp(fmt.Errorf("%w at %s for %v; see that one runs there, or wait longer with --patience", errImpatient, o.Coordinator.where(), o.Patience))
			}).Stop()
		}
		said := false
		state := cc.GetState()
		for ; state != connectivity.Ready && state != connectivity.Shutdown; state = cc.GetState() {
			if state == connectivity.TransientFailure {
				reason, final := refusal()
				if reason != nil && final {
					return nil, status.Error(codes.Unauthenticated, reason.Error())
				}
				if desc.ClientStreams && !said { // Work: one at a time
					said = true
					about := []any{"coordinator", o.Coordinator.where()}
					if reason != nil {
						about = append(about, "reason", reason)
					}
					term.Logger.Info("no coordinator answers; trying until one does", about...)
				}
			}
			cc.Connect()
			if !cc.WaitForStateChange(waiting, state) {
				break
			}
		}
		if state == connectivity.Ready {
			met.Store(true)
		}
		return stream(call, desc, cc, method, opts...)
	}
}

// tokenPause is how long a worker waits before it looks for its token again.
const tokenPause = time.Second

// awaitToken waits until the file or directory of --token-file holds a token, which the coordinator makes when it is
// first started. It is done if ctx ends before.
func awaitToken(ctx context.Context, term *Terminal, o WorkerOptions) (done bool, err error) {
	if o.Coordinator.TokenFile == "" || o.Coordinator.Insecure {
		return false, nil
	}
	var late <-chan time.Time
	if o.Patience > 0 {
		late = time.After(o.Patience)
	}
	for said := false; ; said = true {
		_, err := o.Coordinator.token(access.Worker)
		if !errors.Is(err, fs.ErrNotExist) {
			return false, nil // what else is wrong is said by who dials
		}
		if !said {
			term.Logger.Info("there is no token yet; waiting for the coordinator to make it", "file", o.Coordinator.TokenFile)
		}
		select {
		case <-time.After(tokenPause):
		case <-late:
			return false, err
		case <-ctx.Done():
			return true, nil
		}
	}
}
