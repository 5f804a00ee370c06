package access

import (
	"container/list"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// door lets connections in, and closes those that show no token in time.
type door struct {
	net.Listener
	limits Limits

	mu        sync.Mutex     // guards what follows
	strangers list.List      // of *guest that have shown no token, oldest first
	perHost   map[string]int // strangers of an address
	admitted  int
	perToken  map[string]int // admitted of a token
}

func newDoor(l net.Listener, limits Limits) *door {
	return &door{Listener: l, limits: limits, perHost: map[string]int{}, perToken: map[string]int{}}
}

// guest is one connection.
type guest struct {
	net.Conn
	door  *door
	host  string
	late  *time.Timer
	close func() error

	rate atomic.Pointer[rate.Limiter] // of its calls; nil before the first with a token

	// What follows is guarded by the door's mu.
	stranger *list.Element // nil once it has been admitted or closed
	calls    int           // that it has begun as a stranger
	refused  int           // calls
	token    string        // by which it was admitted
	closed   bool
}

// seat is the address of a guest, by which a call finds its connection.
type seat struct {
	net.Addr
	guest *guest
}

// RemoteAddr implements [net.Conn].
func (g *guest) RemoteAddr() net.Addr { return seat{g.Conn.RemoteAddr(), g} }

// Accept implements [net.Listener].
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: conn, door: d, host: hostOf(conn.RemoteAddr()), close: sync.OnceValue(conn.Close)}
	d.mu.Lock()
	g.stranger = d.strangers.PushBack(g)
	d.perHost[g.host]++
	var out *guest
	if d.strangers.Len() > d.limits.Strangers {
		out = d.oldest()
		out.forget()
	}
	g.late = time.AfterFunc(d.limits.Handshake, g.expire)
	d.mu.Unlock()
	if out != nil {
		_ = out.close()
	}
	return g, nil
}

// oldest is the oldest stranger from the address that has most of them. The caller holds mu, and there is one.
func (d *door) oldest() *guest {
	most := 0
	for _, n := range d.perHost {
		most = max(most, n)
	}
	e := d.strangers.Front()
	for d.perHost[e.Value.(*guest).host] < most {
		e = e.Next()
	}
	return e.Value.(*guest)
}

// expire closes a guest that is still a stranger.
func (g *guest) expire() {
	g.door.mu.Lock()
	late := g.stranger != nil
	g.forget()
	g.door.mu.Unlock()
	if late {
		_ = g.close()
	}
}

// forget takes a stranger off the books. The caller holds the door's mu.
func (g *guest) forget() {
	if g.stranger == nil {
		return
	}
	d := g.door
	d.strangers.Remove(g.stranger)
	g.stranger = nil
	if d.perHost[g.host]--; d.perHost[g.host] == 0 {
		delete(d.perHost, g.host)
	}
}

// admit makes a stranger a guest with a token. Of later calls on the connection, it changes nothing.
func (g *guest) admit(token string) error {
	d := g.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if g.stranger == nil {
		return nil
	}
	switch {
	case d.admitted >= d.limits.Connections:
		return fmt.Errorf("the coordinator has %d connections and takes no more; try again when some have ended", d.admitted)
	case d.perToken[token] >= d.limits.ConnectionsPerToken:
		return fmt.Errorf("there are %d connections with this token and no more are taken; try again when some have ended", d.perToken[token])
	}
	g.forget()
	g.late.Stop()
	g.token = token
	d.admitted++
	d.perToken[token]++
	return nil
}

// bother counts a call without a token that opens it. A stranger that makes too many goes.
func (g *guest) bother() {
	g.door.mu.Lock()
	g.calls++
	many := g.calls > g.door.limits.StrangerCalls
	g.door.mu.Unlock()
	if many {
		g.expire()
	}
}

// refuse counts a call that was refused. gRPC keeps the context of such a call until its deadline, or until the connection
// ends (see endings), so that who goes on calling is cut off.
func (g *guest) refuse() {
	g.bother()
	g.door.mu.Lock()
	g.refused++
	many := g.refused > g.door.limits.Refusals
	g.door.mu.Unlock()
	if many {
		_ = g.Close()
	}
}

// Close implements [net.Conn].
func (g *guest) Close() error {
	d := g.door
	d.mu.Lock()
	g.forget()
	if g.token != "" && !g.closed {
		d.admitted--
		if d.perToken[g.token]--; d.perToken[g.token] == 0 {
			delete(d.perToken, g.token)
		}
	}
	g.closed = true
	g.late.Stop()
	d.mu.Unlock()
	return g.close()
}

func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}
