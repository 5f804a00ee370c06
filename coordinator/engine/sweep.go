package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// CreateSweep stores a new sweep and makes room for its results. The revision is for UpdateSweep. It
// returns ErrExists if the id is taken.
func (e *Engine) CreateSweep(ctx context.Context, id string, value []byte) (revision uint64, err error) {
	if err := checkSweep(id, value); err != nil {
		return 0, err
	}
	doubt := false // an attempt without an answer may have succeeded
	err = e.write(ctx, "", func(ctx context.Context) (err error) {
		// The stream first: a sweep that can be seen can be recorded to.
		if _, err := e.createStream(ctx, e.link().js, resultsStream(id)); err != nil {
			return err
		}
		revision, err = e.link().sweeps.Create(ctx, id, value)
		if errors.Is(err, jetstream.ErrKeyExists) {
			err = ErrExists
			if doubt {
				revision, err = e.holds(ctx, id, value, err)
			}
		}
		doubt = true
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("create sweep %s: %w", id, err)
	}
	return revision, nil
}

// holds returns the revision of a sweep if that has the value, else the error.
func (e *Engine) holds(ctx context.Context, id string, value []byte, otherwise error) (revision uint64, err error) {
	entry, err := e.link().sweeps.Get(ctx, id)
	if err == nil && !bytes.Equal(entry.Value(), value) {
		err = otherwise
	}
	if err != nil {
		return 0, err
	}
	return entry.Revision(), nil
}

// Sweep returns a sweep's value and revision, or ErrNotFound.
func (e *Engine) Sweep(ctx context.Context, id string) (value []byte, revision uint64, err error) {
	if err := checkID("sweep", id); err != nil {
		return nil, 0, err
	}
	var entry jetstream.KeyValueEntry
	err = e.try(ctx, "", func(ctx context.Context) (err error) {
		entry, err = e.link().sweeps.Get(ctx, id)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("sweep %s: %w", id, err)
	}
	return entry.Value(), entry.Revision(), nil
}

// UpdateSweep replaces the value of the sweep if it is still at the revision, else returns ErrConflict.
func (e *Engine) UpdateSweep(ctx context.Context, id string, value []byte, revision uint64) (uint64, error) {
	if err := checkSweep(id, value); err != nil {
		return 0, err
	}
	var next uint64
	doubt := false // an attempt without an answer may have succeeded
	err := e.write(ctx, "", func(ctx context.Context) (err error) {
		next, err = e.link().sweeps.Update(ctx, id, value, revision)
		if isWrongSequence(err) || errors.Is(err, jetstream.ErrKeyExists) {
			err = ErrConflict
			if doubt {
				next, err = e.holds(ctx, id, value, err)
			}
		}
		doubt = true
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("update sweep %s: %w", id, err)
	}
	return next, nil
}

// Sweeps returns the ids of all sweeps, sorted.
func (e *Engine) Sweeps(ctx context.Context) ([]string, error) {
	var ids []string
	err := e.EachSweep(ctx, func(id string, _ []byte, _ uint64) { ids = append(ids, id) })
	slices.Sort(ids)
	return slices.Compact(ids), err // one that has changed meanwhile comes twice
}

// EachSweep calls fn for every sweep that there is, with its value and revision. For one that is changed meanwhile it
// may do so twice, the later value last.
func (e *Engine) EachSweep(ctx context.Context, fn func(id string, value []byte, revision uint64)) error {
	for next := uint64(1); ; next++ {
		err := e.try(ctx, "", func(ctx context.Context) error {
			at, err := e.sweepFrom(ctx, next, func(id string, value []byte, revision uint64) {
				if value != nil {
					fn(id, value, revision)
				}
			})
			if err == nil {
				next = at
			}
			return err
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("sweeps: %w", err)
		}
	}
}

// DeleteSweep forgets a sweep with its jobs and results. The results go first: a sweep that is seen after an interruption
// is to be deleted again. A missing sweep is no error.
func (e *Engine) DeleteSweep(ctx context.Context, id string) error {
	if err := checkID("sweep", id); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error {
		if err := errors.Join(e.deleteStream(ctx, jobsName(id)), e.deleteStream(ctx, formerName(id)), e.deleteStream(ctx, resultsName(id))); err != nil {
			return err
		}
		return e.link().sweeps.Purge(ctx, id)
	})
	if err != nil {
		return fmt.Errorf("delete sweep %s: %w", id, err)
	}
	return nil
}

// deleteStream deletes a stream, if it is there.
func (e *Engine) deleteStream(ctx context.Context, name string) error {
	if err := e.link().js.DeleteStream(ctx, name); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	return nil
}

func checkSweep(id string, value []byte) error {
	if err := checkID("sweep", id); err != nil {
		return err
	}
	if len(value) > MaxResult {
		return fmt.Errorf("%w: sweep %s has %d bytes, more than %d", ErrInvalid, id, len(value), MaxResult)
	}
	return nil
}

// isWrongSequence says whether a compare-and-set found another revision than expected.
func isWrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == wrongSequenceConstant)
}

// wrongSequenceConstant is the code of a compare-and-set that met another one in flight.
const wrongSequenceConstant jetstream.ErrorCode = 10164
