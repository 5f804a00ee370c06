//go:build unix

package coordinator_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/domains"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// handshake is the time that the fortress gives strangers.
const handshake = 2 * time.Second

// fortress is a coordinator on a socket, as `foible coordinator` starts it, with a worker on a real sweep. The worker
// does a job when it is told to.
type fortress struct {
	*cluster
	address string
	dir     string
	tokens  *access.Tokens
	log     safeBuffer
	next    chan struct{} // lets the worker do a job
	sweep   string

	mu   sync.Mutex // guards said
	said []string   // errors that callers saw
}

// safeBuffer may be written by several.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// paced does a job when it may.
type paced struct {
	worker.Executor
	next <-chan struct{}
}

func (p paced) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	select {
	case <-p.next:
		return p.Executor.Execute(ctx, job)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sample asks for a sweep of a sample study.
func (c *cluster) sample() *foiblev1.CreateSweepRequest {
	c.t.Helper()
	domain, _ := domains.ByName("block-words")
	s, found := domains.Load(domain.Sample)
	if err := found.Err(); err != nil {
		c.t.Fatal(err)
	}
	hash, err := c.send(s.Bundle)
	if err != nil {
		c.t.Fatal(err)
	}
	config, err := domains.LoadSweep("sweep.yaml", []byte("models: {boltzmann: {alpha: [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4]}}\nbootstrap: {resamples: 20}\nseed: 1\n"))
	if err != nil {
		c.t.Fatal(err)
	}
	return &foiblev1.CreateSweepRequest{StudyHash: hash, StudyName: s.Name, Config: config, Stimuli: s.Shapes()}
}

func newFortress(t *testing.T) *fortress {
	f := &fortress{next: make(chan struct{}, 1000)}
	logger := hclog.New(&hclog.LoggerOptions{Output: &f.log, Level: hclog.Trace})
	f.cluster = newCluster(t, func(cfg *coordinator.Config) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f.address, f.dir, cfg.Listener, cfg.Logger = listener.Addr().String(), cfg.DataDir, listener, logger
		limits := access.DefaultLimits()
		limits.Handshake = handshake
		if cfg.Access, err = access.Open(access.Config{DataDir: cfg.DataDir, Limits: limits, Logger: logger}); err != nil {
			t.Fatal(err)
		}
	})
	_ = f.conn.Close() // it leads nowhere
	var err error
	if f.tokens, err = access.OpenTokens(f.dir); err != nil {
		t.Fatal(err)
	}
	f.conn = f.connectAs(f.token(access.User))
	f.sweeps, f.studies = foiblev1.NewSweepServiceClient(f.conn), foiblev1.NewStudyServiceClient(f.conn)

	conn := f.connectAs(f.token(access.Worker))
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Slots, cfg.Version, cfg.Host, cfg.DrainTimeout = conn, 2, version, "test", time.Second
	cfg.Executor = paced{worker.NewScience(foiblev1.NewStudyServiceClient(conn)), f.next}
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: &f.log, Level: hclog.Trace})
	w, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err, ok := await.Try(t, stopped, "the worker to stop", f.log.String); ok && err != nil {
			t.Errorf("worker: %v", err)
		}
	})
	f.sweep = f.submit(f.sample())
	return f
}

func (f *fortress) token(kind access.Kind) access.Token {
	f.t.Helper()
	token, err := f.tokens.Show(kind)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

// connectAs makes a connection as the owner of a token does.
func (f *fortress) connectAs(token access.Token) *grpc.ClientConn {
	f.t.Helper()
	client, err := access.NewClient(func() (access.Token, error) { return token, nil }, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.connection(append(client.Options(), append(limited(), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limits.MaxResponseBytes), grpc.MaxCallSendMsgSize(1<<30)))...)...)
}

// forge makes a connection that trusts everyone, and sends as a token what it is given.
func (f *fortress) forge(token string) *grpc.ClientConn {
	f.t.Helper()
	show := func(ctx context.Context) context.Context {
		if token == "" {
			return ctx
		}
		return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	return f.connection(append(limited(),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return invoke(show(ctx), method, req, reply, cc, opts...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return stream(show(ctx), desc, cc, method, opts...)
		}),
	)...)
}

