package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// header carries the secret of a token, after scheme.
const (
	header = "authorization"
	scheme = "Bearer "
)

// Client is how a token's owner dials the coordinator.
type Client struct {
	source func() (Token, error)
	tls    *tls.Config

	mu      sync.Mutex // guards what follows
	last    Token      // that source gave
	refused error      // by the last handshake, what the coordinator showed
}

// NewClient makes a client of a token. The source is asked again at every
// call, since a file may hold another by then; if it fails, the token before
// stays in use. Roots, if not nil, are a site's own, by which a coordinator
// is known by its name; else the token says which coordinator it is.
func NewClient(source func() (Token, error), roots *x509.CertPool) (*Client, error) {
	token, err := source()
	if err != nil {
		return nil, err
	}
	c := &Client{source: source, last: token, tls: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}}
	if roots == nil {
		c.tls.InsecureSkipVerify = true // in favour of what follows
		c.tls.VerifyConnection = func(state tls.ConnectionState) error { return verify(state.PeerCertificates, token.Pin) }
	}
	return c, nil
}

// ErrForeign is of a coordinator that is not the token's.
var ErrForeign = errors.New("its certificate is not of the coordinator that made the token")

// verify says whether a chain ends at the pinned authority. The name in the
// certificate does not matter: the authority has no other coordinator.
func verify(chain []*x509.Certificate, pin Pin) error {
	if len(chain) == 0 {
		return ErrForeign
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	found := false
	for _, c := range chain[1:] {
		if pinOf(c) == pin {
			roots.AddCert(c)
			found = true
		} else {
			between.AddCert(c)
		}
	}
	if !found {
		return ErrForeign
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		return err // or a clock is wrong
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return nil
}

// Options make a connection speak TLS, to the right coordinator, and show the token only to it.
func (c *Client) Options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(&shaking{credentials.NewTLS(c.tls), c}),
		grpc.WithPerRPCCredentials(bearer{c}),
	}
}

// Refused says why the coordinator that answered last was not trusted; nil if it was, or if none has answered.
func (c *Client) Refused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// token is the newest that the source gives.
func (c *Client) token() Token {
	token, err := c.source()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.last = token
	}
	return c.last
}

// bearer shows a client's token with every call.
type bearer struct{ c *Client }

// GetRequestMetadata implements [credentials.PerRPCCredentials].
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{header: scheme + b.c.token().secret}, nil
}

// RequireTransportSecurity implements [credentials.PerRPCCredentials].
func (bearer) RequireTransportSecurity() bool { return true }

// shaking keeps why a handshake failed, which gRPC turns into text.
type shaking struct {
	credentials.TransportCredentials
	c *Client
}

// ClientHandshake implements [credentials.TransportCredentials].
func (s *shaking) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	shaken, info, err := s.TransportCredentials.ClientHandshake(ctx, authority, conn)
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.refused = nil
	// What the network did is no fault of the coordinator's.
	var unverified *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, ErrForeign), errors.As(err, &unverified), errors.As(err, &invalid), errors.As(err, &record):
		s.c.refused = err
	}
	return shaken, info, err
}

// Clone implements [credentials.TransportCredentials].
func (s *shaking) Clone() credentials.TransportCredentials {
	return &shaking{s.TransportCredentials.Clone(), s.c}
}

// Roots reads a site's own authorities from a file; "system" stands for those that this machine trusts.
func Roots(file string) (*x509.CertPool, error) {
	if file == "system" {
		return x509.SystemCertPool()
	}
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("it holds no certificate in PEM")
	}
	return roots, nil
}
