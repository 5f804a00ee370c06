package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const studyChunk = 1 << 20 // bytes; each chunk costs one fsync

// PutStudy keeps a bundle under its hash. The same hash again is a no-op, unless what is stored is damaged: the caller
// vouches that equal hashes mean equal bundles.
func (e *Engine) PutStudy(ctx context.Context, hash string, bundle []byte) error {
	if err := checkID("study", hash); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error {
		stored, err := e.link().studies.GetBytes(ctx, hash)
		if err == nil && bytes.Equal(stored, bundle) || err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) && !errors.Is(err, jetstream.ErrDigestMismatch) {
			return err
		}
		meta := jetstream.ObjectMeta{Name: hash, Opts: &jetstream.ObjectMetaOptions{ChunkSize: studyChunk}}
		_, err = e.link().studies.Put(ctx, meta, unhurried{bytes.NewReader(bundle)})
		return err
	})
	if err != nil {
		return fmt.Errorf("put study %s: %w", hash, err)
	}
	return nil
}

// Study returns the bundle of a hash, or ErrNotFound, also if it is damaged.
func (e *Engine) Study(ctx context.Context, hash string) ([]byte, error) {
	if err := checkID("study", hash); err != nil {
		return nil, err
	}
	var bundle []byte
	err := e.try(ctx, "", func(ctx context.Context) (err error) {
		bundle, err = e.link().studies.GetBytes(ctx, hash)
		if errors.Is(err, jetstream.ErrDigestMismatch) && !e.Shared() {
			err = fmt.Errorf("%w: it is damaged: %w", ErrNotFound, err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", hash, err)
	}
	return bundle, nil
}

// unhurried lets goroutines that were started begin before it ends. Put of nats.go 1.55 starts one at the first
// chunk, which waits for ever if it begins after Put has ended.
type unhurried struct{ io.Reader }

func (r unhurried) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n == 0 {
		time.Sleep(time.Millisecond)
	}
	return n, err
}
