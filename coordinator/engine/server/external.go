package server

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/nats-io/nats.go"
)

// Servers are NATS servers of a site, in place of the embedded one. Several coordinators may share them.
type Servers struct {
	// URLs are nats://host:port or tls://host:port; the servers say which others there are.
	URLs []string
	// CredsFile is a credentials file, as `nsc` makes it; "" for none.
	CredsFile string
	// LoginFile has a user's name on its first line and the password on its second; "" for none. It is read
	// at every connection.
	LoginFile string
	// CAFile has the authorities that sign the servers' certificates; "" for those that the machine trusts.
	CAFile string
	// CertFile and KeyFile are shown to servers that ask for a certificate; "" for none.
	CertFile, KeyFile string
}

// leastVersion of a server has atomic batches.
const leastVersion = "2.12"

// Connect connects to any of the servers, and again whenever the connection breaks, to any of them. It waits for
// a first one to answer, and calls waiting, once, if it must. The error wraps ErrLogin, ErrUntrusted or ErrInvalid if
// one answers that is of no use.
func (s *Servers) Connect(ctx context.Context, waiting func(string), log hclog.Logger) (*nats.Conn, error) {
	options, err := s.options(log)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	for said := false; ; said = true {
		conn, err := nats.Connect(strings.Join(s.URLs, ","), options...)
		if err == nil {
			if err := checkServer(conn); err != nil {
				conn.Close()
				return nil, fmt.Errorf("engine: %w", err)
			}
			if _, err := conn.TLSConnectionState(); err != nil && !s.loopback() {
				log.Warn("what is said to the NATS servers is not encrypted; give them certificates, and name their authority")
			}
			log.Info("connected to NATS", "server", conn.ConnectedUrlRedacted())
			return conn, nil
		}
		if refusal := refusedBy(err); refusal != nil {
			return nil, fmt.Errorf("engine: %w", refusal)
		}
		if !said {
			log.Warn("no NATS server answers; trying until one does", "servers", strings.Join(s.URLs, ","), "error", err)
			waiting("no NATS server of " + strings.Join(s.URLs, ",") + " answers")
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, fmt.Errorf("engine: connect: %w", ctx.Err())
		}
	}
}

func (s *Servers) options(log hclog.Logger) ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name("foible coordinator"),
		nats.Timeout(2 * time.Second),
		nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2), // a server that is cut off says nothing
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("connection to NATS lost; trying until a server answers", "error", err)
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			log.Info("connected to NATS again", "server", conn.ConnectedUrlRedacted())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				log.Warn("NATS refuses what a coordinator needs; see the permissions of its account", "error", err)
				return
			}
			log.Debug("NATS", "error", err)
		}),
	}
	if s.CredsFile != "" {
		options = append(options, nats.UserCredentials(s.CredsFile))
	}
	if s.LoginFile != "" {
		if _, _, err := readLogin(s.LoginFile); err != nil {
			return nil, err
		}
		options = append(options, nats.UserInfoHandler(func() (string, string) {
			user, password, err := readLogin(s.LoginFile)
			if err != nil {
				log.Error("the login to NATS cannot be read", "error", err)
			}
			return user, password
		}))
	}
	if s.CAFile != "" {
		options = append(options, nats.RootCAs(s.CAFile))
	}
	if s.CertFile != "" {
		options = append(options, nats.ClientCert(s.CertFile, s.KeyFile))
	}
	return options, nil
}

// readLogin reads a name and a password.
func readLogin(path string) (user, password string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	if lines.Scan() {
		user = strings.TrimSpace(lines.Text())
	}
	if lines.Scan() {
		password = strings.TrimRight(lines.Text(), "\r")
	}
	if user == "" || password == "" {
		return "", "", fmt.Errorf("%s: want the user's name on the first line and the password on the second", path)
	}
	return user, password, lines.Err()
}

// loopback says whether all servers are of this machine.
func (s *Servers) loopback() bool {
	for _, text := range s.URLs {
		u, err := url.Parse(text)
		if err != nil {
			return false
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// refusedBy says why a server that answers is of no use, and what to do; nil if none has answered.
func refusedBy(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: %w", ErrLogin, err)
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		return fmt.Errorf("%w: %w", ErrUntrusted, err)
	case errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrSecureConnRequired):
		return fmt.Errorf("TLS with NATS: %w; server and coordinator must both use it or both not", err)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return err
	}
	return nil
}

// checkServer says what a server lacks.
func checkServer(conn *nats.Conn) error {
	if version := conn.ConnectedServerVersion(); olderThan(version, leastVersion) {
		return fmt.Errorf("%w: the NATS server is version %s; version %s or later is needed", ErrInvalid, version, leastVersion)
	}
	if most := conn.MaxPayload(); most < MaxPayload {
		return fmt.Errorf("%w: the NATS server takes messages of at most %d bytes; set max_payload: 8MB in its configuration", ErrInvalid, most)
	}
	return nil
}

// olderThan compares major and minor versions.
func olderThan(version, least string) bool {
	part := func(v string, i int) int {
		if parts := strings.Split(v, "."); i < len(parts) {
			n, _ := strconv.Atoi(parts[i])
			return n
		}
		return 0
	}
	if a, b := part(version, 0), part(least, 0); a != b {
		return a < b
	}
	return part(version, 1) < part(least, 1)
}
