package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"foible.dev/foible/coordinator/engine/server"
)

// What a disk has damaged is found when the embedded server starts, which verifies each record by its checksum, and
// leaves out those that are damaged and, in their file, those after them. Nothing that it gives back is wrong; what is
// missing is found out by the functions below.

// adoptResults makes the streams of results anew whose description is damaged, so that the embedded server does not know
// them. What is stored in them is kept.
func (e *Engine) adoptResults(ctx context.Context, js jetstream.JetStream) error {
	dirs, err := os.ReadDir(server.StreamsDir(e.cfg.Dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range dirs {
		sweep, ok := strings.CutPrefix(dir.Name(), resultsName(""))
		if !ok || checkID("sweep", sweep) != nil {
			continue
		}
		_, err := js.Stream(ctx, dir.Name())
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			e.log.Warn("the description of a sweep's results was damaged, and is made anew", "sweep", sweep)
			_, err = e.createStream(ctx, js, resultsStream(sweep))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WithoutSweep returns the ids that have results but no sweep, sorted: of sweeps that were lost.
func (e *Engine) WithoutSweep(ctx context.Context) ([]string, error) {
	known, err := e.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	err = e.try(ctx, "", func(ctx context.Context) error {
		ids = nil
		streams := e.link().js.StreamNames(ctx, jetstream.WithStreamListSubject("r.>"))
		for name := range streams.Name() {
			id, ok := strings.CutPrefix(name, resultsName(""))
			if _, found := slices.BinarySearch(known, id); ok && !found {
				ids = append(ids, id)
			}
		}
		return streams.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("results without a sweep: %w", err)
	}
	slices.Sort(ids)
	return ids, nil
}

// CountResults returns how many jobs of a sweep have a result. A sweep that does not exist is ErrNotFound.
func (e *Engine) CountResults(ctx context.Context, sweep string) (n int, err error) {
	if err := checkID("sweep", sweep); err != nil {
		return 0, err
	}
	err = e.try(ctx, resultsName(sweep), func(ctx context.Context) error {
		stream, err := e.link().js.Stream(ctx, resultsName(sweep))
		if err == nil {
			n = int(stream.CachedInfo().State.Msgs)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count results of sweep %s: %w", sweep, err)
	}
	return n, nil
}

// EnsureResults makes room for the results of a sweep, should it have been lost.
func (e *Engine) EnsureResults(ctx context.Context, sweep string) error {
	if err := checkID("sweep", sweep); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error { return e.provide(ctx, e.link().js, resultsStream(sweep)) })
	if err != nil {
		return fmt.Errorf("results of sweep %s: %w", sweep, err)
	}
	return nil
}

// Forget takes the recorded result of a job away, which turned out to be of no use, so that another one can be recorded.
// A missing one is no error.
func (e *Engine) Forget(ctx context.Context, sweep string, job int) error {
	return e.ForgetUntil(ctx, sweep, job, math.MaxUint64)
}

// ForgetUntil is Forget of a result whose place, see ResultAt, is at most the last one. A later one stays.
func (e *Engine) ForgetUntil(ctx context.Context, sweep string, job int, last uint64) error {
	if err := errors.Join(checkID("sweep", sweep), checkJob(job)); err != nil {
		return err
	}
	err := e.write(ctx, resultsName(sweep), func(ctx context.Context) error {
		_, sequence, err := e.leadersResult(ctx, sweep, job)
		if errors.Is(err, ErrNotFound) || err == nil && sequence > last {
			return nil
		}
		if err != nil {
			return err
		}
		stream, err := e.link().js.Stream(ctx, resultsName(sweep))
		if err == nil {
			err = stream.DeleteMsg(ctx, sequence)
		}
		if err != nil { // another coordinator may have been faster
			if _, now, gone := e.leadersResult(ctx, sweep, job); errors.Is(gone, ErrNotFound) || gone == nil && now != sequence {
				return nil
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("forget job %d of sweep %s: %w", job, sweep, err)
	}
	return nil
}
