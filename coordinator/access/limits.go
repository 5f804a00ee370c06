package access

import (
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what others can use up of a coordinator.
type Limits struct {
	// Handshake is how long a connection may take to get to its first call.
	Handshake time.Duration
	// Strangers is how many connections there may be that have shown no token
	// yet, and StrangersPerHost how many of one address. Past that, the oldest
	// makes room.
	Strangers, StrangersPerHost int
	// StrangerCalls is how many calls a connection may begin before it has shown a token.
	StrangerCalls int
	// Connections is how many there may be that have shown a token, and ConnectionsPerToken how many of one token.
	Connections, ConnectionsPerToken int
	// WorkerCalls and UserCalls are how many calls may begin with one token.
	WorkerCalls, UserCalls Rate
}

// Rate is how often something may happen.
type Rate struct {
	PerSecond rate.Limit
	// Burst may happen at once: all workers come back at the same time when a coordinator is started again.
	Burst int
}

// DefaultLimits suit a coordinator with a thousand workers.
func DefaultLimits() Limits {
	return Limits{
		Handshake: 10 * time.Second,
		Strangers: 1024, StrangersPerHost: 256, StrangerCalls: 100,
		Connections: 2500, ConnectionsPerToken: 2000,
		WorkerCalls: Rate{PerSecond: 500, Burst: 5000},
		UserCalls:   Rate{PerSecond: 50, Burst: 500},
	}
}
