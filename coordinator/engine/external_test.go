package engine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"foible.dev/foible/internal/await"
	"foible.dev/foible/internal/natssite"
)

// maxPayload is the largest message of servers that can be used.
const maxPayload = MaxResult + 4<<10

// openAt opens the engine of another coordinator on the servers of a site.
func openAt(t *testing.T, s *natssite.Site) *Engine {
	t.Helper()
	return openTest(t, Config{Servers: &Servers{URLs: s.URLs()}, AckWait: 5 * time.Second})
}

// Two engines on three servers do the jobs of a sweep together, while the server that leads its results is lost.
func TestServerLost(t *testing.T) {
	const n = 300
	s := natssite.New(t, maxPayload)
	engines := []*Engine{openAt(t, s), openAt(t, s)}
	ctx := t.Context()
	if _, err := engines[0].CreateSweep(ctx, "s", []byte("spec")); err != nil {
		t.Fatal(err)
	}
	if err := engines[0].Enqueue(ctx, "s", n); err != nil {
		t.Fatal(err)
	}
	if _, err := engines[1].CreateSweep(ctx, "s", []byte("other")); !errors.Is(err, ErrExists) {
		t.Errorf("made again: %v", err)
	}
	info, err := engines[0].link().js.Stream(ctx, resultsName("s"))
	if err != nil || info.CachedInfo().Config.Replicas != 3 {
		t.Errorf("%d replicas, %v", info.CachedInfo().Config.Replicas, err)
	}

	f := &follower{seen: map[int]string{}}
	f.follow(t, engines[1])
	var working sync.WaitGroup
	for i, e := range engines {
		working.Go(func() { workUntil(t, e, fmt.Sprint(i), n) })
	}
	await.Until(t, "a tenth of the results to be followed", func() bool { return f.count() > n/10 })
	lost := s.Leads(resultsName("s"))
	s.Stop(lost)

	changeMeanwhile(t, engines)
	await.Group(t, &working, "all results to be recorded")
	if t.Failed() {
		return
	}
	for job := range n {
		first, err := engines[0].Result(ctx, "s", job)
		if err != nil {
			t.Fatal(err)
		}
		if err := engines[1].Record(ctx, "s", job, []byte("late")); !errors.Is(err, ErrRecorded) {
			t.Fatalf("job %d recorded again: %v", job, err)
		}
		await.Until(t, fmt.Sprintf("the result %q of job %d to be followed", first, job), func() bool { return f.result(job) == string(first) },
			func() any { return f.result(job) })
	}
	s.Start(lost)

	wantNotFound(t, engines[0])
	q, err := engines[1].Queue(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := engines[0].DeleteJobs(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; { // servers hear of it one after the other
		if _, err = q.Fetch(ctx, 1); errors.Is(err, ErrNotFound) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("fetch from a queue that is gone: %v", err)
		}
	}
}

// follower keeps the results of sweep s that it follows.
type follower struct {
	mu   sync.Mutex // guards seen
	seen map[int]string
}

// follow follows results until the test ends; a job that comes twice is an error.
func (f *follower) follow(t *testing.T, e *Engine) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		err := e.Follow(ctx, "s", 0, func(job int, result []byte) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.seen[job] != "" {
				t.Errorf("job %d followed twice", job)
			}
			f.seen[job] = string(result)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		await.Group(t, &running, "the followers to end")
	})
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

func (f *follower) result(job int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[job]
}

// workUntil records results of sweep s, which are a name, until there are so many, whoever has recorded them.
func workUntil(t *testing.T, e *Engine, name string, n int) {
	ctx := t.Context()
	q, err := e.Queue(ctx, "s")
	if err != nil {
		t.Error(err)
		return
	}
	for recorded := 0; recorded < n; {
		got, err := q.Fetch(ctx, 10)
		if err != nil {
			t.Error(err)
			return
		}
		if len(got) == 0 {
			time.Sleep(20 * time.Millisecond)
			recorded = 0
			if err := e.Recorded(ctx, "s", n, func(int) error { recorded++; return nil }); err != nil {
				t.Error(err)
				return
			}
			continue
		}
		var each sync.WaitGroup
		for _, d := range got {
			each.Go(func() {
				if err := e.Record(ctx, "s", d.Job(), []byte(name)); err != nil && !errors.Is(err, ErrRecorded) {
					t.Error(err)
					return
				}
				_ = d.Ack() // else it comes again
			})
		}
		each.Wait()
	}
}

