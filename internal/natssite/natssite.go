// Package natssite gives tests three NATS servers that keep everything three times, and lets them lose some.
package natssite

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"foible.dev/foible/internal/await"
	"foible.dev/foible/internal/memdir"
)

// Site is three NATS servers in this process, with JetStream.
type Site struct {
	t testing.TB
	// Options are of each server.
	Options []*server.Options
	// Servers are those that were started last under these options.
	Servers []*server.Server
}

// New starts the servers, which take messages of up to a number of bytes, and stops them when the test ends.
func New(t testing.TB, maxPayload int32) *Site {
	t.Helper()
	s := &Site{t: t, Servers: make([]*server.Server, 3)}
	var routes []*url.URL
	ports := FreePorts(t, 6)
	for _, port := range ports[3:] {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	dir := memdir.New(t)
	for i := range s.Servers {
		s.Options = append(s.Options, &server.Options{
			ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: ports[i], NoSigs: true,
			JetStream: true, StoreDir: filepath.Join(dir, fmt.Sprint(i)), MaxPayload: maxPayload, SyncAlways: true,
			Cluster: server.ClusterOpts{Name: "site", Host: "127.0.0.1", Port: ports[3+i]}, Routes: routes,
		})
		s.Start(i)
	}
	t.Cleanup(func() {
		for i := range s.Servers {
			s.Stop(i)
		}
	})
	return s
}

// Start starts a server, again if it was stopped.
func (s *Site) Start(i int) {
	s.t.Helper()
	srv, err := server.NewServer(s.Options[i].Clone())
	if err != nil {
		s.t.Fatal(err)
	}
	s.Servers[i] = srv
	go srv.Start()
}

// Stop stops a server.
func (s *Site) Stop(i int) {
	s.Servers[i].Shutdown()
	stopped := make(chan struct{})
	go func() { s.Servers[i].WaitForShutdown(); close(stopped) }()
	await.Try(s.t, stopped, "a server to stop")
}

// Leads finds the server that leads a stream.
func (s *Site) Leads(stream string) int {
	s.t.Helper()
	leader := -1
	await.Until(s.t, "a server to lead "+stream, func() bool {
		leader = slices.IndexFunc(s.Servers, func(srv *server.Server) bool {
			return srv.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream)
		})
		return leader >= 0
	})
	return leader
}

// URLs are the addresses of the servers.
func (s *Site) URLs() (urls []string) {
	for _, o := range s.Options {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", o.Port))
	}
	return urls
}

// FreePorts are ports of this machine that nobody listens on at the moment.
func FreePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
