package access

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what others can use up of a coordinator.
type Limits struct {
	// Handshake is how long a connection may take to get to its first call.
	Handshake time.Duration
	// Strangers is how many connections there may be that have shown no token
	// yet. One more takes the place of the oldest from the address that has most
	// of them: of many addresses, none can keep the others out, and workers that
	// share one address may all come at once.
	Strangers int
	// StrangerCalls is how many calls a connection may begin before it has shown a token.
	StrangerCalls int
	// Connections is how many there may be that have shown a token, and ConnectionsPerToken how many of one token.
	Connections, ConnectionsPerToken int
	// StreamsPerConnection is how many calls a connection may have at once. More wait at the caller.
	StreamsPerConnection int
	// Refusals is how many calls of a connection are refused before it is closed, which frees what gRPC keeps of them.
	Refusals int
	// Calls is how many calls of users there may be at once that are no streams, and CallsPerHost how many from one
	// address. Each may hold a whole request in memory.
	Calls, CallsPerHost int
	// Streams is how many streams of users there may be at once, and StreamsPerHost how many from one address.
	Streams, StreamsPerHost int
	// WorkerCalls and UserCalls are how many calls may begin.
	WorkerCalls, UserCalls Rates
}

// Rates are of one connection, of one address with one token, and of one token. A call must be within all three, and
// one that is refused counts for none that is larger: who calls too often on one connection leaves the rest to others.
type Rates struct{ Connection, Host, Token Rate }

// Rate is how often something may happen.
type Rate struct {
	PerSecond rate.Limit
	// Burst may happen at once: all workers come back at the same time when a coordinator is started again.
	Burst int
}

// PerSecond is a rate whose burst is what may happen in ten seconds.
func PerSecond(n rate.Limit) Rate { return Rate{PerSecond: n, Burst: int(math.Ceil(10 * float64(n)))} }

func (r Rate) limiter() *rate.Limiter { return rate.NewLimiter(r.PerSecond, r.Burst) }

// DefaultLimits suit a coordinator with a thousand workers.
func DefaultLimits() Limits {
	return Limits{
		Handshake: 10 * time.Second,
		Strangers: 2048, StrangerCalls: 100,
		Connections: 2500, ConnectionsPerToken: 2000,
		StreamsPerConnection: 128, Refusals: 1000,
		Calls: 32, CallsPerHost: 16,
		Streams: 1000, StreamsPerHost: 250,
		WorkerCalls: Rates{Connection: PerSecond(50), Host: PerSecond(500), Token: PerSecond(1000)},
		UserCalls:   Rates{Connection: PerSecond(25), Host: PerSecond(50), Token: PerSecond(500)},
	}
}
