package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func formerName(sweep string) string { return "FORMER-" + sweep }

func formerSubject(sweep string, job int) string { return "f." + sweep + "." + strconv.Itoa(job) }

// KeepFormer keeps what was recorded of a job and is about to be forgotten, in place of what was kept of the job before.
func (e *Engine) KeepFormer(ctx context.Context, sweep string, job int, result []byte) error {
	if err := errors.Join(checkID("sweep", sweep), checkJob(job)); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error {
		err := e.provide(ctx, e.link().js, jetstream.StreamConfig{
			Name: formerName(sweep), Subjects: []string{"f." + sweep + ".*"}, Storage: jetstream.FileStorage, MaxMsgsPerSubject: 1,
		})
		if err != nil {
			return err
		}
		return errors.Join(e.publishSingly(ctx, []*nats.Msg{{Subject: formerSubject(sweep, job), Data: result}})...)
	})
	if err != nil {
		return fmt.Errorf("keep what was recorded of job %d of sweep %s: %w", job, sweep, err)
	}
	return nil
}

// Former returns what KeepFormer has kept of a job, or ErrNotFound.
func (e *Engine) Former(ctx context.Context, sweep string, job int) (result []byte, err error) {
	if err := errors.Join(checkID("sweep", sweep), checkJob(job)); err != nil {
		return nil, err
	}
	err = e.try(ctx, formerName(sweep), func(ctx context.Context) error {
		stream, err := e.link().js.Stream(ctx, formerName(sweep))
		if err != nil {
			return err
		}
		msg, err := stream.GetLastMsgForSubject(ctx, formerSubject(sweep, job))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return ErrNotFound
		}
		if err == nil {
			result = msg.Data
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("what was recorded of job %d of sweep %s: %w", job, sweep, err)
	}
	return result, nil
}

// DropFormer forgets all that KeepFormer has kept of a sweep.
func (e *Engine) DropFormer(ctx context.Context, sweep string) error {
	if err := checkID("sweep", sweep); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error { return e.deleteStream(ctx, formerName(sweep)) })
	if err != nil {
		return fmt.Errorf("drop what was recorded of sweep %s: %w", sweep, err)
	}
	return nil
}