func (f *fortress) connection(options ...grpc.DialOption) *grpc.ClientConn {
	f.t.Helper()
	conn, err := grpc.NewClient(f.address, options...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// refused checks the code of an error, and keeps what it says.
func (f *fortress) refused(err error, code codes.Code, says string) {
	f.t.Helper()
	f.mu.Lock()
	f.said = append(f.said, fmt.Sprint(err))
	f.mu.Unlock()
	if status.Code(err) != code || !strings.Contains(fmt.Sprint(err), says) {
		f.t.Errorf("got %v, want %v that says %q", err, code, says)
	}
}

// Calls, one of each kind.

func (f *fortress) get(conn *grpc.ClientConn) error {
	_, err := foiblev1.NewSweepServiceClient(conn).GetSweep(f.t.Context(), &foiblev1.GetSweepRequest{SweepId: f.sweep})
	return err
}

func (f *fortress) send(conn *grpc.ClientConn) error {
	stream, err := foiblev1.NewStudyServiceClient(conn).CreateStudy(f.t.Context())
	if err != nil {
		return err
	}
	_, err = stream.CloseAndRecv()
	return err
}

func (f *fortress) fetch(conn *grpc.ClientConn, hash string) error {
	stream, err := foiblev1.NewStudyServiceClient(conn).GetStudy(f.t.Context(), &foiblev1.GetStudyRequest{StudyHash: hash})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

func (f *fortress) work(conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(f.t.Context(), await.Limit())
	defer cancel()
	stream, err := foiblev1.NewWorkerServiceClient(conn).Work(ctx)
	if err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

func (f *fortress) reflect(conn *grpc.ClientConn) error {
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(f.t.Context())
	if err != nil {
		return err
	}
	_ = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	_, err = stream.Recv()
	return err
}

func (f *fortress) check(conn *grpc.ClientConn) error {
	_, err := healthv1.NewHealthClient(conn).Check(f.t.Context(), &healthv1.HealthCheckRequest{})
	return err
}

func secret(token access.Token) string { return strings.Split(token.Reveal(), "-")[2] }

// unattacked runs a sweep with nobody else there. It returns the results, and how many there are.
func unattacked(t *testing.T) (results []byte, n int) {
	t.Helper()
	plain := newCluster(t, nil)
	conn := plain.dial()
	defer conn.Close()
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Slots, cfg.Version, cfg.Host, cfg.Executor = conn, 2, version, "test", worker.NewScience(foiblev1.NewStudyServiceClient(conn))
	w, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	id := plain.submit(plain.sample())
	plain.wait(id)
	results, n = plain.export(id)
	cancel()
	if err, ok := await.Try(t, stopped, "the worker to stop"); ok && err != nil {
		t.Error(err)
	}
	return results, n
}

// intruder attacks a fortress.
type intruder struct {
	*fortress
	user, workers, ended, reader access.Token // of the coordinator; ended has expired, reader may only read
	theirs                       access.Token // of another coordinator
	stranger                     *access.Keeper
	foreign                      string // directory of the other coordinator
}

func newIntruder(t *testing.T) *intruder {
	t.Helper()
	f := &intruder{fortress: newFortress(t), foreign: t.TempDir()}
	f.user, f.workers = f.token(access.User), f.token(access.Worker)
	var err error
	f.ended, err = f.tokens.Create(access.User, time.Nanosecond, false)
	if err != nil {
		t.Fatal(err)
	}
	f.reader, err = f.tokens.Create(access.User, time.Hour, true)
	if err != nil {
		t.Fatal(err)
	}
	f.stranger, err = access.Open(access.Config{DataDir: f.foreign, Limits: access.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	strangers, err := access.OpenTokens(f.foreign)
	if err != nil {
		t.Fatal(err)
	}
	f.theirs, err = strangers.Show(access.User)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// how begins the advice to whom a token is missing.
const how = "`foible token show "

var attacks = []struct {
	name   string
	attack func(*intruder)
}{
	{"wrong token", (*intruder).wrongToken},
	{"missing token", (*intruder).missingToken},
	{"expired token", (*intruder).expiredToken},
	{"token for another purpose", (*intruder).tokenForAnotherPurpose},
	{"client without TLS", (*intruder).clientWithoutTLS},
	{"client with a certificate of its own", (*intruder).clientWithACertificateOfItsOwn},
	{"client of another coordinator", (*intruder).clientOfAnotherCoordinator},
	{"server with a foreign certificate", (*intruder).serverWithAForeignCertificate},
	{"message of 100 MB", (*intruder).largeMessage},
	{"headers of 1 MB", (*intruder).largeHeaders},
	{"clients that take their time", func(f *intruder) { slowClients(f.fortress) }},
	{"10,000 connections", func(f *intruder) { manyConnections(f.fortress) }},
}

func (f *intruder) wrongToken() {
	for _, token := range []string{"nonsense", "aaaabbbbccccddddeeeeffffgggghhhh", secret(f.user)[1:], secret(f.user) + "a", f.user.Reveal(), secret(f.theirs)} {
		f.refused(f.get(f.forge(token)), codes.Unauthenticated, how)
		f.refused(f.work(f.forge(token)), codes.Unauthenticated, how)
	}
}

func (f *intruder) missingToken() {
	conn := f.forge("")
	for _, call := range []func(*grpc.ClientConn) error{f.get, f.send, f.work, f.reflect} {
		f.refused(call(conn), codes.Unauthenticated, "a token is needed; "+how)
	}
	if err := f.check(conn); err != nil {
		f.t.Errorf("a probe: %v", err)
	}
}

func (f *intruder) expiredToken() {
	f.refused(f.get(f.connectAs(f.ended)), codes.Unauthenticated, "the token ended on ")
}

func (f *intruder) tokenForAnotherPurpose() {
	conn := f.connectAs(f.workers)
	for _, call := range []func(*grpc.ClientConn) error{f.get, f.send, f.reflect} {
		f.refused(call(conn), codes.PermissionDenied, how+"user`")
	}
	f.refused(f.fetch(conn, "00"), codes.NotFound, "study 00")
	f.refused(f.work(f.connectAs(f.user)), codes.PermissionDenied, how+"worker`")
	conn = f.connectAs(f.reader)
	f.refused(f.send(conn), codes.PermissionDenied, "for reading only")
	f.refused(f.work(conn), codes.PermissionDenied, "for reading only")
	if err := errors.Join(f.get(conn), f.reflect(conn)); err != nil {
		f.t.Errorf("a reader: %v", err)
	}
}

func (f *intruder) clientWithoutTLS() {
	conn := f.connection(grpc.WithTransportCredentials(insecure.NewCredentials()))
	f.refused(f.get(conn), codes.Unavailable, "")
}

func (f *intruder) clientWithACertificateOfItsOwn() {
	pair, err := tls.X509KeyPair(certificate(f.t, f.foreign))
	if err != nil {
		f.t.Fatal(err)
	}
	conn := f.connection(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}})))
	f.refused(f.get(conn), codes.Unauthenticated, "a token is needed")
}

func (f *intruder) clientOfAnotherCoordinator() {
	f.refused(f.get(f.connectAs(f.theirs)), codes.Unavailable, "is not of the coordinator that made the token")
}

func (f *intruder) serverWithAForeignCertificate() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	server := grpc.NewServer(append(f.stranger.Options(), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		headers, _ := metadata.FromIncomingContext(s.Context())
		f.t.Errorf("a foreign server was called, with %d tokens", len(headers.Get("authorization")))
		return nil
	}))...)
	served := make(chan error, 1)
	go func() { served <- server.Serve(f.stranger.Listen(l)) }()
	defer func() { server.Stop(); await.Try(f.t, served, "the foreign server to stop") }()
	client, err := access.NewClient(func() (access.Token, error) { return f.user, nil }, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	conn, err := grpc.NewClient(l.Addr().String(), client.Options()...)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	f.refused(f.get(conn), codes.Unavailable, "is not of the coordinator that made the token")
	if !errors.Is(client.Refused(), access.ErrForeign) {
		f.t.Error(client.Refused())
	}
}

func (f *intruder) largeMessage() {
	big := &foiblev1.CreateSweepRequest{StudyName: strings.Repeat("a", 100<<20)}
	call := func(conn *grpc.ClientConn) error {
		_, err := foiblev1.NewSweepServiceClient(conn).CreateSweep(f.t.Context(), big)
		return err
	}
	f.refused(call(f.connectAs(f.user)), codes.ResourceExhausted, "larger than max")
	f.refused(call(f.forge("")), codes.Unauthenticated, "a token is needed")
	ctx, cancel := context.WithTimeout(f.t.Context(), await.Limit())
	defer cancel()
	stream, err := foiblev1.NewWorkerServiceClient(f.connectAs(f.workers)).Work(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = stream.Send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Hello{Hello: &foiblev1.Hello{Version: version, Host: big.GetStudyName(), Slots: 1}}})
	_, err = stream.Recv()
	f.refused(err, codes.ResourceExhausted, "larger than max")
}

