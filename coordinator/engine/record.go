package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

// maxCommit bounds the bytes of one group commit.
const maxCommit = 8 << 20

// Record stores the result of a job. It returns nil when this result is on disk and is the job's result
// for ever, and ErrRecorded when the job has one already, whatever its content. Any other error leaves
// open whether it was recorded; call again. It returns ErrNotFound if the sweep does not exist.
//
// Calls in progress at once share their fsyncs.
func (e *Engine) Record(ctx context.Context, sweep string, job int, result []byte) error {
	if err := errors.Join(checkID("sweep", sweep), checkJob(job)); err != nil {
		return err
	}
	if len(result) > MaxResult {
		return fmt.Errorf("%w: result of job %d has %d bytes, more than %d", ErrInvalid, job, len(result), MaxResult)
	}
	entry := &entry{sweep: sweep, job: job, msg: &nats.Msg{Subject: resultSubject(sweep, job), Data: result}, done: make(chan error, 1)}
	var err error
	if e.recorder.add(entry) {
		select {
		case err = <-entry.done:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	} else {
		err = ErrClosed
	}
	switch {
	case err == nil:
		return nil
	case isTaken(err):
		err = ErrRecorded
	}
	return fmt.Errorf("record job %d of sweep %s: %w", job, sweep, err)
}

// entry is a result on its way to the disk.
type entry struct {
	sweep string
	job   int
	msg   *nats.Msg
	done  chan error // buffered: the recorder never waits for a caller that has left
}

// recorder is the one publisher of results: what arrives while a commit is under way makes up the next.
type recorder struct {
	engine *Engine
	wake   chan struct{} // holds a token when waiting may be non-empty

	mu      sync.Mutex // guards waiting and stopped
	waiting []*entry
	stopped bool
}

func newRecorder(e *Engine) *recorder { return &recorder{engine: e, wake: make(chan struct{}, 1)} }

// add reports false once the recorder has stopped.
func (r *recorder) add(entry *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	r.waiting = append(r.waiting, entry)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return true
}

// run commits until the engine closes; it then answers ErrClosed to those that still wait.
func (r *recorder) run() {
	for {
		select {
		case <-r.wake:
			for group := r.take(); len(group) > 0; group = r.take() {
				r.commit(group)
			}
			continue
		case <-r.engine.life.Done():
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stopped = true
		for _, entry := range r.waiting {
			entry.done <- ErrClosed
		}
		r.waiting = nil
		return
	}
}

// take removes the next group to commit: the results waiting, in order of arrival, of the sweep that has
// waited longest. It is empty when nothing waits or the engine closes.
func (r *recorder) take() (group []*entry) {
	select {
	case <-r.engine.life.Done():
		return nil
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size := 0
	rest := r.waiting[:0]
	for _, entry := range r.waiting {
		fits := len(group) < maxBatch && size+len(entry.msg.Data) <= maxCommit
		if len(group) == 0 || fits && entry.sweep == group[0].sweep {
			group = append(group, entry)
			size += len(entry.msg.Data)
		} else {
			rest = append(rest, entry)
		}
	}
	clear(r.waiting[len(rest):])
	r.waiting = rest
	return group
}

func (r *recorder) commit(group []*entry) {
	e := r.engine
	doubt := false // an attempt without an answer may have succeeded
	err := e.write(context.Background(), resultsName(group[0].sweep), func(ctx context.Context) (passing error) {
		msgs := make([]*nats.Msg, len(group))
		for i, entry := range group {
			msgs[i] = entry.msg
		}
		var again []*entry
		for i, err := range e.publish(ctx, msgs) {
			if doubt && isTaken(err) {
				err = e.ours(ctx, group[i], err)
			}
			if e.passing(err) {
				again, passing = append(again, group[i]), err
			} else {
				group[i].done <- err
			}
		}
		group, doubt = again, true
		return passing
	})
	for _, entry := range group {
		entry.done <- err
	}
}

// ours is nil if what is recorded is the entry's result, else the error.
func (e *Engine) ours(ctx context.Context, entry *entry, otherwise error) error {
	recorded, err := e.Result(ctx, entry.sweep, entry.job)
	if err == nil && !bytes.Equal(recorded, entry.msg.Data) {
		return otherwise
	}
	return err
}
