package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// maxBatch is the server's limit of messages in an atomic batch.
	maxBatch = 1000
	// minBatch is where an atomic batch becomes cheaper than single messages: one message costs one fsync,
	// a batch of any size about a dozen (it is staged in a directory of its own).
	minBatch = 14
)

// publish stores messages of one stream; errs[i] belongs to msgs[i] and is nil only when the message is on
// disk. Few messages go singly. Many go as one atomic batch; if the stream refuses it because it refuses
// one of them, its halves are tried. If the server has dropped it, they go singly, which says why, if there is a reason.
func (e *Engine) publish(ctx context.Context, msgs []*nats.Msg) (errs []error) {
	if len(msgs) < minBatch {
		return e.publishSingly(ctx, msgs)
	}
	_, err := e.publishBatch(ctx, msgs)
	if err != nil && isTaken(err) {
		half := len(msgs) / 2
		return append(e.publish(ctx, msgs[:half]), e.publish(ctx, msgs[half:])...)
	}
	if isDropped(err) {
		return e.publishSingly(ctx, msgs)
	}
	errs = make([]error, len(msgs))
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// publishSingly publishes all, in order, before it waits for the first.
func (e *Engine) publishSingly(ctx context.Context, msgs []*nats.Msg) []error {
	js, errs := e.link().js, make([]error, len(msgs))
	acks := make([]jetstream.PubAckFuture, len(msgs))
	for i, msg := range msgs {
		// It may come from a refused batch.
		delete(msg.Header, batchIDHeader)
		delete(msg.Header, batchSequenceHeader)
		delete(msg.Header, batchCommitHeader)
		acks[i], errs[i] = js.PublishMsgAsync(msg, jetstream.WithRetryAttempts(0))
	}
	for i, ack := range acks {
		if errs[i] != nil {
			continue
		}
		select {
		case <-ack.Ok():
		case errs[i] = <-ack.Err():
			errs[i] = e.cause(ctx, errs[i])
		case <-ctx.Done():
			errs[i] = context.Cause(ctx)
		}
	}
	return errs
}

const (
	batchIDHeader       = "Nats-Batch-Id"
	batchSequenceHeader = "Nats-Batch-Sequence"
	batchCommitHeader   = "Nats-Batch-Commit"
)

// publishBatch stores all messages or none, and returns the stream sequence of the last.
func (e *Engine) publishBatch(ctx context.Context, msgs []*nats.Msg) (last uint64, err error) {
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	ctx, end := e.uninterrupted(ctx)
	defer end()
	conn, id := e.link().conn, []string{e.batchID.next()}
	for i, msg := range msgs {
		if msg.Header == nil {
			msg.Header = nats.Header{}
		}
		msg.Header[batchIDHeader] = id
		msg.Header[batchSequenceHeader] = []string{strconv.Itoa(i + 1)}
		delete(msg.Header, batchCommitHeader)
		if i < len(msgs)-1 {
			if err := conn.PublishMsg(msg); err != nil {
				return 0, err
			}
		}
	}
	commit := msgs[len(msgs)-1]
	commit.Header[batchCommitHeader] = []string{"1"}
	reply, err := conn.RequestMsgWithContext(ctx, commit)
	if err != nil {
		return 0, e.cause(ctx, err)
	}
	var ack struct {
		Seq   uint64              `json:"seq"`
		Batch string              `json:"batch"`
		Count int                 `json:"count"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, fmt.Errorf("acknowledgement of a batch: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	if ack.Batch != id[0] || ack.Count != len(msgs) {
		return 0, fmt.Errorf("acknowledgement of a batch of %d messages is for %d", len(msgs), ack.Count)
	}
	return ack.Seq, nil
}

// isTaken says whether a stream refused a message because its subject has one already.
func isTaken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == storeFailed && api.Description == subjectFull
}

// isDropped says whether the server has dropped a batch before its end, because it could not be staged on disk, or took
// longer than ten seconds. Nothing of it is stored, and the server says no reason.
func isDropped(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == incompleteBatch
}

const incompleteBatch jetstream.ErrorCode = 10176

// What the server answers when a subject holds MaxMsgsPerSubject messages.
const (
	storeFailed jetstream.ErrorCode = 10077
	subjectFull                     = "maximum messages per subject exceeded"
)

// batchIDs makes short ids, unique among all writers to a stream: they are stored with every message.
type batchIDs struct {
	prefix string
	count  *atomic.Uint64
}

func newBatchIDs() batchIDs { return batchIDs{prefix: rand.Text()[:12], count: new(atomic.Uint64)} }

func (b batchIDs) next() string { return b.prefix + strconv.FormatUint(b.count.Add(1), 36) }