func (f *intruder) largeHeaders() {
	err := f.get(f.forge(strings.Repeat("a", 1<<20)))
	if err == nil {
		f.t.Error("they are taken")
	}
}

// TestRefusals: what comes to a coordinator without right is refused, and the sweep that it runs does not notice.
func TestRefusals(t *testing.T) {
	want, n := unattacked(t)
	f := newIntruder(t)
	for _, c := range attacks {
		t.Run(c.name, func(t *testing.T) {
			f.t = t
			before := f.done()
			c.attack(f)
			f.unharmed(before)
		})
	}
	f.t = t

	for range n {
		await.Send(f.t, f.next, struct{}{}, "the worker to take a job")
	}
	if s := f.wait(f.sweep); s.GetProgress().GetJobsFailed() > 0 {
		t.Errorf("%v", s.GetProgress())
	}
	if got, _ := f.export(f.sweep); !bytes.Equal(got, want) {
		t.Error("the results are others than without all this")
	}
	log := f.log.String()
	if strings.Contains(log, "connection lost") || strings.Contains(log, "worker left") {
		t.Errorf("the worker lost its connection:\n%s", log)
	}
	if !strings.Contains(log, "call refused: peer=127.0.0.1 method=/foible.v1.") {
		t.Errorf("no refusal is in the log:\n%s", log)
	}
	for _, token := range []access.Token{f.user, f.workers, f.ended, f.reader, f.theirs} {
		for _, text := range append(f.said, log) {
			if strings.Contains(text, secret(token)) || strings.Contains(text, token.Reveal()) {
				t.Errorf("there is a secret in\n%s", text)
			}
		}
	}
}

