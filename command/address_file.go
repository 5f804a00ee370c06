package command

import (
	"context"
	"net"
	"sync"
	"time"
)

// addressFile is the address of a coordinator that may move, in the file to which it writes the address. The file is read
// when the coordinator is dialled, which happens when there is no connection, and less and less often while none can be
// made: a thousand workers may read it on one file system.
type addressFile struct {
	read  func() (address string, err error)
	after func() // called after each time that the file is read; nil: nothing

	mu      sync.Mutex // guards what follows
	address string     // as it was read last
	err     error      // of the last read
	dialled time.Time  // last; zero: never
	next    time.Time  // when it is read again
	pause   time.Duration
}

// Bounds of the pauses between two reads of an address file while no connection can be made. A connection that has lasted
// for addressSettled was a good one, so that its loss is news.
const (
	addressPause    = time.Second
	maxAddressPause = 16 * time.Second
	addressSettled  = 30 * time.Second
)

// current is the address to dial now.
func (f *addressFile) current() (string, error) {
	f.mu.Lock()
	now := time.Now()
	if f.dialled.IsZero() || now.Sub(f.dialled) > addressSettled {
		f.next, f.pause = now, addressPause
	}
	f.dialled = now
	due := !now.Before(f.next)
	if due {
		f.address, f.err = f.read()
		f.next, f.pause = now.Add(f.pause), min(2*f.pause, maxAddressPause)
	}
	address, err := f.address, f.err
	f.mu.Unlock()
	if due && f.after != nil {
		f.after()
	}
	return address, err
}

// dial connects to the coordinator.
func (f *addressFile) dial(ctx context.Context, _ string) (net.Conn, error) {
	address, err := f.current()
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
