package web

import "foible.dev/foible/coordinator/access"

// Limits bound what browsers can use up.
type Limits struct {
	// Connections is how many there may be.
	Connections int
	// Streams is how many of events there may be, one a page that is open.
	Streams int
	// StudyBytes is how large the bundles of all studies that are kept open may be. In memory, a study takes a few times
	// the size of its bundle.
	StudyBytes int64
	// Logins is how often a token, or a link, may be refused from one address before no more is said than that. The right
	// one always lets in.
	Logins access.Rate
}

// DefaultLimits suit some dozens of visitors.
func DefaultLimits() Limits {
	return Limits{Connections: 512, Streams: 128, StudyBytes: 64 << 20, Logins: access.PerSecond(2)}
}