// changeMeanwhile makes and changes a sweep and a study by one engine, and reads them by the other.
func changeMeanwhile(t *testing.T, engines []*Engine) {
	t.Helper()
	ctx := t.Context()
	revision, err := engines[0].CreateSweep(ctx, "t", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engines[0].UpdateSweep(ctx, "t", []byte("2"), revision); err != nil {
		t.Fatal(err)
	}
	if value, _, err := engines[1].Sweep(ctx, "t"); err != nil || string(value) != "2" {
		t.Errorf("%q %v", value, err)
	}
	if err := engines[0].PutStudy(ctx, "study", []byte(strings.Repeat("x", 3<<20))); err != nil {
		t.Fatal(err)
	}
	if bundle, err := engines[1].Study(ctx, "study"); err != nil || len(bundle) != 3<<20 {
		t.Errorf("%d bytes, %v", len(bundle), err)
	}
}

// wantNotFound expects that what does not exist is not found.
func wantNotFound(t *testing.T, e *Engine) {
	t.Helper()
	ctx := t.Context()
	for _, missing := range []error{
		func() error { _, err := e.Result(ctx, "none", 0); return err }(),
		e.Record(ctx, "none", 0, nil),
		e.Follow(ctx, "none", 0, nil),
		func() error { _, _, err := e.Sweep(ctx, "none"); return err }(),
		func() error { _, err := e.Study(ctx, "none"); return err }(),
		func() error { _, err := e.Queue(ctx, "none"); return err }(),
	} {
		if !errors.Is(missing, ErrNotFound) {
			t.Errorf("of a sweep that does not exist: %v", missing)
		}
	}
}

// A change made by one coordinator is seen by the others.
func TestWatchSweeps(t *testing.T) {
	s := natssite.New(t, maxPayload)
	a, b := openAt(t, s), openAt(t, s)
	ctx, stop := context.WithCancel(t.Context())
	seen := make(chan string, 10)
	var running sync.WaitGroup
	running.Go(func() {
		err := b.WatchSweeps(ctx, func(id string, value []byte, revision uint64) { seen <- fmt.Sprint(id, string(value)) })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	defer await.Group(t, &running, "the followers to end")
	defer stop()
	want := func(what string) {
		t.Helper()
		if got := await.Value(t, seen, "the change "+what); got != what {
			t.Errorf("saw %s, want %s", got, what)
		}
	}
	revision, err := a.CreateSweep(ctx, "s", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	want("s1")
	if _, err := a.UpdateSweep(ctx, "s", []byte("2"), revision); err != nil {
		t.Fatal(err)
	}
	want("s2")
	if _, err := b.UpdateSweep(ctx, "s", []byte("3"), revision); !errors.Is(err, ErrConflict) {
		t.Errorf("changed from an old revision: %v", err)
	}

	// Jobs that two coordinators find ready are queued once; those given again on purpose are given again.
	for _, e := range []*Engine{a, b} {
		if err := e.RequeueReady(ctx, "s", []int{7, 8}); err != nil {
			t.Fatal(err)
		}
	}
	q, err := b.Queue(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	if waiting, _, err := q.Pending(ctx); err != nil || waiting != 2 {
		t.Errorf("%d jobs wait, %v", waiting, err)
	}

	heard := make(chan string, 1000)
	if err := b.Hear(func(said []byte) { heard <- string(said) }); err != nil {
		t.Fatal(err)
	}
	for d := await.Begin(); ; d.Check(t, "the other to hear something") { // until its server knows that someone listens at another
		if err := a.Tell([]byte("here")); err != nil {
			t.Fatal(err)
		}
		select {
		case said := <-heard:
			if said != "here" {
				t.Errorf("heard %q", said)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// selfSigned makes the certificate of a server, and of a client, that is its own authority.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// Servers that cannot do what is needed say so, and how it is put right.
func TestServersRefused(t *testing.T) {
	login := filepath.Join(t.TempDir(), "login")
	certificate, key := selfSigned(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(own)
	secured := server.Options{JetStream: true, MaxPayload: maxPayload, TLS: true, TLSVerify: true, TLSTimeout: 5, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
	}}
	for _, c := range []struct {
		name    string
		options server.Options
		servers Servers
		login   string
		want    string // "" if it is taken
	}{
		{name: "small messages", options: server.Options{JetStream: true, MaxPayload: 1 << 20}, want: "set max_payload: 8MB"},
		{name: "no login", options: server.Options{JetStream: true, MaxPayload: maxPayload, Username: "foible", Password: "secret"}, want: "NATS refuses the login"},
		{name: "wrong login", options: server.Options{JetStream: true, MaxPayload: maxPayload, Username: "foible", Password: "secret"}, login: "foible\nwrong\n", want: "NATS refuses the login"},
		{name: "half a login", options: server.Options{JetStream: true, MaxPayload: maxPayload}, login: "foible\n", want: "want the user's name on the first line"},
		{name: "unknown authority", options: secured, servers: Servers{CertFile: certificate, KeyFile: key}, want: "is not trusted"},
		{name: "certificates", options: secured, servers: Servers{CAFile: certificate, CertFile: certificate, KeyFile: key}},
		{name: "login", options: server.Options{JetStream: true, MaxPayload: maxPayload, Username: "foible", Password: "secret"}, login: "foible\nsecret\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.options.Clone()
			o.Host, o.Port, o.NoSigs, o.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, t.TempDir()
			srv, err := server.NewServer(o)
			if err != nil {
				t.Fatal(err)
			}
			go srv.Start()
			defer srv.WaitForShutdown()
			defer srv.Shutdown()
			if !srv.ReadyForConnections(10 * time.Second) {
				t.Fatal("the server does not start")
			}
			servers := c.servers
			servers.URLs = []string{srv.ClientURL()}
			if c.login != "" {
				servers.LoginFile = login
				if err := os.WriteFile(login, []byte(c.login), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, err := Open(t.Context(), Config{Servers: &servers})
			if err == nil {
				defer e.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
