package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	queueConsumer = "queue"

	fetchExpiry    = 5 * time.Second
	fetchHeartbeat = time.Second           // of the server; three missed mean that it is gone
	fetchQuiet     = 20 * time.Millisecond // how long Fetch waits for a further job once it has one
)

// Queue hands out the jobs of one sweep. All queues of a sweep, in all coordinators, share its jobs.
type Queue struct {
	engine *Engine
	sweep  string
	pull   string // the subject that asks for jobs
	inbox  string // each request adds its number

	mu       sync.Mutex // guards all below: one Fetch at a time
	sub      *nats.Subscription
	requests uint64
}

// Queue returns the queue of a sweep. Close the queue when it is no longer fetched from.
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
	_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:       queueConsumer,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       e.cfg.AckWait,
		MaxDeliver:    -1,
		MaxAckPending: e.cfg.MaxAckPending,
	})
	if err != nil {
		return nil, fmt.Errorf("queue of sweep %s: %w", sweep, e.cause(ctx, err))
	}
	q := &Queue{
		engine: e, sweep: sweep,
		pull:  "$JS.API.CONSUMER.MSG.NEXT." + jobsName(sweep) + "." + queueConsumer,
		inbox: e.conn.NewInbox(),
	}
	q.sub, err = e.conn.SubscribeSync(q.inbox + ".*")
	if err != nil {
		return nil, fmt.Errorf("queue of sweep %s: %w", sweep, e.cause(ctx, err))
	}
	return q, nil
}

// Close stops receiving. Jobs handed out stay leased until acknowledged, released or expired.
func (q *Queue) Close() error {
	if err := q.sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("queue of sweep %s: %w", q.sweep, err)
	}
	return nil
}

// Pending returns how many jobs wait for their first delivery, and how many are leased or wait for a further
// delivery.
func (q *Queue) Pending(ctx context.Context) (waiting, leased int, err error) {
	ctx, cancel, err := q.engine.call(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer cancel()
	consumer, err := q.engine.js.Consumer(ctx, jobsName(q.sweep), queueConsumer)
	if err != nil {
		return 0, 0, fmt.Errorf("queue of sweep %s: %w", q.sweep, q.engine.cause(ctx, err))
	}
	info := consumer.CachedInfo()
	return int(info.NumPending), info.NumAckPending, nil
}

// Fetch leases at most n jobs: those that are there now, else the first that come within 5 seconds, else
// none. After DeleteJobs it returns ErrNotFound. When ctx ends, Fetch returns its error, and a job that was
// on its way is returned by the next Fetch or its lease expires.
func (q *Queue) Fetch(ctx context.Context, n int) ([]*Delivery, error) {
	if n <= 0 {
		return nil, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	got, err := q.fetch(ctx, n)
	switch {
	case len(got) > 0:
		return got, nil // an error will show again
	case err == nil, errors.Is(err, errFetched):
		return nil, nil
	}
	return nil, fmt.Errorf("fetch jobs of sweep %s: %w", q.sweep, q.engine.cause(ctx, err))
}

var (
	// errFetched ends a request: the server has nothing more for it.
	errFetched = errors.New("nothing more")
	// errElsewhere ends a request: an earlier one, whose Fetch has gone, will get the jobs that wait.
	errElsewhere = errors.New("jobs wait for an earlier request")
	errSilent    = fmt.Errorf("no sign of the queue's server for %v", 3*fetchHeartbeat)
)

func (q *Queue) fetch(ctx context.Context, n int) (got []*Delivery, err error) {
	q.requests++ // from here on, statuses of earlier requests mean nothing
	// What came for an earlier request after its Fetch had gone.
	for len(got) < n {
		if msgs, _, err := q.sub.Pending(); err != nil || msgs == 0 {
			break
		}
		if got, err = q.receive(ctx, got, fetchQuiet); err != nil {
			return got, err
		}
	}
	if len(got) > 0 {
		return got, nil
	}
	// With no_wait and an expiry the server answers at once if it has jobs, and otherwise with the first.
	request, err := json.Marshal(map[string]any{
		"batch": n, "no_wait": true, "expires": fetchExpiry, "idle_heartbeat": fetchHeartbeat,
	})
	if err != nil {
		return nil, err
	}
	if err := q.engine.conn.PublishRequest(q.pull, q.inbox+"."+strconv.FormatUint(q.requests, 10), request); err != nil {
		return nil, err
	}
	patience, elsewhere := 3*fetchHeartbeat, false
	for len(got) < n {
		switch got, err = q.receive(ctx, got, patience); {
		case errors.Is(err, errElsewhere):
			patience, elsewhere = fetchHeartbeat, true
		case elsewhere && errors.Is(err, errSilent):
			return got, nil
		case err != nil:
			return got, err
		}
		if len(got) > 0 {
			patience = fetchQuiet
		}
	}
	return got, nil
}

// receive waits for one message and appends it if it is a delivery, for whatever request. Statuses count
// for the latest request only.
func (q *Queue) receive(ctx context.Context, got []*Delivery, patience time.Duration) ([]*Delivery, error) {
	wait, cancel := q.engine.within(ctx, patience, errSilent)
	defer cancel()
	msg, err := q.sub.NextMsgWithContext(wait)
	if err != nil {
		return got, q.engine.cause(wait, err)
	}
	status := msg.Header.Get("Status")
	if status == "" {
		d, err := q.delivery(msg)
		if err != nil {
			return got, err
		}
		return append(got, d), nil
	}
	if msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:] != strconv.FormatUint(q.requests, 10) {
		return got, nil
	}
	switch description := msg.Header.Get("Description"); {
	case status == "100":
		return got, nil
	case status == "408" && description == "Requests Pending":
		return got, errElsewhere
	case status == "404", status == "408":
		return got, errFetched
	case status == "409" && strings.HasPrefix(description, "Consumer Deleted"):
		return got, ErrNotFound
	default:
		return got, fmt.Errorf("status %s %s", status, description)
	}
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
	return &Delivery{conn: q.engine.conn, reply: msg.Reply, job: job, attempt: int(meta.NumDelivered)}, nil
}

// Delivery is a job leased from a queue: the lease lasts Config.AckWait from the delivery or from the last
// InProgress.
type Delivery struct {
	conn    *nats.Conn
	reply   string
	job     int
	attempt int
}

// Job returns the job's number.
func (d *Delivery) Job() int { return d.job }

// Attempt counts the deliveries of this job, from 1.
func (d *Delivery) Attempt() int { return d.attempt }

// InProgress extends the lease.
func (d *Delivery) InProgress() error { return d.send("+WPI") }

// Ack takes the job out of the queue. It does not wait: should the acknowledgement be lost in a crash, the
// job is delivered again. Record its result first.
func (d *Delivery) Ack() error { return d.send("+ACK") }

// Release gives the lease back; the job is delivered again at once.
func (d *Delivery) Release() error { return d.send("-NAK") }

func (d *Delivery) send(answer string) error {
	if err := d.conn.Publish(d.reply, []byte(answer)); err != nil {
		return fmt.Errorf("job %d: answer %s: %w", d.job, answer, err)
	}
	return nil
}
