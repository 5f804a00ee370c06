package connect

import (
	"context"
	"net"
	"sync"
	"time"
)

// AddressFile is the address of a coordinator that may move, in the file to which it writes the address. The file is read
// when the coordinator is dialled, which happens when there is no connection, and less and less often while none can be
// made: a thousand workers may read it on one file system.
type AddressFile struct {
	Read  func() (address string, err error)
	After func() // called after each time that the file is read; nil: nothing

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
	AddressPause    = time.Second
	MaxAddressPause = 16 * time.Second
	addressSettled  = 30 * time.Second
)

// current is the address to dial now.
func (f *AddressFile) current() (string, error) {
	f.mu.Lock()
	now := time.Now()
	if f.dialled.IsZero() || now.Sub(f.dialled) > addressSettled {
		f.next, f.pause = now, AddressPause
	}
	f.dialled = now
	due := !now.Before(f.next)
	if due {
		f.address, f.err = f.Read()
		f.next, f.pause = now.Add(f.pause), min(2*f.pause, MaxAddressPause)
	}
	address, err := f.address, f.err
	f.mu.Unlock()
	if due && f.After != nil {
		f.After()
	}
	return address, err
}

// Dial connects to the coordinator.
func (f *AddressFile) Dial(ctx context.Context, _ string) (net.Conn, error) {
	address, err := f.current()
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
