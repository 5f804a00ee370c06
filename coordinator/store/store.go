// Package store has what is stored of sweeps as messages, with the errors of package service. The engine beneath knows only
// bytes.
package store

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Store is an engine whose records of sweeps, results and studies are read and written as messages. The methods that it does
// not have itself are those of the engine, and return its errors; see [Sentinel].
type Store struct{ *engine.Engine }

// PutStudy stores the bundle of a study.
func (s *Store) PutStudy(ctx context.Context, hash string, bundle []byte) error {
	return Sentinel(s.Engine.PutStudy(ctx, hash, bundle))
}

// Study reads the bundle of a study. One that is damaged is not found, until it is sent again.
func (s *Store) Study(ctx context.Context, hash string) ([]byte, error) {
	bundle, err := s.Engine.Study(ctx, hash)
	if errors.Is(err, engine.ErrDamaged) {
		return nil, named{err, service.ErrNotFound}
	}
	return bundle, Sentinel(err)
}

// Sweep reads the record of a sweep that is not being deleted, and its revision.
func (s *Store) Sweep(ctx context.Context, id string) (spec *foiblev1.Sweep, revision uint64, err error) {
	spec, revision, err = s.SweepRecord(ctx, id)
	if spec.GetDeleted() {
		return nil, revision, service.ErrNotFound
	}
	return spec, revision, err
}

// SweepRecord reads the record of a sweep, also while it is being deleted. ErrRecordDamaged: it cannot be read.
func (s *Store) SweepRecord(ctx context.Context, id string) (spec *foiblev1.Sweep, revision uint64, err error) {
	value, revision, err := s.Engine.Sweep(ctx, id)
	if err != nil {
		return nil, 0, Sentinel(err)
	}
	spec = &foiblev1.Sweep{}
	if err := proto.Unmarshal(value, spec); err != nil {
		return nil, revision, fmt.Errorf("%w: %w", ErrRecordDamaged, err)
	}
	return spec, revision, nil
}

// Change changes the record of a sweep by compare-and-set; change is called again if another change came first. It returns
// the sweep as it is stored, also with an error of change.
func (s *Store) Change(ctx context.Context, id string, change func(*foiblev1.Sweep) error) (spec *foiblev1.Sweep, revision uint64, err error) {
	for {
		spec, revision, err := s.Sweep(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		if err := change(spec); err != nil {
			return spec, revision, err
		}
		value, err := proto.Marshal(spec)
		if err != nil {
			return nil, 0, err
		}
		revision, err = s.UpdateSweep(ctx, id, value, revision)
		switch {
		case err == nil:
			return spec, revision, nil
		case !errors.Is(err, engine.ErrConflict):
			return nil, 0, Sentinel(err)
		}
	}
}

// JobResult reads what is recorded of a job.
func (s *Store) JobResult(ctx context.Context, sweep string, job int) (*foiblev1.JobResult, error) {
	value, err := s.JobResultBytes(ctx, sweep, job)
	if err != nil {
		return nil, err
	}
	m := &foiblev1.JobResult{}
	if err := proto.Unmarshal(value, m); err != nil {
		return nil, Damaged(job, err)
	}
	return m, nil
}

// Damaged says that the recorded result of a job cannot be read. It is an [engine.ErrDamaged].
func Damaged(job int, err error) error {
	return fmt.Errorf("job %d: the recorded result is %w: %w", job, engine.ErrDamaged, err)
}

// JobResultBytes are what is recorded of a job, as it is.
func (s *Store) JobResultBytes(ctx context.Context, sweep string, job int) ([]byte, error) {
	value, err := s.Result(ctx, sweep, job)
	return value, Sentinel(err)
}

// JobResultUntil reads what is recorded of a job; nil if that is nothing, or was recorded after a place. A damaged result is
// empty.
func (s *Store) JobResultUntil(ctx context.Context, sweep string, job int, until uint64) (*foiblev1.JobResult, error) {
	value, place, err := s.ResultAt(ctx, sweep, job)
	switch err = Sentinel(err); {
	case errors.Is(err, service.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case place > until:
		return nil, nil
	}
	m := &foiblev1.JobResult{}
	if proto.Unmarshal(value, m) != nil {
		return &foiblev1.JobResult{}, nil
	}
	return m, nil
}

// FormerResult reads what was recorded of a job before it was tried again; not found if that is nothing of use.
func (s *Store) FormerResult(ctx context.Context, sweep string, job int) (*foiblev1.JobResult, error) {
	value, err := s.Former(ctx, sweep, job)
	if err != nil {
		return nil, Sentinel(err)
	}
	m := &foiblev1.JobResult{}
	if err := proto.Unmarshal(value, m); err != nil {
		return nil, service.ErrNotFound
	}
	return m, nil
}

// enough results, of those recorded first, tell how many cells a job has: the last job of a stimulus may have fewer.
const enough = 64

// RecordedCellsPerJob is how many cells the jobs of a sweep have that recorded any; 0 if none did.
func (s *Store) RecordedCellsPerJob(ctx context.Context, id string) (cells int, err error) {
	seen, stop := 0, errors.New("enough")
	err = s.Results(ctx, id, func(_ int, value []byte) error {
		m := &foiblev1.JobResult{}
		if proto.Unmarshal(value, m) == nil && m.GetInfer() != nil {
			cells = max(cells, codec.CellCount(m.GetInfer()))
			seen++
		}
		if seen == enough {
			return stop
		}
		return nil
	})
	if err != nil && !errors.Is(err, stop) && !errors.Is(err, engine.ErrDamaged) {
		return 0, Sentinel(err)
	}
	return cells, nil
}

// CheckEnded says what has been lost of a sweep that has ended by itself.
func (s *Store) CheckEnded(ctx context.Context, spec *foiblev1.Sweep) error {
	want := int(spec.GetProgress().GetJobsDone())
	if spec.GetState() == Cancelled || want == 0 {
		return nil
	}
	n, err := s.CountResults(ctx, spec.GetSweepId())
	switch {
	case errors.Is(err, engine.ErrNotFound):
		n = 0
	case err != nil:
		return err
	}
	if n < want {
		return fmt.Errorf("%d of its %d results are lost", want-n, want)
	}
	return nil
}

// CheckStudy says whether the study of a sweep can be read. Those that were checked are in checked, by hash, with their errors.
func (s *Store) CheckStudy(ctx context.Context, spec *foiblev1.Sweep, checked map[string]error) error {
	err, known := checked[spec.GetStudyHash()]
	if !known {
		_, err = s.Engine.Study(ctx, spec.GetStudyHash())
		checked[spec.GetStudyHash()] = err
	}
	if errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrDamaged) {
		return errors.New("its study is lost or damaged")
	}
	if errors.Is(err, engine.ErrUnavailable) && !s.Shared() { // the rest of it is waited for in vain
		return fmt.Errorf("its study cannot be read: %v", err)
	}
	return err
}
