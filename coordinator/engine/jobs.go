package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func jobsName(sweep string) string    { return "JOBS-" + sweep }
func mainSubject(sweep string) string { return "j." + sweep + ".main" }
func redoSubject(sweep string) string { return "j." + sweep + ".redo" }

// jobsStream keeps acknowledged jobs until DeleteJobs: a work queue would sync one deletion to disk for
// every acknowledgement.
func jobsStream(sweep string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:               jobsName(sweep),
		Subjects:           []string{mainSubject(sweep), redoSubject(sweep)},
		Storage:            jetstream.FileStorage,
		Retention:          jetstream.LimitsPolicy,
		AllowAtomicPublish: true,
	}
}

// openJobs returns the sweep's stream of jobs, which is made at first use and again after DeleteJobs.
func (e *Engine) openJobs(ctx context.Context, sweep string) (jetstream.Stream, error) {
	stream, err := e.link().js.Stream(ctx, jobsName(sweep))
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return stream, err
	}
	if _, _, err := e.Sweep(ctx, sweep); err != nil {
		return nil, err
	}
	stream, err = e.createStream(ctx, e.link().js, jobsStream(sweep))
	e.wrote(err)
	return stream, err
}

// Enqueue makes sure that the jobs 0 to n-1 are in the queue, in order, each once: those that are there
// already are not touched. It may be interrupted and repeated, and two callers at once do no harm.
func (e *Engine) Enqueue(ctx context.Context, sweep string, n int) error {
	if err := errors.Join(checkID("sweep", sweep), checkJob(n)); err != nil {
		return err
	}
	next, last, err := e.enqueued(ctx, sweep)
	subject := mainSubject(sweep)
	for failures := 0; err == nil && next < n; {
		msgs := make([]*nats.Msg, min(n-next, maxBatch))
		for i := range msgs {
			msgs[i] = jobMessage(subject, next+i)
		}
		// Only who saw the last job enqueued may add the next ones.
		msgs[0].Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(last, 10))
		var seq uint64
		seq, err = e.enqueueBatch(ctx, msgs)
		switch {
		case err == nil:
			next, last, failures = next+len(msgs), seq, 0
		case (e.passing(err) || isDropped(err)) && failures < maxFailures:
			failures++
			fallthrough
		case isWrongSequence(err):
			next, last, err = e.enqueued(ctx, sweep)
		}
	}
	if err != nil {
		return fmt.Errorf("enqueue jobs of sweep %s from %d: %w", sweep, next, err)
	}
	return nil
}

// enqueueBatch stores jobs, in one attempt, and returns the sequence of the last.
func (e *Engine) enqueueBatch(ctx context.Context, msgs []*nats.Msg) (last uint64, err error) {
	ctx, end, err := e.writes.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	attempt, cancel := e.attempt(ctx)
	defer cancel()
	last, err = e.publishBatch(attempt, msgs)
	if !e.passing(err) {
		e.wrote(err)
	}
	return last, err
}

// Enqueued returns how many jobs Enqueue has put into the queue: 0 to Enqueued-1. It is 0 after DeleteJobs.
func (e *Engine) Enqueued(ctx context.Context, sweep string) (int, error) {
	if err := checkID("sweep", sweep); err != nil {
		return 0, err
	}
	n, _, err := e.enqueued(ctx, sweep)
	if err != nil {
		return 0, fmt.Errorf("enqueued jobs of sweep %s: %w", sweep, err)
	}
	return n, nil
}

// maxFailures is how many batches in a row may find no server, or be dropped by it.
const maxFailures = 10

// enqueued also returns the sequence of the last job enqueued, 0 if there is none.
func (e *Engine) enqueued(ctx context.Context, sweep string) (n int, last uint64, err error) {
	err = e.try(ctx, "", func(ctx context.Context) error {
		stream, err := e.openJobs(ctx, sweep)
		if err != nil {
			return err
		}
		msg, err := stream.GetLastMsgForSubject(ctx, mainSubject(sweep))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		job, err := strconv.Atoi(string(msg.Data))
		n, last = job+1, msg.Sequence
		return err
	})
	return n, last, err
}

// Requeue puts jobs into the queue again, behind all others; jobs that Enqueue never held, such as score
// jobs, come in this way too. Duplicates are harmless.
func (e *Engine) Requeue(ctx context.Context, sweep string, jobs []int) error {
	if err := checkID("sweep", sweep); err != nil {
		return err
	}
	return e.requeue(ctx, sweep, jobs, e.publish)
}

// RequeueReady is Requeue of jobs that other coordinators may find ready too: who comes within two minutes of the
// first one adds nothing.
func (e *Engine) RequeueReady(ctx context.Context, sweep string, jobs []int) error {
	if err := checkID("sweep", sweep); err != nil {
		return err
	}
	if !e.Shared() {
		return e.requeue(ctx, sweep, jobs, e.publish)
	}
	return e.requeue(ctx, sweep, jobs, func(ctx context.Context, msgs []*nats.Msg) []error {
		for _, msg := range msgs {
			msg.Header.Set(jetstream.MsgIDHeader, string(msg.Data))
		}
		return e.publishSingly(ctx, msgs)
	})
}

func (e *Engine) requeue(ctx context.Context, sweep string, jobs []int, publish func(context.Context, []*nats.Msg) []error) error {
	for _, job := range jobs {
		if err := checkJob(job); err != nil {
			return err
		}
	}
	err := e.write(ctx, "", func(ctx context.Context) error {
		_, err := e.openJobs(ctx, sweep)
		return err
	})
	for subject := redoSubject(sweep); err == nil && len(jobs) > 0; {
		n := min(len(jobs), maxBatch)
		err = e.write(ctx, jobsName(sweep), func(ctx context.Context) error {
			msgs := make([]*nats.Msg, n)
			for i := range msgs {
				msgs[i] = jobMessage(subject, jobs[i])
			}
			return errors.Join(publish(ctx, msgs)...)
		})
		jobs = jobs[n:]
	}
	if err != nil {
		return fmt.Errorf("requeue jobs of sweep %s: %w", sweep, err)
	}
	return nil
}

// DeleteJobs empties the queue of a sweep that is cancelled or done; its results stay. Fetch of the old
// Queue returns ErrNotFound afterwards.
func (e *Engine) DeleteJobs(ctx context.Context, sweep string) error {
	if err := checkID("sweep", sweep); err != nil {
		return err
	}
	err := e.write(ctx, "", func(ctx context.Context) error { return e.deleteStream(ctx, jobsName(sweep)) })
	if err != nil {
		return fmt.Errorf("delete jobs of sweep %s: %w", sweep, err)
	}
	return nil
}

func jobMessage(subject string, job int) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: strconv.AppendInt(nil, int64(job), 10), Header: nats.Header{}}
}
