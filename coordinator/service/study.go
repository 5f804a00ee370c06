package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"foible.dev/foible/core/files"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const chunkBytes = 256 << 10

// Studies keeps bundles by their hash.
type Studies interface {
	PutStudy(ctx context.Context, hash string, bundle []byte) error
	// Study returns ErrNotFound where there is none.
	Study(ctx context.Context, hash string) ([]byte, error)
}

// Study serves foible.v1.StudyService.
type Study struct {
	foiblev1.UnimplementedStudyServiceServer
	Studies Studies
	// Limits of a bundle.
	Limits files.Limits
	// Transfers holds the bundles that are being sent or fetched.
	Transfers *Transfers
	// TransferTime is how long sending or fetching a bundle may take.
	TransferTime time.Duration
}

// CreateStudy stores a bundle under the hash of its bytes.
func (s *Study) CreateStudy(stream grpc.ClientStreamingServer[foiblev1.CreateStudyRequest, foiblev1.CreateStudyResponse]) error {
	ctx, cancel := context.WithTimeoutCause(stream.Context(), s.TransferTime, s.late("sent"))
	defer cancel()
	upload := s.Transfers.upload()
	done := make(chan error, 1)
	go func() { // Recv ends only with the stream, hence with this function
		defer upload.release()
		done <- s.receive(ctx, stream, upload)
	}()
	select {
	case err := <-done:
		return StatusOf(err)
	case <-ctx.Done():
		return StatusOf(context.Cause(ctx))
	}
}

// receive takes a bundle and stores it.
func (s *Study) receive(ctx context.Context, stream grpc.ClientStreamingServer[foiblev1.CreateStudyRequest, foiblev1.CreateStudyResponse], upload *upload) error {
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := upload.write(m.GetChunk()); err != nil {
			return fmt.Errorf("study: %w", err)
		}
	}
	_, err := files.Bundle(upload.bundle, s.Limits)
	switch {
	case errors.Is(err, files.ErrLimit):
		return fmt.Errorf("study: %w: %w", ErrTooLarge, err)
	case err != nil:
		return fmt.Errorf("study: %w: %w", ErrInvalid, err)
	}
	sum := sha256.Sum256(upload.bundle)
	hash := hex.EncodeToString(sum[:])
	if err := s.Studies.PutStudy(ctx, hash, upload.bundle); err != nil {
		return err
	}
	return stream.SendAndClose(&foiblev1.CreateStudyResponse{StudyHash: hash})
}

// late is why a transfer is ended.
func (s *Study) late(what string) error {
	return fmt.Errorf("%w: a study must be %s within %v", ErrExhausted, what, s.TransferTime)
}

// GetStudy streams a bundle.
func (s *Study) GetStudy(m *foiblev1.GetStudyRequest, stream grpc.ServerStreamingServer[foiblev1.GetStudyResponse]) error {
	ctx, cancel := context.WithTimeoutCause(stream.Context(), s.TransferTime, s.late("fetched"))
	defer cancel()
	bundle, release, err := s.Transfers.Fetch(ctx, m.GetStudyHash())
	if err != nil {
		return StatusOf(fmt.Errorf("study %s: %w", m.GetStudyHash(), err))
	}
	done := make(chan error, 1)
	go func() { // a caller that does not read holds Send up until the stream ends, hence this function
		defer release()
		done <- send(bundle, stream)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return StatusOf(context.Cause(ctx))
	}
}

func send(bundle []byte, stream grpc.ServerStreamingServer[foiblev1.GetStudyResponse]) error {
	for len(bundle) > 0 {
		n := min(len(bundle), chunkBytes)
		if err := stream.Send(&foiblev1.GetStudyResponse{Chunk: bundle[:n]}); err != nil {
			return err
		}
		bundle = bundle[n:]
	}
	return nil
}

func exceeded(n, limit int64) error {
	return fmt.Errorf("%w: it has %s or more, and the limit is %s", ErrTooLarge, words.Bytes(n), words.Bytes(limit))
}
