// Package serve runs coordinators and workers: as the commands coordinator and
// worker, with their dashboard, metrics and traces, or both in this process.
// Read [Coordinator], [Worker] and [StartLocal] first.
package serve

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
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/internal/replace"
)

// NewCoordinator returns the command coordinator.
func NewCoordinator(term *terminal.Terminal) *cobra.Command {
	o := CoordinatorOptions{Limits: DefaultLimits()}
	c := &cobra.Command{
		Use:   "coordinator",
		Short: "Run the coordinator, which schedules the jobs of sweeps on workers",
		Long: `Coordinator keeps studies, sweeps and results in its data directory, and schedules jobs until it is interrupted.
Started again on the same directory, it goes on.

It speaks TLS, with a certificate that it makes itself, and lets in who has a token: one for workers and one for users
are made at the first start. Each names the coordinator's authority by its hash, so that who has it trusts this
coordinator and no other, at any address. ` + "`foible token`" + ` shows, makes and ends them. A site's own certificate is given with
--tls-cert and --tls-key; workers and users then trust it by --tls-ca.

With --nats, studies, sweeps and results are kept by NATS servers of the site, and any number of coordinators on them
work as one: workers and users dial any, and another when that is lost. The data directory then has only the
authority and the tokens, and all coordinators need the same: share it, or copy its directory access before they start.`,
		Example: "  foible coordinator --listen :7410\n  foible coordinator --listen :7410 --nats nats://a:4222,nats://b:4222,nats://c:4222 --nats-creds foible.creds",
		GroupID: cli.GroupCluster, Args: cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			o.WebAsked = c.Flags().Changed("web")
			return Coordinator(c.Context(), term, o)
		},
	}
	c.Flags().StringVar(&o.Listen, "listen", connect.DefaultAddress, "`host:port` to listen on; :7410 for all addresses of this machine")
	c.Flags().StringVar(&o.Web, "web", connect.DefaultWebAddress, "`host:port` of the dashboard, for browsers; off for none. Beyond this machine it has the coordinator's certificate")
	c.Flags().StringVar(&o.AddressFile, "address-file", "", "`file` to write host:port to when it listens, for those who read it with --coordinator-file")
	cli.DataFlag(c, &o.Data, "of studies, sweeps, results and tokens")
	c.Flags().DurationVar(&o.Lease, "lease", DefaultLease, "`time` that a job stays with a worker that is not heard of")
	c.Flags().DurationVar(&o.JobDeadline, "job-deadline", 0, "`time` that a job may take before an idle worker gets it too; it doubles each time. 0: a minute and ten times what the slowest jobs like it have taken for their size, ten minutes before any is done")
	c.Flags().StringVar(&o.TLSCert, "tls-cert", "", "`file` of a certificate of the site's own, and of those between it and its authority")
	c.Flags().StringVar(&o.TLSKey, "tls-key", "", "`file` of its key")
	c.Flags().StringSliceVar(&o.NATS.URLs, "nats", nil, "`urls` of the site's NATS servers, in place of one in this process")
	c.Flags().StringVar(&o.NATS.CredsFile, "nats-creds", "", "`file` of credentials for them, as nsc makes it")
	c.Flags().StringVar(&o.NATS.LoginFile, "nats-login", "", "`file` with a user's name on its first line and the password on its second")
	c.Flags().StringVar(&o.NATS.CAFile, "nats-ca", "", "`file` of the authorities that sign their certificates (default: those that this machine trusts)")
	c.Flags().StringVar(&o.NATS.CertFile, "nats-cert", "", "`file` of a certificate to show them")
	c.Flags().StringVar(&o.NATS.KeyFile, "nats-key", "", "`file` of its key")
	c.Flags().BoolVar(&o.Insecure, "insecure", false, "no encryption and no tokens, within one machine: everyone on it may call")
	observeFlags(c, &o.Observe)
	for _, limit := range o.Limits.Table() {
		c.Flags().Var(limit.Value, limit.Flag, limit.Meaning)
	}
	return c
}

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
	Limits       limits.Limits
	AddressFile  string // takes the address when the coordinator listens; "": none
	Web          string // address of the dashboard; "": none
	WebAsked     bool   // Web was named, so that it is an error if there can be none

	AddressMode fs.FileMode // of AddressFile; 0: 0644

	Announced func() error    // called before the address is written; nil: nothing
	Dismissed <-chan struct{} // closed when no work is left, so that workers are to end; nil: never
}

