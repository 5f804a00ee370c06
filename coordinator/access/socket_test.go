package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"foible.dev/foible/internal/await"
)

// serve answers health checks on a loopback address.
func serve(t *testing.T, options []grpc.ServerOption, wrap func(net.Listener) net.Listener) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	healthv1.RegisterHealthServer(server, health.NewServer())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(wrap(l)); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { server.Stop(); await.Try(t, done, "the server to stop") })
	return l.Addr().String()
}

func plain(l net.Listener) net.Listener { return l }

// dial makes a client of a token.
func dial(t *testing.T, address string, token Token, roots *x509.CertPool) (*Client, healthv1.HealthClient) {
	t.Helper()
	c, err := NewClient(func() (Token, error) { return token, nil }, roots)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(address, c.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return c, healthv1.NewHealthClient(conn)
}

// watching begins a call that a token opens and that does not end by itself.
func watching(t *testing.T, c healthv1.HealthClient) (grpc.ServerStreamingClient[healthv1.HealthCheckResponse], error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit())
	t.Cleanup(cancel)
	stream, err := c.Watch(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		return nil, err
	}
	_, err = stream.Recv()
	return stream, err
}

// A call ends with its token; others are not disturbed.
func TestCallEndsWithItsToken(t *testing.T) {
	k, tokens := open(t, t.TempDir())
	address := serve(t, k.Options(), k.Listen)
	short, long := must[Token](t)(tokens.Create(User, 0, true)), must[Token](t)(tokens.Show(User))
	_, shortClient := dial(t, address, short, nil)
	_, longClient := dial(t, address, long, nil)
	first := must[grpc.ServerStreamingClient[healthv1.HealthCheckResponse]](t)(watching(t, shortClient))
	second := must[grpc.ServerStreamingClient[healthv1.HealthCheckResponse]](t)(watching(t, longClient))
	undisturbed := make(chan error, 1)
	go func() {
		_, err := second.Recv()
		undisturbed <- err
	}()
	if err := tokens.Revoke(record(short).ID); err != nil {
		t.Fatal(err)
	}
	_, err := first.Recv()
	wantCode(t, err, codes.Unauthenticated)
	_, err = watching(t, shortClient)
	wantCode(t, err, codes.Unauthenticated)
	select {
	case err := <-undisturbed:
		t.Errorf("another's call has ended: %v", err)
	default:
	}
}

