package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Queue hands out the jobs of one sweep: those of .redo before those of .main, each in order of publication.
// All queues of a sweep, in all coordinators, share its jobs. Safe for concurrent use.
type Queue struct {
	engine *Engine
	sweep  string
	lanes  []lane // by priority
}

// lane is a consumer of the stream of jobs.
type lane struct {
	name string
	next string // subject on which it is asked for jobs
}

// fetchPatience is how long Fetch waits for a job that the server owes it. It owes none while MaxAckPending are
// leased, and does not say so.
const fetchPatience = 2 * time.Second

// Queue returns the queue of a sweep.
func (e *Engine) Queue(ctx context.Context, sweep string) (*Queue, error) {
	if err := checkID("sweep", sweep); err != nil {
		return nil, err
	}
	q := &Queue{engine: e, sweep: sweep}
	if err := e.write(ctx, "", q.open); err != nil {
		return nil, fmt.Errorf("queue of sweep %s: %w", sweep, err)
	}
	return q, nil
}

// open makes the consumers, or finds them.
func (q *Queue) open(ctx context.Context) error {
	e, sweep := q.engine, q.sweep
	stream, err := e.openJobs(ctx, sweep)
	if err != nil {
		return err
	}
	q.lanes = nil
	for _, l := range []struct{ name, subject string }{{"redo", redoSubject(sweep)}, {"main", mainSubject(sweep)}} {
		_, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable:       l.name,
			FilterSubject: l.subject,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       e.cfg.AckWait,
			MaxDeliver:    -1,
			MaxAckPending: e.cfg.MaxAckPending,
		})
		if err != nil {
			return err
		}
		q.lanes = append(q.lanes, lane{l.name, "$JS.API.CONSUMER.MSG.NEXT." + jobsName(sweep) + "." + l.name})
	}
	return nil
}

// Pending returns how many jobs wait for their first delivery, and how many are leased or wait for a further
// delivery.
func (q *Queue) Pending(ctx context.Context) (waiting, leased int, err error) {
	err = q.engine.try(ctx, jobsName(q.sweep), func(ctx context.Context) error {
		waiting, leased = 0, 0
		for _, lane := range q.lanes {
			consumer, err := q.engine.link().js.Consumer(ctx, jobsName(q.sweep), lane.name)
			if err != nil {
				return err
			}
			info := consumer.CachedInfo()
			waiting += int(info.NumPending)
			leased += info.NumAckPending
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("queue of sweep %s: %w", q.sweep, err)
	}
	return waiting, leased, nil
}

// Fetch leases at most n jobs of those that are there now; it does not wait for others, and hears of new ones a
// moment after they are stored. It may return jobs and an error. After DeleteJobs it returns ErrNotFound. A job that
// was on its way when ctx ended comes again when its lease expires. Servers that do not answer have no jobs.
func (q *Queue) Fetch(ctx context.Context, n int) (got []*Delivery, err error) {
	ctx, cancel, err := q.engine.call(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for _, l := range q.lanes {
		if len(got) >= n {
			break
		}
		if got, err = q.fetch(ctx, l, n-len(got), got); err == nil {
			continue
		}
		err = q.engine.cause(ctx, err)
		switch {
		case q.engine.gone(ctx, jobsName(q.sweep), err):
			err = ErrNotFound
		case q.engine.passing(err):
			return got, nil
		}
		return got, fmt.Errorf("fetch jobs of sweep %s: %w", q.sweep, err)
	}
	return got, nil
}

func (q *Queue) fetch(ctx context.Context, l lane, n int, got []*Delivery) ([]*Delivery, error) {
	conn := q.engine.link().conn
	inbox := conn.NewInbox()
	msgs := make(chan *nats.Msg, n+1) // the jobs, and what the server says if they are fewer
	sub, err := conn.ChanSubscribe(inbox, msgs)
	if err != nil {
		return got, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	if err := conn.PublishRequest(l.next, inbox, fmt.Appendf(nil, `{"batch":%d,"no_wait":true}`, n)); err != nil {
		return got, err
	}
	patience := time.NewTimer(fetchPatience)
	defer patience.Stop()
	for range n {
		var msg *nats.Msg
		select {
		case msg = <-msgs:
		case <-patience.C:
			return got, nil
		case <-ctx.Done():
			return got, ctx.Err()
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
		case "404", "408": // no more are there
			return got, nil
		case "503": // there is no such consumer
			return got, nats.ErrNoResponders
		default:
			switch description := strings.ToLower(msg.Header.Get("Description")); description {
			case "consumer deleted":
				return got, jetstream.ErrConsumerDeleted
			case "leadership change", "server shutdown": // another server takes over
				return got, nil
			default:
				return got, fmt.Errorf("status %s %s", status, description)
			}
		}
		d, err := q.delivery(msg)
		if err != nil {
			return got, err
		}
		got = append(got, d)
	}
	return got, nil
}

func (q *Queue) delivery(msg *nats.Msg) (*Delivery, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return nil, err
	}
	job, err := strconv.Atoi(string(msg.Data))
	if err != nil {
		return nil, err
	}
	return &Delivery{
		engine: q.engine, reply: msg.Reply, job: job, entry: meta.Sequence.Stream, attempt: int(meta.NumDelivered),
	}, nil
}

// Delivery is a job leased from a queue: the lease lasts Config.AckWait from the delivery or from the last
// InProgress.
type Delivery struct {
	engine  *Engine
	reply   string // where the server takes answers
	job     int
	entry   uint64
	attempt int
}

// Job returns the job's number.
func (d *Delivery) Job() int { return d.job }

// Entry is the number of the entry in the queue. Every delivery of one entry has the same; a job that was put into the
// queue again has an entry more.
func (d *Delivery) Entry() uint64 { return d.entry }

// Attempt counts the deliveries of this entry, from 1.
func (d *Delivery) Attempt() int { return d.attempt }

// InProgress extends the lease.
func (d *Delivery) InProgress() error { return d.answer("extend", "+WPI") }

// Ack takes the job out of the queue. It does not wait: should the acknowledgement be lost in a crash, the
// job is delivered again. Record its result first.
func (d *Delivery) Ack() error { return d.answer("acknowledge", "+ACK") }

// Release gives the lease back; the job is delivered again at once.
func (d *Delivery) Release() error { return d.answer("release", "-NAK") }

// ReleaseAfter gives the lease back; the job is delivered again after a pause, or at once if that is not above 0. The
// servers keep the pause.
func (d *Delivery) ReleaseAfter(pause time.Duration) error {
	if pause <= 0 {
		return d.Release()
	}
	return d.answer("release", fmt.Sprintf(`-NAK {"delay":%d}`, pause.Nanoseconds()))
}

func (d *Delivery) answer(what, word string) error {
	if err := d.engine.link().conn.Publish(d.reply, []byte(word)); err != nil {
		return fmt.Errorf("%s job %d: %w", what, d.job, err)
	}
	return nil
}