// Coordinator runs a coordinator until ctx ends.
func Coordinator(ctx context.Context, term *terminal.Terminal, o CoordinatorOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	servers, err := natsServers(o.NATS)
	if err != nil {
		return err
	}
	watched, err := observe(ctx, term, "foible-coordinator", o.Observe)
	if err != nil {
		return err
	}
	defer watched.stop()
	listener, err := o.listen()
	if err != nil {
		return err
	}
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Servers, cfg.Version, cfg.Logger = listener, o.Data, servers, cli.Version(), term.Logger
	cfg.JobDeadline = o.JobDeadline
	cfg.Scorer, cfg.Shapes = domains.Scorer, domains.Shapes
	cfg.Lease, cfg.Grace = o.Lease, min(cfg.Grace, o.Lease)
	cfg.Limits = o.Limits
	cfg.Metrics, cfg.Tracing = watched.metrics, watched.tracing
	cfg.Dismissed = o.Dismissed
	if err := o.admit(term, &cfg); err != nil {
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
	return o.explain(c.Run(ctx))
}

// validate checks what the flags say, before anything is begun.
func (o *CoordinatorOptions) validate() error {
	if err := connect.CheckAddress("--listen", o.Listen, o.Insecure); err != nil {
		return err
	}
	switch {
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return cli.Usagef("--tls-cert and --tls-key belong together; name both files")
	case o.Insecure && o.TLSCert != "":
		return cli.Usagef("--insecure is without certificates; leave it or --tls-cert out")
	}
	if o.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey); err != nil {
			return fmt.Errorf("--tls-cert and --tls-key: %w; name the files, in PEM, of a certificate and of its key", err)
		}
	}
	if _, err := natsServers(o.NATS); err != nil {
		return err
	}
	if o.Lease < time.Second {
		return cli.Usagef("--lease %v: must be at least 1s", o.Lease)
	}
	if o.JobDeadline < 0 || o.JobDeadline > 0 && o.JobDeadline < time.Second {
		return cli.Usagef("--job-deadline %v: must be at least 1s, or 0 for one by what jobs take", o.JobDeadline)
	}
	if o.Web != "" && o.Web != noWeb {
		if err := connect.CheckAddress("--web", o.Web, o.Insecure); err != nil {
			return err
		}
	}
	if err := o.distinctAddresses(); err != nil {
		return err
	}
	if o.Data == "" {
		return cli.Usagef("--data: name a directory")
	}
	if err := o.Limits.Validate(); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

// listen listens, and makes the data directory.
func (o *CoordinatorOptions) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("the address %s is taken, perhaps by another coordinator; name another with --listen", o.Listen)
		}
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("cannot listen on %s: %w; name another address with --listen", o.Listen, err)
	}
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		_ = listener.Close()
		return nil, cli.CannotWrite(o.Data, "--data", err)
	}
	return listener, nil
}

// admit makes what lets in workers, users and browsers.
func (o *CoordinatorOptions) admit(term *terminal.Terminal, cfg *coordinator.Config) (err error) {
	if !o.Insecure {
		if cfg.Access, err = access.Open(access.Config{
			DataDir: o.Data, Names: access.Names(o.Listen), CertFile: o.TLSCert, KeyFile: o.TLSKey,
			Limits: o.Limits.Access, Logger: term.Logger,
		}); err != nil {
			return cli.CannotWrite(o.Data, "--data", err)
		}
		term.Logger.Info("tokens are in these files", "workers", access.TokenFile(o.Data, access.Worker), "users", access.TokenFile(o.Data, access.User))
	}
	cfg.Web, err = newDashboard(term, o, cfg.Access)
	return err
}

// explain says what to do about why a coordinator has ended.
func (o *CoordinatorOptions) explain(err error) error {
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

// DefaultLease is how long a job stays with a worker that is not heard of.
const DefaultLease = 30 * time.Second

// DefaultLimits are what others can use up of a coordinator by default.
func DefaultLimits() limits.Limits { return limits.Default() }

// distinctAddresses returns an error if two of the coordinator's flags name one address.
func (o *CoordinatorOptions) distinctAddresses() error {
	flags := []struct{ name, address string }{{"--listen", o.Listen}, {"--web", o.Web}, {"--metrics", o.Observe.Metrics}}
	for i, a := range flags {
		for _, b := range flags[i+1:] {
			if sameAddress(a.address, b.address) {
				return cli.Usagef("%s %s and %s %s are the same address; each needs its own, such as --listen %s, --web %s and --metrics %s",
					a.name, a.address, b.name, b.address, connect.DefaultAddress, connect.DefaultWebAddress, MetricsExample)
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
			return nil, cli.Usagef("flags that begin with --nats- are about the servers of --nats; name these")
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
			return nil, cli.Usagef("--nats: what stands on a command line can be seen by all; write name and password into a file, and name that with --nats-login")
		case err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls":
			return nil, cli.Usagef("--nats %q: write it as nats://host:4222 or tls://host:4222", s.URLs[i])
		}
		s.URLs[i] = text
	}
	switch {
	case s.CredsFile != "" && s.LoginFile != "":
		return nil, cli.Usagef("--nats-creds and --nats-login are two ways to log in; leave one out")
	case (s.CertFile == "") != (s.KeyFile == ""):
		return nil, cli.Usagef("--nats-cert and --nats-key belong together; name both files")
	}
	if s.CAFile != "" {
		if _, err := access.Roots(s.CAFile); err != nil {
			return nil, fmt.Errorf("--nats-ca %s: %w; name a file of certificates in PEM", words.Quoted(s.CAFile), cli.Cause(err))
		}
	}
	if s.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile); err != nil {
			return nil, fmt.Errorf("--nats-cert and --nats-key: %w; name the files, in PEM, of a certificate and of its key", err)
		}
	}
	for flag, file := range map[string]string{"--nats-creds": s.CredsFile, "--nats-login": s.LoginFile} {
		if _, err := os.Stat(file); file != "" && err != nil {
			return nil, fmt.Errorf("%s %s: %w; name the file with what the NATS servers ask for", flag, words.Quoted(file), cli.Cause(err))
		}
	}
	return &s, nil
}

// announce writes down where the coordinator listens, for those who read it there.
func (o *CoordinatorOptions) announce(at net.Addr) error {
	if o.Announced != nil {
		if err := o.Announced(); err != nil {
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
	if err := replace.Content(o.AddressFile, cmp.Or(o.AddressMode, 0o644), []byte(net.JoinHostPort(host, port)+"\n")); err != nil {
		return fmt.Errorf("--address-file %s: %w; name another file", words.Quoted(o.AddressFile), cli.Cause(err))
	}
	return nil
}
