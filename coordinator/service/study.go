package service

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	foiblev1 "foible/proto/foible/v1"
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
	Studies  Studies
	MaxBytes int // of a bundle
}

// CreateStudy stores a bundle under the hash of its bytes.
func (s *Study) CreateStudy(stream grpc.ClientStreamingServer[foiblev1.CreateStudyRequest, foiblev1.CreateStudyResponse]) error {
	var bundle bytes.Buffer
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if bundle.Len()+len(m.GetChunk()) > s.MaxBytes {
			return StatusOf(fmt.Errorf("study: %w: more than %d bytes", ErrTooLarge, s.MaxBytes))
		}
		bundle.Write(m.GetChunk())
	}
	if _, err := zip.NewReader(bytes.NewReader(bundle.Bytes()), int64(bundle.Len())); err != nil {
		return StatusOf(fmt.Errorf("study: %w: %v", ErrInvalid, err))
	}
	sum := sha256.Sum256(bundle.Bytes())
	hash := hex.EncodeToString(sum[:])
	if err := s.Studies.PutStudy(stream.Context(), hash, bundle.Bytes()); err != nil {
		return StatusOf(err)
	}
	return stream.SendAndClose(&foiblev1.CreateStudyResponse{StudyHash: hash})
}

// GetStudy streams a bundle.
func (s *Study) GetStudy(m *foiblev1.GetStudyRequest, stream grpc.ServerStreamingServer[foiblev1.GetStudyResponse]) error {
	bundle, err := s.Studies.Study(stream.Context(), m.GetStudyHash())
	if err != nil {
		return StatusOf(fmt.Errorf("study %s: %w", m.GetStudyHash(), err))
	}
	for len(bundle) > 0 {
		n := min(len(bundle), chunkBytes)
		if err := stream.Send(&foiblev1.GetStudyResponse{Chunk: bundle[:n]}); err != nil {
			return err
		}
		bundle = bundle[n:]
	}
	return nil
}