// A client takes the token that is in its file when it calls.
func TestClientReadsAgain(t *testing.T) {
	k, tokens := open(t, t.TempDir())
	address := serve(t, k.Options(), k.Listen)
	c, err := NewClient(func() (Token, error) { return tokens.Show(User) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(address, c.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 3 {
		if _, err := watching(t, healthv1.NewHealthClient(conn)); err != nil {
			t.Error(err)
		}
		if _, err := tokens.Rotate(User, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// A site's own certificate is trusted by the site's authority and its name. The token's hash says nothing about it.
func TestSiteCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile, rootsFile := filepath.Join(dir, "site.crt"), filepath.Join(dir, "site.key"), filepath.Join(dir, "roots.crt")
	roots := siteCertificate(t, certFile, keyFile, "localhost")
	if err := writePEM(rootsFile, "CERTIFICATE", roots.Raw); err != nil {
		t.Fatal(err)
	}
	k, err := Open(Config{DataDir: dir, CertFile: certFile, KeyFile: keyFile, Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	token := must[Token](t)(must[*Tokens](t)(OpenTokens(dir)).Show(User))
	_, port, _ := net.SplitHostPort(serve(t, k.Options(), k.Listen))
	pool := must[*x509.CertPool](t)(Roots(rootsFile))

	_, client := dial(t, "localhost:"+port, token, pool)
	if _, err := watching(t, client); err != nil {
		t.Error(err)
	}
	for name, at := range map[string]struct {
		host  string
		roots *x509.CertPool
	}{
		"by the token": {"localhost", nil}, "under another name": {"127.0.0.1", pool}, "by other authorities": {"localhost", x509.NewCertPool()},
	} {
		c, client := dial(t, net.JoinHostPort(at.host, port), token, at.roots)
		if _, err := watching(t, client); status.Code(err) != codes.Unavailable || c.Refused() == nil {
			t.Errorf("%s: %v, %v", name, err, c.Refused())
		}
	}

	// The site renews it, under another authority.
	again := siteCertificate(t, certFile, keyFile, "localhost")
	newer := x509.NewCertPool()
	newer.AddCert(again)
	_, client = dial(t, "localhost:"+port, token, newer)
	if _, err := watching(t, client); err != nil {
		t.Errorf("after it was renewed: %v", err)
	}

	if _, err := Open(Config{DataDir: dir, CertFile: certFile, KeyFile: certFile}); err == nil {
		t.Error("a certificate was taken for a key")
	}
	if _, err := Roots(keyFile); err == nil {
		t.Error("a key was taken for an authority")
	}
}

// siteCertificate writes a certificate and its key, and returns the authority that signed it.
func siteCertificate(t *testing.T, certFile, keyFile, name string) *x509.Certificate {
	t.Helper()
	dir := t.TempDir()
	a, err := openAuthority(dir, []string{name})
	if err != nil {
		t.Fatal(err)
	}
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.certificate, &key.PublicKey, a.key))
	text := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(key))
	if err := errors.Join(writePEM(certFile, "CERTIFICATE", der), writePEM(keyFile, "PRIVATE KEY", text)); err != nil {
		t.Fatal(err)
	}
	return a.certificate
}

// Who answers without TLS, with TLS of old, or as another coordinator is not told the token.
func TestForeignServers(t *testing.T) {
	_, tokens := open(t, t.TempDir())
	token := must[Token](t)(tokens.Show(User))
	foreign, _ := open(t, t.TempDir())
	for name, c := range map[string]struct {
		address string
		want    func(error) bool
	}{
		"another coordinator": {serve(t, foreign.Options(), foreign.Listen), func(err error) bool { return errors.Is(err, ErrForeign) }},
		"no TLS":              {serve(t, nil, plain), func(err error) bool { return errors.As(err, &tls.RecordHeaderError{}) }},
	} {
		client, health := dial(t, c.address, token, nil)
		if _, err := watching(t, health); status.Code(err) != codes.Unavailable || !c.want(client.Refused()) {
			t.Errorf("%s: %v, %v", name, err, client.Refused())
		}
	}
	// Nobody there is no reason to mistrust.
	client, health := dial(t, "127.0.0.1:1", token, nil)
	if _, err := watching(t, health); status.Code(err) != codes.Unavailable || client.Refused() != nil {
		t.Errorf("nobody: %v, %v", err, client.Refused())
	}
}

// Probes need no token; who calls on and on without one is cut off, and a guest is not.
func TestProbes(t *testing.T) {
	k, tokens := open(t, t.TempDir())
	address := serve(t, k.Options(), k.Listen)
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, guest := dial(t, address, must[Token](t)(tokens.Show(User)), nil)
	if _, err := watching(t, guest); err != nil {
		t.Fatal(err)
	}
	stranger := healthv1.NewHealthClient(conn)
	most := k.limits.StrangerCalls
	for i := range most {
		if _, err := stranger.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if _, err := stranger.Check(t.Context(), &healthv1.HealthCheckRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("one more than %d: %v", most, err)
	}
	for range 2 * most {
		if _, err := guest.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
			t.Fatalf("a guest: %v", err)
		}
	}
}

// Below TLS 1.3, nothing is spoken.
func TestOldTLS(t *testing.T) {
	k, _ := open(t, t.TempDir())
	address := serve(t, k.Options(), k.Listen)
	for version, ok := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: version, NextProtos: []string{"h2"}})
		if (err == nil) != ok {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
