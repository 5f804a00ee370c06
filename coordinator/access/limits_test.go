package access

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// held is what is in use after a collection.
func held() (heap uint64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// Of calls that are refused nothing stays, neither while their deadlines are hours away nor afterwards: of the wrong kind,
// over the rate, with a token that has ended, and without one.
func TestRefusedCallsLeaveNothing(t *testing.T) {
	limits := DefaultLimits()
	limits.UserCalls.Host = Rate{PerSecond: 1, Burst: 10}
	dir := t.TempDir()
	k := must[*Keeper](t)(Open(Config{DataDir: dir, Limits: limits}))
	tokens := must[*Tokens](t)(OpenTokens(dir))
	address := serve(t, k.Options(), k.Listen)
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	user, worker := must[Token](t)(tokens.Show(User)), must[Token](t)(tokens.Show(Worker))
	ended := must[Token](t)(tokens.Create(User, time.Nanosecond, false))
	for _, c := range []struct {
		name  string
		token Token
		code  codes.Code
	}{{"wrong kind", worker, codes.PermissionDenied}, {"over the rate", user, codes.ResourceExhausted}, {"ended", ended, codes.Unauthenticated}} {
		t.Run(c.name, func(t *testing.T) {
			conn := connect(t, address, c.token)
			client := healthv1.NewHealthClient(conn)
			heap, goroutines := held()
			var refused, cut atomic.Int64
			var all sync.WaitGroup
			const callers = 8
			for range callers {
				all.Go(func() {
					for i := range n / 3 / callers {
						ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
						if i%50 == 0 { // which makes a worker's connection one with a token; the server here lacks the method
							_, _ = foiblev1.NewStudyServiceClient(conn).GetStudy(ctx, &foiblev1.GetStudyRequest{})
						}
						stream, err := client.Watch(ctx, &healthv1.HealthCheckRequest{})
						if err == nil {
							_, err = stream.Recv()
						}
						cancel()
						switch status.Code(err) {
						case c.code:
							refused.Add(1)
						case codes.Unavailable: // the connection was closed
							cut.Add(1)
						case codes.OK: // within the rate
						default:
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			if refused.Load() < cut.Load() || cut.Load() == 0 {
				t.Errorf("%d calls were refused, and %d met a connection that was closed", refused.Load(), cut.Load())
			}
			after, now := held()
			for i := 0; now > goroutines+100 && i < 100; i++ { // those of connections that are being closed
				time.Sleep(50 * time.Millisecond)
				after, now = held()
			}
			if grown := int64(after) - int64(heap); grown > 6<<20 || now > goroutines+100 {
				t.Errorf("%d refused calls have left %d bytes and %d goroutines", refused.Load(), grown, now-goroutines)
			}
		})
	}
}

// connect makes a connection with a token.
func connect(t *testing.T, address string, token Token) *grpc.ClientConn {
	t.Helper()
	c := must[*Client](t)(NewClient(func() (Token, error) { return token, nil }, nil))
	conn := must[*grpc.ClientConn](t)(grpc.NewClient(address, c.Options()...))
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// from is the context of a call from an address, over a guest's connection if there is one.
func from(t *testing.T, address string, g *guest) context.Context {
	host := must[*net.TCPAddr](t)(net.ResolveTCPAddr("tcp", address))
	return peer.NewContext(t.Context(), &peer.Peer{Addr: seat{host, g}})
}

// Who calls too often on a connection, or from an address, leaves the rest of the token's rate to others.
func TestRatesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := DefaultLimits()
		limits.UserCalls = Rates{Connection: Rate{1, 10}, Host: Rate{1, 25}, Token: Rate{1, 60}}
		dir := t.TempDir()
		k := must[*Keeper](t)(Open(Config{DataDir: dir, Limits: limits}))
		user := must[Token](t)(must[*Tokens](t)(OpenTokens(dir)).Show(User))
		d := newDoor(nil, limits)
		flood := func(address string, g *guest) (n int) {
			for {
				ctx, cancel := context.WithCancel(from(t, address, g))
				_, err := k.ask(ctx, &tap.Info{FullMethodName: foiblev1.SweepService_GetSweep_FullMethodName, Header: metadata.Pairs(header, show(user))})
				cancel()
				synctest.Wait() // the call has ended
				if err != nil {
					wantCode(t, err, codes.ResourceExhausted)
					return n
				}
				n++
			}
		}
		connection := func() *guest { return &guest{door: d} }
		var got []int
		flooder := connection()
		for range 3 {
			got = append(got, flood("10.0.0.1:1", flooder))
		}
		for _, address := range []string{"10.0.0.1:2", "10.0.0.1:3", "10.0.0.1:4", "10.0.0.2:1", "10.0.0.2:2", "10.0.0.2:3", "10.0.0.3:1", "10.0.0.4:1"} {
			got = append(got, flood(address, connection()))
		}
		if want := []int{10, 0, 0, 10, 5, 0, 10, 10, 5, 10, 0}; !slices.Equal(got, want) {
			t.Errorf("calls were let through %v times, want %v", got, want)
		}
	})
}

// Calls that go on are bounded, of one address and of all, and one that ends makes room. Workers' are not counted.
func TestCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := DefaultLimits()
		limits.Calls, limits.CallsPerHost, limits.Streams, limits.StreamsPerHost = 5, 3, 4, 2
		dir := t.TempDir()
		k := must[*Keeper](t)(Open(Config{DataDir: dir, Limits: limits}))
		tokens := must[*Tokens](t)(OpenTokens(dir))
		user, worker := must[Token](t)(tokens.Show(User)), must[Token](t)(tokens.Show(Worker))
		for method, want := range map[string][]int{
			foiblev1.SweepService_GetSweep_FullMethodName:      {3, 2, 0},
			foiblev1.SweepService_WatchSweep_FullMethodName:    {2, 2, 0},
			foiblev1.SweepService_ExportResults_FullMethodName: {2, 2, 0},
			foiblev1.StudyService_CreateStudy_FullMethodName:   {2, 2, 0},
			"/grpc.health.v1.Health/Watch":                     {2, 2, 0},
			foiblev1.WorkerService_Work_FullMethodName:         {20, 20, 20},
		} {
			token := user
			if method == foiblev1.WorkerService_Work_FullMethodName {
				token = worker
			}
			for range 2 { // the second time, the first ones have ended
				var got []int
				var ends []context.CancelFunc
				for i := range want {
					n := 0
					for range 20 {
						ctx, cancel := context.WithCancel(from(t, fmt.Sprintf("10.0.0.%d:1", i), nil))
						if _, err := k.ask(ctx, &tap.Info{FullMethodName: method, Header: metadata.Pairs(header, show(token))}); err == nil {
							n++
						}
						ends = append(ends, cancel)
					}
					got = append(got, n)
				}
				for _, end := range ends {
					end()
				}
				synctest.Wait()
				if !slices.Equal(got, want) {
					t.Errorf("%s: %v calls at once, want %v", method, got, want)
				}
				time.Sleep(time.Minute) // for the rates
			}
		}
		if len(k.calls.perHost)+len(k.streams.perHost)+k.calls.all+k.streams.all != 0 {
			t.Errorf("calls that have ended are counted: %v, %v", k.calls.perHost, k.streams.perHost)
		}
	})
}

// A thousand workers behind one address, which come all at once and take their time, are let in without one connection
// being cut; and a newcomer from another address comes through when one address has taken all the places.
func TestOneAddressOfMany(t *testing.T) {
	limits := DefaultLimits()
	limits.Handshake = time.Hour // however long it takes here
	const workers = 1000
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	d := newDoor(l, limits)
	defer d.Close()
	guests := make([]*guest, workers)
	clients := make([]net.Conn, workers)
	for i := range workers {
		clients[i] = must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
		defer clients[i].Close()
		guests[i] = must[net.Conn](t)(d.Accept()).(*guest)
	}
	for i, g := range guests {
		if err := g.admit("t"); err != nil {
			t.Fatalf("worker %d: %v", i, err)
		}
		if g.closed || g.token != "t" {
			t.Fatalf("worker %d was cut off", i)
		}
	}
	for _, g := range guests {
		_ = g.Close()
	}

	// 6 of one address, and 2 of another, where 6 may be.
	d.limits.Strangers = 6
	stranger := func(host string) *guest {
		g := &guest{door: d, host: host, late: time.NewTimer(time.Hour), close: func() error { return nil }}
		d.mu.Lock()
		defer d.mu.Unlock()
		g.stranger = d.strangers.PushBack(g)
		d.perHost[host]++
		if d.strangers.Len() > d.limits.Strangers {
			d.oldest().forget()
		}
		return g
	}
	var flood []*guest
	for range 6 {
		flood = append(flood, stranger("flooder"))
	}
	others := []*guest{stranger("other"), stranger("other")}
	flood = append(flood, stranger("flooder"), stranger("flooder"))
	var stay []bool
	for _, g := range slices.Concat(flood, others) {
		stay = append(stay, g.stranger != nil)
	}
	if want := []bool{false, false, false, false, true, true, true, true, true, true}; !slices.Equal(stay, want) {
		t.Errorf("of the flooder's eight and another's two, %v stay, want %v", stay, want)
	}
}

// A thousand clients of one address join a server at once, TLS and all, and no connection is refused or cut.
func TestThousandDials(t *testing.T) {
	limits := DefaultLimits()
	limits.Handshake = 5 * time.Minute // however long it takes here
	dir := t.TempDir()
	k := must[*Keeper](t)(Open(Config{DataDir: dir, Limits: limits}))
	token := must[Token](t)(must[*Tokens](t)(OpenTokens(dir)).Show(User))
	address := serve(t, k.Options(), k.Listen)
	n := 1000
	if testing.Short() {
		n = 300 // more than the 256 that an address had once
	}
	// All of them are there before the first one speaks.
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i] = must[net.Conn](t)(net.Dial("tcp", address))
		defer conns[i].Close()
	}
	var cut atomic.Int64
	var all sync.WaitGroup
	for _, conn := range conns {
		all.Go(func() {
			if err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}).HandshakeContext(t.Context()); err != nil {
				cut.Add(1)
			}
		})
	}
	all.Wait()
	if cut.Load() > 0 {
		t.Errorf("%d of %d connections were cut", cut.Load(), n)
	}
	// Beside them, one with a token is answered.
	_, client := dial(t, address, token, nil)
	if _, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true)); err != nil {
		t.Error(err)
	}
}

// Of the limiters of many addresses, those that nobody uses any more are forgotten.
func TestRatesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRateByAddress(Rate{PerSecond: 1, Burst: 1})
		for i := range 10 * maxRates {
			if !r.Allow(fmt.Sprint(i)) || r.Allow(fmt.Sprint(i)) {
				t.Fatalf("address %d is held back by others, or not at all", i)
			}
			time.Sleep(2 * time.Second)
		}
		if n := len(r.rates.limiters); n > maxRates {
			t.Errorf("%d limiters are kept", n)
		}
	})
}
