package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Config of a Keeper.
type Config struct {
	// DataDir is the coordinator's; authority and tokens are below it. Coordinators that are to be taken for one
	// share it, or have copies. It may be read-only if nothing is missing.
	DataDir string
	// Names are those in the certificate that the coordinator makes itself.
	Names []string
	// CertFile and KeyFile are a site's own certificate, in place of that one. They are read again when they change.
	CertFile, KeyFile string
	// Limits are what others can use up.
	Limits Limits
	// Logger takes what an operator acts on; nil for none.
	Logger hclog.Logger
}

// Keeper keeps a coordinator's door: it speaks TLS, and lets a call through
// if its token says so. Nothing of a call is read before that but its headers.
type Keeper struct {
	limits    Limits
	log       hclog.Logger
	authority Pin
	key       *ecdsa.PrivateKey // of the authority
	records   *watched[[]Record]
	tls       *tls.Config

	rates   rates
	calls   inFlight // of users, without streams
	streams inFlight // of users

	mu    sync.Mutex    // guards what follows
	calm  *rate.Limiter // of messages about refusals
	quiet int           // refusals since the last message
}

// Open makes what is missing of authority and tokens, and reads the rest.
func Open(cfg Config) (*Keeper, error) {
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	k := &Keeper{limits: cfg.Limits, log: log.Named("access"), calm: rate.NewLimiter(1, 10)}
	k.calls = inFlight{what: "calls", most: k.limits.Calls, mostPerHost: k.limits.CallsPerHost, perHost: map[string]int{}}
	k.streams = inFlight{what: "streams", most: k.limits.Streams, mostPerHost: k.limits.StreamsPerHost, perHost: map[string]int{}}
	a, tokens, err := provide(cfg)
	if err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	k.authority, k.key = pinOf(a.certificate), a.key
	k.records = &watched[[]Record]{paths: []string{tokens.file()}, load: tokens.List, log: k.log}
	certificate := a.get
	if cfg.CertFile != "" {
		site := &watched[*tls.Certificate]{paths: []string{cfg.CertFile, cfg.KeyFile}, log: k.log, load: func() (*tls.Certificate, error) {
			c, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
			return &c, err
		}}
		certificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return site.get() }
	}
	if _, err := certificate(nil); err != nil {
		return nil, fmt.Errorf("access: certificate: %w", err)
	}
	k.tls = &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: certificate}
	if _, err := k.records.get(); err != nil {
		return nil, fmt.Errorf("access: tokens: %w", err)
	}
	return k, nil
}

// provide makes what is missing in the directory, where only its owner can read.
func provide(cfg Config) (*authority, *Tokens, error) {
	dir := Dir(cfg.DataDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil && !errors.Is(err, syscall.EROFS) {
		return nil, nil, err
	}
	if !exist(filepath.Join(dir, keyFile), filepath.Join(dir, authorityFile)) {
		unlock, err := lock(dir)
		if err != nil {
			return nil, nil, err
		}
		_, err = openAuthority(dir, cfg.Names)
		unlock()
		if err != nil {
			return nil, nil, err
		}
	}
	a, err := openAuthority(dir, cfg.Names)
	if err != nil {
		return nil, nil, err
	}
	tokens := &Tokens{dataDir: cfg.DataDir, pin: pinOf(a.certificate)}
	for _, kind := range []Kind{Worker, User} {
		if err := tokens.provide(kind); err != nil {
			return nil, nil, err
		}
	}
	return a, tokens, nil
}

// exist says whether all files are there.
func exist(paths ...string) bool {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

// Authority is the hash that tokens name.
func (k *Keeper) Authority() Pin { return k.authority }

// Listen puts the limits on connections before a listener.
func (k *Keeper) Listen(l net.Listener) net.Listener { return newDoor(l, k.limits) }

// Options make a server ask the Keeper.
func (k *Keeper) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(credentials.NewTLS(k.tls)),
		// An interceptor of a unary call comes after its request has been read, and who is refused must not send any.
		grpc.InTapHandle(k.ask),
		grpc.StatsHandler(endings{}),
		grpc.ChainStreamInterceptor(k.watch),
	}
}

// healthCheck is for probes, which have no token.
const healthCheck = "/grpc.health.v1.Health/Check"

// permits says what a token opens. What is not named here is closed.
func permits(r *Record, method string) bool {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	switch r.Kind {
	case Worker:
		return service == foiblev1.WorkerService_ServiceDesc.ServiceName || method == foiblev1.StudyService_GetStudy_FullMethodName
	case User:
		switch service {
		case foiblev1.SweepService_ServiceDesc.ServiceName, foiblev1.StudyService_ServiceDesc.ServiceName:
			return !r.ReadOnly || slices.ContainsFunc([]string{"Get", "List", "Watch", "Export"}, func(verb string) bool { return strings.HasPrefix(name, verb) })
		case "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection", "grpc.health.v1.Health":
			return true
		}
	}
	return false
}

// ask decides about a call by its headers.
func (k *Keeper) ask(ctx context.Context, call *tap.Info) (context.Context, error) {
	g := guestOf(ctx)
	if call.FullMethodName == healthCheck {
		if g != nil {
			g.bother()
		}
		return ctx, nil
	}
	r, err := k.known(call.Header)
	if err == nil && !permits(r, call.FullMethodName) {
		err = status.Error(codes.PermissionDenied, refusal(r))
	}
	if err == nil {
		err = k.admit(ctx, call.FullMethodName, r)
	}
	if err != nil {
		if g != nil {
			g.refuse()
		}
		k.tell(ctx, call.FullMethodName, err)
		return nil, err
	}
	return context.WithValue(ctx, recordKey{}, r), nil
}

