package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const studyChunk = 1 << 20 // bytes; each chunk costs one fsync

// PutStudy keeps a bundle under its hash. The same hash again is a no-op: the caller vouches that equal
// hashes mean equal bundles.
func (e *Engine) PutStudy(ctx context.Context, hash string, bundle []byte) error {
	if err := checkID("study", hash); err != nil {
		return err
	}
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	switch _, err := e.studies.GetInfo(ctx, hash); {
	case err == nil:
		return nil
	case !errors.Is(err, jetstream.ErrObjectNotFound):
		return fmt.Errorf("put study %s: %w", hash, e.cause(ctx, err))
	}
	meta := jetstream.ObjectMeta{Name: hash, Opts: &jetstream.ObjectMetaOptions{ChunkSize: studyChunk}}
	if _, err := e.studies.Put(ctx, meta, bytes.NewReader(bundle)); err != nil {
		return fmt.Errorf("put study %s: %w", hash, e.cause(ctx, err))
	}
	return nil
}

// Study returns the bundle of a hash, or ErrNotFound.
func (e *Engine) Study(ctx context.Context, hash string) ([]byte, error) {
	if err := checkID("study", hash); err != nil {
		return nil, err
	}
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	bundle, err := e.studies.GetBytes(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", hash, e.cause(ctx, err))
	}
	return bundle, nil
}