func (f *fortress) done() int64 {
	f.t.Helper()
	m, err := f.sweeps.GetSweep(f.t.Context(), &foiblev1.GetSweepRequest{SweepId: f.sweep})
	if err != nil {
		f.t.Fatal(err)
	}
	return m.GetSweep().GetProgress().GetJobsDone()
}

// unharmed lets the worker do a job, and waits until it is recorded.
func (f *fortress) unharmed(before int64) {
	f.t.Helper()
	await.Send(f.t, f.next, struct{}{}, "the worker to take a job")
	await.Until(f.t, "a job to be recorded", func() bool { return f.done() > before }, f.log.String)
}

// certificate is some certificate and its key.
func certificate(t testing.TB, dataDir string) (certificate, key []byte) {
	t.Helper()
	for file, content := range map[string]*[]byte{"ca.crt": &certificate, "ca.key": &key} {
		var err error
		if *content, err = os.ReadFile(access.Dir(dataDir) + "/" + file); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// slowClients stop at each stage of a connection, or go on byte by byte. All are dropped.
func slowClients(f *fortress) {
	t := f.t
	shaken := func() net.Conn {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: await.Patience}, "tcp", f.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	raw := func() net.Conn {
		conn, err := net.DialTimeout("tcp", f.address, await.Patience)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	headers := "\x00\x40\x00\x01\x04\x00\x00\x00\x01" // and 16 KB to come
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		connect func() net.Conn
		first   string // sent at once
		rest    string // sent byte by byte, over and over
	}{
		"silent":                            {raw, "", ""},
		"in the middle of the handshake":    {raw, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "a"},
		"silent after the handshake":        {shaken, "", ""},
		"in the middle of the preface":      {shaken, preface[:5], ""},
		"silent after the preface":          {shaken, preface + settings, ""},
		"in the middle of the headers":      {shaken, preface + settings + headers, "a"},
		"pings and nothing else, each slow": {shaken, preface + settings, "\x00\x00\x08\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
	} {
		all.Go(func() {
			conn := c.connect()
			defer conn.Close()
			began := time.Now()
			if _, err := io.WriteString(conn, c.first); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			go func() {
				for i := 0; c.rest != ""; i++ {
					if _, err := conn.Write([]byte{c.rest[i%len(c.rest)]}); err != nil {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
			_ = conn.SetReadDeadline(began.Add(handshake + await.Patience))
			_, err := io.Copy(io.Discard, conn)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: still there after %v", name, time.Since(began))
			}
		})
	}
	await.Group(t, &all, "all clients to be dropped", f.log.String)
}

// manyConnections are opened and held. New callers with a token still come through.
func manyConnections(f *fortress) {
	t := f.t
	n := 10_000
	if testing.Short() {
		n = 2_000
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if room := int(files.Cur) - 1000; room < n {
		t.Logf("%d connections, not %d: this process may have %d files", room, n, files.Cur)
		n = room
	}
	var flood sync.WaitGroup
	held := make(chan net.Conn, n)
	hello := []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
	for i := range 32 {
		flood.Go(func() {
			for range n / 32 {
				conn, err := net.DialTimeout("tcp", f.address, await.Patience)
				if err != nil {
					t.Errorf("connection: %v", err)
					return
				}
				held <- conn
				if i%2 == 0 { // the other ones say nothing
					_, _ = conn.Write(hello)
				}
			}
		})
	}
	flooding := make(chan struct{})
	go func() { flood.Wait(); close(flooding) }()
	defer func() {
		if _, ok := await.Try(t, flooding, "all connections to be made"); !ok {
			return
		}
		close(held)
		for conn := range held {
			_ = conn.Close()
		}
	}()
	call := func() {
		if err := f.get(f.connectAs(f.token(access.User))); err != nil {
			// While they come, a newcomer may be one of those that make room.
			if status.Code(err) != codes.Unavailable {
				t.Errorf("a user: %v", err)
			}
		}
		f.done() // on a connection that was there before
	}
	for {
		select {
		case <-flooding:
			if err := f.get(f.connectAs(f.token(access.User))); err != nil {
				t.Errorf("a user, when all are there: %v", err)
			}
			return
		default:
			call()
		}
	}
}