// admit says whether there is room for another call with a token, and counts it.
func (k *Keeper) admit(ctx context.Context, method string, r *Record) error {
	g, limits := guestOf(ctx), &k.limits.UserCalls
	if r.Kind == Worker {
		limits = &k.limits.WorkerCalls
	}
	if g != nil {
		if err := g.admit(r.ID); err != nil {
			return status.Error(codes.ResourceExhausted, err.Error())
		}
	}
	host := peerOf(ctx)
	if err := k.rates.allow(g, host, r.ID, limits); err != nil {
		return status.Error(codes.ResourceExhausted, err.Error())
	}
	if r.Kind == Worker {
		return nil
	}
	flying := &k.streams
	if unary[method] {
		flying = &k.calls
	}
	if err := flying.begin(ctx, host); err != nil {
		return status.Error(codes.ResourceExhausted, err.Error())
	}
	return nil
}

// unary are the methods of users that are no streams.
var unary = unaryMethods(foiblev1.SweepService_ServiceDesc, foiblev1.StudyService_ServiceDesc)

func unaryMethods(services ...grpc.ServiceDesc) map[string]bool {
	all := map[string]bool{}
	for _, service := range services {
		for _, m := range service.Methods {
			all["/"+service.ServiceName+"/"+m.MethodName] = true
		}
	}
	return all
}

// guestOf is the connection of a call; nil where no Listen has been.
func guestOf(ctx context.Context) *guest {
	if p, ok := peer.FromContext(ctx); ok {
		if s, ok := p.Addr.(seat); ok {
			return s.guest
		}
	}
	return nil
}

// peerOf is the address of the caller, without its port.
func peerOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return hostOf(p.Addr)
	}
	return "unknown"
}

// recordKey is of the record of a call's token.
type recordKey struct{}

func refusal(r *Record) string {
	switch {
	case r.Kind == Worker:
		return "the token is for workers and does not open this; `foible token show user` prints one for users where the coordinator runs"
	case r.ReadOnly:
		return "the token is for reading only; `foible token show user` prints one that opens this where the coordinator runs"
	}
	return "the token is for users and does not open this; `foible token show worker` prints one for workers where the coordinator runs"
}

// known finds the token of a call.
func (k *Keeper) known(headers metadata.MD) (*Record, error) {
	given := headers.Get(header)
	if len(given) != 1 {
		return nil, status.Error(codes.Unauthenticated, "a token is needed; `foible token show worker` or `foible token show user` prints one where the coordinator runs")
	}
	all, err := k.records.get()
	if err != nil {
		return nil, status.Error(codes.Unavailable, "the coordinator cannot read its tokens; its log says why")
	}
	r := find(all, strings.TrimPrefix(given[0], scheme))
	switch {
	case r == nil:
		return nil, status.Error(codes.Unauthenticated, "the token is not one of this coordinator's, or not any more; `foible token show worker` or `foible token show user` prints one where the coordinator runs")
	case r.Expired(time.Now()):
		return nil, status.Errorf(codes.Unauthenticated, "the token ended on %s; `foible token show worker` or `foible token show user` prints one where the coordinator runs", r.Expires.UTC().Format("2006-01-02 15:04 MST"))
	}
	return r, nil
}

// tell logs a refusal, if there have not been many.
func (k *Keeper) tell(ctx context.Context, method string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.calm.Allow() {
		k.quiet++
		return
	}
	k.log.Warn("call refused", "peer", peerOf(ctx), "method", method[:min(len(method), 100)], "not_logged", k.quiet, "reason", status.Convert(err).Message())
	k.quiet = 0
}

// checkInterval is how long a call may go on with a token that has ended.
const checkInterval = 2 * time.Second

// watch ends a stream when its token does.
func (k *Keeper) watch(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	r, ok := stream.Context().Value(recordKey{}).(*Record)
	if !ok {
		return handle(server, stream)
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	ended := status.Error(codes.Unauthenticated, "the token of this call has ended; `foible token show` prints the one of today where the coordinator runs")
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() {
		check := time.NewTicker(checkInterval)
		defer check.Stop()
		for k.valid(r) {
			select {
			case <-check.C:
			case <-ctx.Done():
				return
			}
		}
		cancel(ended)
	})
	err := handle(server, &watchedStream{stream, ctx})
	if context.Cause(ctx) == ended {
		return ended
	}
	return err
}

// valid says whether a token is still good. That of tokens that cannot be read is, as far as can be known.
func (k *Keeper) valid(r *Record) bool {
	all, err := k.records.get()
	if err != nil {
		return !r.Expired(time.Now())
	}
	return slices.ContainsFunc(all, func(other Record) bool { return other.Hash == r.Hash && !other.Expired(time.Now()) })
}

// watchedStream is a stream whose context ends with its token.
type watchedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements [grpc.ServerStream].
func (s *watchedStream) Context() context.Context { return s.ctx }

// watched is what was read from files, read again when they change.
type watched[T any] struct {
	paths []string
	load  func() (T, error)
	log   hclog.Logger

	mu    sync.Mutex // guards what follows
	files []fs.FileInfo
	value T
	err   error
	once  bool // it has been read
}

// get is the newest that could be read. What has been read stays good if the files do not.
func (w *watched[T]) get() (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := make([]fs.FileInfo, len(w.paths))
	for i, path := range w.paths {
		now[i], _ = os.Stat(path) // load says what is wrong
	}
	if w.once && slices.EqualFunc(w.files, now, same) {
		return w.value, w.err
	}
	w.files = now
	value, err := w.load()
	switch {
	case err == nil:
		w.value, w.err = value, nil
	case w.once && w.err == nil:
		w.log.Error("file has changed and cannot be read; what it said before stays", "file", w.paths[0], "error", err)
	default:
		w.err = err
	}
	w.once = true
	return w.value, w.err
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
