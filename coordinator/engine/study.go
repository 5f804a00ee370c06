package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"foible.dev/foible/coordinator/engine/server"
)

const studyChunk = 1 << 20 // bytes; each chunk costs one fsync

// storedTime is how long it may take to read the study that is stored already, when it is put again.
const storedTime = callTimeout / 3

// PutStudy keeps a bundle under its hash. The same hash again is a no-op, unless what is stored is damaged: the caller
// vouches that equal hashes mean equal bundles. The error wraps ErrDamaged where the store is so damaged that what was put
// cannot be read; it says what to do.
func (e *Engine) PutStudy(ctx context.Context, hash string, bundle []byte) error {
	if err := checkID("study", hash); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error {
		reading, end := context.WithTimeout(ctx, storedTime)
		stored, err := e.study(reading, hash)
		late := reading.Err() != nil && ctx.Err() == nil && !e.Shared() // parts of it are missing, or all is slow
		end()
		switch {
		case err == nil && bytes.Equal(stored, bundle):
			return nil
		case errors.Is(err, ErrDamaged), late:
			if err := e.forgetStudy(ctx, hash); err != nil {
				return err
			}
		case err != nil && !errors.Is(err, jetstream.ErrObjectNotFound):
			return err
		}
		meta := jetstream.ObjectMeta{Name: hash, Opts: &jetstream.ObjectMetaOptions{ChunkSize: studyChunk}}
		if _, err = e.link().studies.Put(ctx, meta, unhurried{bytes.NewReader(bundle)}); err != nil || e.Shared() {
			return err
		}
		if _, err := e.link().studies.GetInfo(ctx, hash); err != nil { // so it is after some damage to what stands before it
			return fmt.Errorf("%w: what was written cannot be read again (%v); stop the coordinator, remove %s, start it, and submit again all that has not ended",
				ErrDamaged, err, filepath.Join(server.StreamsDir(e.cfg.Dir), studiesConfig.Name))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put study %s: %w", hash, err)
	}
	return nil
}

// forgetStudy removes the description of a study, which may be what is damaged: then the object store can neither delete the study
// nor put another one in its place. NB: the chunks of a study whose description cannot be read stay on the disk.
func (e *Engine) forgetStudy(ctx context.Context, hash string) error {
	info, err := e.link().studies.GetInfo(ctx, hash)
	stream, streamErr := e.link().js.Stream(ctx, studiesConfig.Name)
	if streamErr != nil {
		return streamErr
	}
	subjects := []string{"$O.studies.M." + base64.URLEncoding.EncodeToString([]byte(hash))}
	if err == nil {
		subjects = append(subjects, "$O.studies.C."+info.NUID)
	}
	for _, subject := range subjects {
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}

// study reads a bundle in one attempt. What is no error of servers, which another attempt may not meet, is one of what is
// stored: ErrDamaged.
func (e *Engine) study(ctx context.Context, hash string) ([]byte, error) {
	bundle, err := e.link().studies.GetBytes(ctx, hash)
	var api *jetstream.APIError
	if err == nil || ctx.Err() != nil || e.passing(err) || errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, nats.ErrNoResponders) || errors.As(err, &api) {
		return bundle, err
	}
	return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
}

// Study returns the bundle of a hash, or ErrNotFound, or ErrDamaged.
func (e *Engine) Study(ctx context.Context, hash string) ([]byte, error) {
	if err := checkID("study", hash); err != nil {
		return nil, err
	}
	var bundle []byte
	err := e.try(ctx, "", func(ctx context.Context) (err error) {
		bundle, err = e.study(ctx, hash)
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
