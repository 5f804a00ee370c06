package service

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"foible.dev/foible/core/words"
)

// Transfers bounds the memory of the bundles that are being sent or fetched. It is safe for concurrent use.
type Transfers struct {
	ctx     context.Context // of reading bundles
	studies Studies
	most    int64               // bytes of a bundle
	limit   int64               // bytes, of uploads and of downloads each
	up      *semaphore.Weighted // bytes that uploads have allocated
	down    *semaphore.Weighted // bytes that downloads may have

	mu      sync.Mutex         // guards what follows
	fetched map[string]*shared // by hash
}

// NewTransfers allows uploads, and downloads, a number of bytes each, and a bundle at most a smaller number.
// Bundles are read until ctx ends.
func NewTransfers(ctx context.Context, studies Studies, bytes, most int64) *Transfers {
	return &Transfers{ctx: ctx, studies: studies, most: most, limit: bytes, up: semaphore.NewWeighted(bytes), down: semaphore.NewWeighted(bytes), fetched: map[string]*shared{}}
}

// upload is a bundle that is being sent. One goroutine uses it.
type upload struct {
	t      *Transfers
	bundle []byte // its capacity is what it holds of the semaphore
}

// upload begins with a bundle. It must be released.
func (t *Transfers) upload() *upload { return &upload{t: t} }

// write adds a chunk. It never waits: of uploads that wait for each other, none would end.
func (u *upload) write(chunk []byte) error {
	n := int64(len(u.bundle) + len(chunk))
	if n > u.t.most {
		return exceeded(n, u.t.most)
	}
	if n > int64(cap(u.bundle)) {
		larger := min(max(n, 2*int64(cap(u.bundle)), chunkBytes), u.t.most)
		if !u.t.up.TryAcquire(larger) { // both are there while one is copied to the other
			return fmt.Errorf("%w: studies of %s are being sent, and no more are taken; try again in a minute", ErrExhausted, words.Bytes(u.t.limit))
		}
		before := cap(u.bundle)
		u.bundle = append(make([]byte, 0, larger), u.bundle...)
		u.t.up.Release(int64(before))
	}
	u.bundle = append(u.bundle, chunk...)
	return nil
}

func (u *upload) release() {
	u.t.up.Release(int64(cap(u.bundle)))
	u.bundle = nil
}

// shared is a bundle that one or more callers fetch: a thousand workers that begin with a study hold it once.
type shared struct {
	callers int           // guarded by the mu of Transfers
	loaded  chan struct{} // closed when what follows is set
	held    int64         // bytes, of the semaphore
	bundle  []byte
	err     error
}

// Fetch reads a bundle, or takes the one that others are fetching. It waits while bundles of others take all the
// memory. What it returns must be released.
func (t *Transfers) Fetch(ctx context.Context, hash string) (bundle []byte, release func(), err error) {
	t.mu.Lock()
	s := t.fetched[hash]
	if s == nil {
		s = &shared{loaded: make(chan struct{})}
		t.fetched[hash] = s
		go t.load(s, hash)
	}
	s.callers++
	t.mu.Unlock()
	select {
	case <-s.loaded:
	case <-ctx.Done():
		go func() { // it is not left half-way, since others may have come to wait for it
			<-s.loaded
			t.leave(s, hash)
		}()
		return nil, nil, context.Cause(ctx)
	}
	if s.err != nil {
		t.leave(s, hash)
		return nil, nil, s.err
	}
	return s.bundle, sync.OnceFunc(func() { t.leave(s, hash) }), nil
}

// load reads a bundle for all who wait for it.
func (t *Transfers) load(s *shared, hash string) {
	defer close(s.loaded)
	if s.err = t.down.Acquire(t.ctx, t.most); s.err != nil {
		s.err = ErrStopping
		return
	}
	s.held = t.most
	s.bundle, s.err = t.studies.Study(t.ctx, hash)
}

// leave drops a bundle with the last of its callers.
func (t *Transfers) leave(s *shared, hash string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.callers--; s.callers > 0 {
		return
	}
	delete(t.fetched, hash)
	t.down.Release(s.held)
}
