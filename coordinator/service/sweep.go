package service

import (
	"context"
	"encoding/binary"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Sweeps is what a coordinator does for its users. Unknown sweeps are ErrNotFound.
type Sweeps interface {
	CreateSweep(ctx context.Context, m *foiblev1.CreateSweepRequest) (*foiblev1.CreateSweepResponse, error)
	Sweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	ListSweeps(ctx context.Context) ([]*foiblev1.Sweep, error)
	// WatchSweep calls back now and after changes until the sweep has ended or the callback fails.
	WatchSweep(ctx context.Context, id string, each func(*foiblev1.Sweep) error) error
	// PauseSweep, ResumeSweep, CancelSweep and SetPriority are ErrPrecondition for a sweep that has ended.
	PauseSweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	ResumeSweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	CancelSweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	SetPriority(ctx context.Context, id string, priority int) (*foiblev1.Sweep, error)
	ExtendSweep(ctx context.Context, m *foiblev1.ExtendSweepRequest) (sweep *foiblev1.Sweep, existed bool, err error)
	// RetrySweep tries again what has failed. It is ErrPrecondition where nothing has, or that cannot be.
	RetrySweep(ctx context.Context, id string) (*foiblev1.Sweep, *foiblev1.Retried, error)
	// DeleteSweep is ErrPrecondition for a sweep that has not ended.
	DeleteSweep(ctx context.Context, id string) error
	Fits(ctx context.Context, id string, perModel int) ([]*foiblev1.Fit, error)
	// Results calls back for each recorded result, a JobResult in the bytes that are recorded, chunk by chunk: its infer
	// jobs, then its score job.
	Results(ctx context.Context, id string, partial bool, each func(job int, result []byte) error) error
}

// Sweep serves foible.v1.SweepService.
type Sweep struct {
	foiblev1.UnimplementedSweepServiceServer
	Sweeps Sweeps
}

// CreateSweep makes a sweep, or returns it if it is there.
func (s *Sweep) CreateSweep(ctx context.Context, m *foiblev1.CreateSweepRequest) (*foiblev1.CreateSweepResponse, error) {
	made, err := s.Sweeps.CreateSweep(ctx, m)
	if err != nil {
		return nil, StatusOf(err)
	}
	return made, nil
}

// GetSweep returns a sweep with its progress.
func (s *Sweep) GetSweep(ctx context.Context, m *foiblev1.GetSweepRequest) (*foiblev1.GetSweepResponse, error) {
	sweep, err := s.Sweeps.Sweep(ctx, m.GetSweepId())
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.GetSweepResponse{Sweep: sweep}, nil
}

// ListSweeps returns all sweeps, newest first.
func (s *Sweep) ListSweeps(ctx context.Context, _ *foiblev1.ListSweepsRequest) (*foiblev1.ListSweepsResponse, error) {
	sweeps, err := s.Sweeps.ListSweeps(ctx)
	if err != nil {
		return nil, StatusOf(err)
	}
	return &foiblev1.ListSweepsResponse{Sweeps: sweeps}, nil
}

// WatchSweep streams a sweep until it ends.
func (s *Sweep) WatchSweep(m *foiblev1.WatchSweepRequest, stream grpc.ServerStreamingServer[foiblev1.WatchSweepResponse]) error {
	err := s.Sweeps.WatchSweep(stream.Context(), m.GetSweepId(), func(sweep *foiblev1.Sweep) error {
		return stream.Send(&foiblev1.WatchSweepResponse{Sweep: sweep})
	})
	return StatusOf(named(m.GetSweepId(), err))
}

// PauseSweep stops scheduling a sweep's jobs.
func (s *Sweep) PauseSweep(ctx context.Context, m *foiblev1.PauseSweepRequest) (*foiblev1.PauseSweepResponse, error) {
	sweep, err := s.Sweeps.PauseSweep(ctx, m.GetSweepId())
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.PauseSweepResponse{Sweep: sweep}, nil
}

// ResumeSweep gives them out again.
func (s *Sweep) ResumeSweep(ctx context.Context, m *foiblev1.ResumeSweepRequest) (*foiblev1.ResumeSweepResponse, error) {
	sweep, err := s.Sweeps.ResumeSweep(ctx, m.GetSweepId())
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.ResumeSweepResponse{Sweep: sweep}, nil
}

// CancelSweep ends a sweep before it is done.
func (s *Sweep) CancelSweep(ctx context.Context, m *foiblev1.CancelSweepRequest) (*foiblev1.CancelSweepResponse, error) {
	sweep, err := s.Sweeps.CancelSweep(ctx, m.GetSweepId())
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.CancelSweepResponse{Sweep: sweep}, nil
}

// SetSweepPriority changes a sweep's share of the workers.
func (s *Sweep) SetSweepPriority(ctx context.Context, m *foiblev1.SetSweepPriorityRequest) (*foiblev1.SetSweepPriorityResponse, error) {
	sweep, err := s.Sweeps.SetPriority(ctx, m.GetSweepId(), int(m.GetPriority()))
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.SetSweepPriorityResponse{Sweep: sweep}, nil
}

// RetrySweep tries again what has failed of a sweep.
func (s *Sweep) RetrySweep(ctx context.Context, m *foiblev1.RetrySweepRequest) (*foiblev1.RetrySweepResponse, error) {
	sweep, retried, err := s.Sweeps.RetrySweep(ctx, m.GetSweepId())
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.RetrySweepResponse{Sweep: sweep, Retried: retried}, nil
}

// DeleteSweep removes a sweep and its results.
func (s *Sweep) DeleteSweep(ctx context.Context, m *foiblev1.DeleteSweepRequest) (*foiblev1.DeleteSweepResponse, error) {
	if err := s.Sweeps.DeleteSweep(ctx, m.GetSweepId()); err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.DeleteSweepResponse{}, nil
}

// ExtendSweep makes a sweep of a larger grid.
func (s *Sweep) ExtendSweep(ctx context.Context, m *foiblev1.ExtendSweepRequest) (*foiblev1.ExtendSweepResponse, error) {
	sweep, existed, err := s.Sweeps.ExtendSweep(ctx, m)
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.ExtendSweepResponse{Sweep: sweep, Existed: existed}, nil
}

// ListFits returns what has been scored.
func (s *Sweep) ListFits(ctx context.Context, m *foiblev1.ListFitsRequest) (*foiblev1.ListFitsResponse, error) {
	fits, err := s.Sweeps.Fits(ctx, m.GetSweepId(), int(m.GetPerModel()))
	if err != nil {
		return nil, StatusOf(named(m.GetSweepId(), err))
	}
	return &foiblev1.ListFitsResponse{Fits: fits}, nil
}

// ExportResults streams what has been recorded.
func (s *Sweep) ExportResults(m *foiblev1.ExportResultsRequest, stream grpc.ServerStreamingServer[foiblev1.ExportResultsResponse]) error {
	err := s.Sweeps.Results(stream.Context(), m.GetSweepId(), m.GetPartial(), func(job int, result []byte) error {
		return stream.Send(exported(job, result))
	})
	return StatusOf(named(m.GetSweepId(), err))
}

// exported is the message of a recorded result, whose bytes are its field result: they need
// not be read to be sent.
func exported(job int, result []byte) *foiblev1.ExportResultsResponse {
	m := &foiblev1.ExportResultsResponse{Job: int32(job)}
	field := m.ProtoReflect().Descriptor().Fields().ByName("result").Number()
	b := make([]byte, 0, len(result)+2*binary.MaxVarintLen32)
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), result))
	return m
}

func named(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sweep %s: %w", id, err)
}
