package access

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/stats"
)

// maxRates is how many limiters are kept before those that nobody uses are looked for.
const maxRates = 4096

// rates bound how often calls begin. The zero value is ready.
type rates struct {
	mu       sync.Mutex // guards what follows
	limiters map[[2]string]*rate.Limiter
}

// get is the limiter of a pair of names, such as a token and an address.
func (r *rates) get(name, host string, limit Rate) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := [2]string{name, host}
	l := r.limiters[key]
	if l != nil {
		return l
	}
	if r.limiters == nil {
		r.limiters = map[[2]string]*rate.Limiter{}
	}
	if len(r.limiters) >= maxRates {
		for key, l := range r.limiters {
			if l.Tokens() >= float64(l.Burst()) { // as if it were new
				delete(r.limiters, key)
			}
		}
	}
	l = limit.limiter()
	r.limiters[key] = l
	return l
}

// allow counts a call, from the smallest limit to the largest; g may be nil.
func (r *rates) allow(g *guest, host, token string, limits *Rates) error {
	if g != nil {
		l := g.rate.Load()
		if l == nil {
			g.rate.CompareAndSwap(nil, limits.Connection.limiter())
			l = g.rate.Load()
		}
		if !l.Allow() {
			return fmt.Errorf("more than %v calls a second on this connection; call less often", l.Limit())
		}
	}
	if l := r.get(token, host, limits.Host); !l.Allow() {
		return fmt.Errorf("more than %v calls a second from this address with this token; call less often", l.Limit())
	}
	if l := r.get(token, "", limits.Token); !l.Allow() {
		return fmt.Errorf("more than %v calls a second with this token; call less often", l.Limit())
	}
	return nil
}

// RateByAddress bounds how often something may happen from each address. It is safe for concurrent use.
type RateByAddress struct {
	limit Rate
	rates rates
}

// NewRateByAddress is a limit with nothing used up.
func NewRateByAddress(limit Rate) *RateByAddress { return &RateByAddress{limit: limit} }

// Allow counts an event, and says whether it is within the limit.
func (r *RateByAddress) Allow(address string) bool {
	return r.rates.get("", address, r.limit).Allow()
}

// inFlight counts the calls that go on.
type inFlight struct {
	what              string
	most, mostPerHost int

	mu      sync.Mutex // guards what follows
	all     int
	perHost map[string]int
}

// begin counts a call until its context ends.
func (f *inFlight) begin(ctx context.Context, host string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.all >= f.most:
		return fmt.Errorf("the coordinator answers %d %s, and no more at once; try again soon", f.all, f.what)
	case f.perHost[host] >= f.mostPerHost:
		return fmt.Errorf("the coordinator answers %d %s from this address, and no more at once; try again soon", f.perHost[host], f.what)
	}
	f.all++
	f.perHost[host]++
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.all--
		if f.perHost[host]--; f.perHost[host] == 0 {
			delete(f.perHost, host)
		}
	})
	return nil
}

// endings ends the context of a connection with the connection. Without that, what gRPC keeps of a call that was refused
// by its headers stays until the deadline that the caller has named.
type endings struct{}

// endingKey is of the function that ends a connection's context.
type endingKey struct{}

// TagConn implements [stats.Handler].
func (endings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	return context.WithValue(ctx, endingKey{}, cancel)
}

// HandleConn implements [stats.Handler].
func (endings) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ended := s.(*stats.ConnEnd); ended {
		ctx.Value(endingKey{}).(context.CancelFunc)()
	}
}

// TagRPC implements [stats.Handler].
func (endings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements [stats.Handler].
func (endings) HandleRPC(context.Context, stats.RPCStats) {}
