package engine

import (
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
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	// The stream first: a sweep that can be seen can be recorded to.
	if _, err := e.js.CreateStream(ctx, resultsStream(id)); err != nil {
		return 0, fmt.Errorf("create sweep %s: %w", id, e.cause(ctx, err))
	}
	revision, err = e.sweeps.Create(ctx, id, value)
	if errors.Is(err, jetstream.ErrKeyExists) {
		err = ErrExists
	}
	if err != nil {
		return 0, fmt.Errorf("create sweep %s: %w", id, e.cause(ctx, err))
	}
	return revision, nil
}

// Sweep returns a sweep's value and revision, or ErrNotFound.
func (e *Engine) Sweep(ctx context.Context, id string) (value []byte, revision uint64, err error) {
	if err := checkID("sweep", id); err != nil {
		return nil, 0, err
	}
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer cancel()
	entry, err := e.sweeps.Get(ctx, id)
	if err != nil {
		return nil, 0, fmt.Errorf("sweep %s: %w", id, e.cause(ctx, err))
	}
	return entry.Value(), entry.Revision(), nil
}

// UpdateSweep replaces the value of the sweep if it is still at the revision, else returns ErrConflict.
func (e *Engine) UpdateSweep(ctx context.Context, id string, value []byte, revision uint64) (uint64, error) {
	if err := checkSweep(id, value); err != nil {
		return 0, err
	}
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	next, err := e.sweeps.Update(ctx, id, value, revision)
	if isWrongSequence(err) || errors.Is(err, jetstream.ErrKeyExists) {
		err = ErrConflict
	}
	if err != nil {
		return 0, fmt.Errorf("update sweep %s: %w", id, e.cause(ctx, err))
	}
	return next, nil
}

// Sweeps returns the ids of all sweeps, sorted.
func (e *Engine) Sweeps(ctx context.Context) ([]string, error) {
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	ids, err := e.sweeps.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweeps: %w", e.cause(ctx, err))
	}
	slices.Sort(ids)
	return ids, nil
}

// DeleteSweep forgets a sweep with its jobs and results. A missing sweep is no error.
func (e *Engine) DeleteSweep(ctx context.Context, id string) error {
	if err := checkID("sweep", id); err != nil {
		return err
	}
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if err := e.sweeps.Purge(ctx, id); err != nil {
		return fmt.Errorf("delete sweep %s: %w", id, e.cause(ctx, err))
	}
	for _, name := range []string{jobsName(id), resultsName(id)} {
		if err := e.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("delete sweep %s: %w", id, e.cause(ctx, err))
		}
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
