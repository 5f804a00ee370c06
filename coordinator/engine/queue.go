package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// Queue hands out the jobs of one sweep: those of .redo before those of .main, each in order of publication.
// All queues of a sweep, in all coordinators, share its jobs. Safe for concurrent use.
type Queue struct {
	engine *Engine
	sweep  string
	lanes  []jetstream.Consumer // by priority
}

// Queue returns the queue of a sweep.
func (e *Engine) Queue(ctx context.Context, sweep string) (*Queue, error) {
	if err := checkID("sweep", sweep); err != nil {
		return nil, err
	}
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	stream, err := e.openJobs(ctx, sweep)
	if err != nil {
		return nil, fmt.Errorf("queue of sweep %s: %w", sweep, e.cause(ctx, err))
	}
	q := &Queue{engine: e, sweep: sweep}
	for _, lane := range []struct{ name, subject string }{{"redo", redoSubject(sweep)}, {"main", mainSubject(sweep)}} {
		consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable:       lane.name,
			FilterSubject: lane.subject,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       e.cfg.AckWait,
			MaxDeliver:    -1,
			MaxAckPending: e.cfg.MaxAckPending,
		})
		if err != nil {
			return nil, fmt.Errorf("queue of sweep %s: %w", sweep, e.cause(ctx, err))
		}
		q.lanes = append(q.lanes, consumer)
	}
	return q, nil
}

// Pending returns how many jobs wait for their first delivery, and how many are leased or wait for a further
// delivery.
func (q *Queue) Pending(ctx context.Context) (waiting, leased int, err error) {
	ctx, cancel, err := q.engine.call(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer cancel()
	for _, lane := range q.lanes {
		info, err := lane.Info(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("queue of sweep %s: %w", q.sweep, q.engine.cause(ctx, err))
		}
		waiting += int(info.NumPending)
		leased += info.NumAckPending
	}
	return waiting, leased, nil
}

// Fetch leases at most n jobs of those that are there now; it does not wait for others, and hears of new ones a
// moment after they are stored. It may return jobs and an error. After DeleteJobs it returns ErrNotFound. A job that was on its way when ctx ended comes again when its lease expires.
func (q *Queue) Fetch(ctx context.Context, n int) (got []*Delivery, err error) {
	ctx, cancel, err := q.engine.call(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for _, lane := range q.lanes {
		if len(got) >= n {
			break
		}
		if got, err = q.fetch(ctx, lane, n-len(got), got); err != nil {
			return got, fmt.Errorf("fetch jobs of sweep %s: %w", q.sweep, q.engine.cause(ctx, err))
		}
	}
	return got, nil
}

func (q *Queue) fetch(ctx context.Context, lane jetstream.Consumer, n int, got []*Delivery) ([]*Delivery, error) {
	batch, err := lane.FetchNoWait(n)
	if err != nil {
		return got, err
	}
	for {
		select {
		case msg, ok := <-batch.Messages():
			if !ok {
				return got, batch.Error()
			}
			d, err := delivery(msg)
			if err != nil {
				return got, err
			}
			got = append(got, d)
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

func delivery(msg jetstream.Msg) (*Delivery, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return nil, err
	}
	job, err := strconv.Atoi(string(msg.Data()))
	if err != nil {
		return nil, err
	}
	return &Delivery{msg: msg, job: job, attempt: int(meta.NumDelivered)}, nil
}

// Delivery is a job leased from a queue: the lease lasts Config.AckWait from the delivery or from the last
// InProgress.
type Delivery struct {
	msg     jetstream.Msg
	job     int
	attempt int
}

// Job returns the job's number.
func (d *Delivery) Job() int { return d.job }

// Attempt counts the deliveries of this job, from 1.
func (d *Delivery) Attempt() int { return d.attempt }

// InProgress extends the lease.
func (d *Delivery) InProgress() error { return d.answer("extend", d.msg.InProgress()) }

// Ack takes the job out of the queue. It does not wait: should the acknowledgement be lost in a crash, the
// job is delivered again. Record its result first.
func (d *Delivery) Ack() error { return d.answer("acknowledge", d.msg.Ack()) }

// Release gives the lease back; the job is delivered again at once.
func (d *Delivery) Release() error { return d.answer("release", d.msg.Nak()) }

func (d *Delivery) answer(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s job %d: %w", what, d.job, err)
	}
	return nil
}
