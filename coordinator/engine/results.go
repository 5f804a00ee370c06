package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// resultPage is the number of jobs under one prefix of result subjects: what Recorded asks for at once.
const resultPage = 10_000

func resultsName(sweep string) string { return "RESULTS-" + sweep }

func resultSubject(sweep string, job int) string {
	b := make([]byte, 0, len(sweep)+16)
	b = append(b, "r."...)
	b = append(b, sweep...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(job/resultPage), 10)
	b = append(b, '.')
	return string(strconv.AppendInt(b, int64(job%resultPage), 10))
}

// resultJob is the inverse of resultSubject.
func resultJob(subject string) (int, error) {
	parts := strings.Split(subject, ".")
	if len(parts) != 4 {
		return 0, fmt.Errorf("result subject %q", subject)
	}
	page, err1 := strconv.Atoi(parts[2])
	rest, err2 := strconv.Atoi(parts[3])
	return page*resultPage + rest, errors.Join(err1, err2)
}

// resultsStream refuses a second message on a subject: that is the rule that the first result wins.
func resultsStream(sweep string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:                 resultsName(sweep),
		Subjects:             []string{"r." + sweep + ".*.*"},
		Storage:              jetstream.FileStorage,
		MaxMsgsPerSubject:    1,
		Discard:              jetstream.DiscardNew,
		DiscardNewPerSubject: true,
		AllowAtomicPublish:   true,
		AllowDirect:          true,
	}
}

// Result returns the recorded result of a job, or ErrNotFound.
func (e *Engine) Result(ctx context.Context, sweep string, job int) ([]byte, error) {
	result, _, err := e.ResultAt(ctx, sweep, job)
	return result, err
}

// ResultAt is Result, and the result's place in the order in which the results of the sweep were recorded.
func (e *Engine) ResultAt(ctx context.Context, sweep string, job int) (result []byte, sequence uint64, err error) {
	if err := errors.Join(checkID("sweep", sweep), checkJob(job)); err != nil {
		return nil, 0, err
	}
	err = e.try(ctx, resultsName(sweep), func(ctx context.Context) error {
		subject := "$JS.API.DIRECT.GET." + resultsName(sweep) + "." + resultSubject(sweep, job)
		msg, err := e.link().conn.RequestWithContext(ctx, subject, nil)
		switch {
		case err != nil:
			return err
		case msg.Header.Get("Status") == "404" && e.replicas > 1: // that server may be behind the one that leads
			result, sequence, err = e.leadersResult(ctx, sweep, job)
			return err
		case msg.Header.Get("Status") == "404":
			return ErrNotFound
		case msg.Header.Get(jetstream.SequenceHeader) == "":
			return fmt.Errorf("%w: its headers are %v", ErrDamaged, msg.Header)
		}
		result = msg.Data
		sequence, err = strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("result of job %d of sweep %s: %w", job, sweep, err)
	}
	return result, sequence, nil
}

// leadersResult asks the server that leads the stream, also for the sequence of the result.
func (e *Engine) leadersResult(ctx context.Context, sweep string, job int) (result []byte, sequence uint64, err error) {
	request, err := json.Marshal(map[string]string{"last_by_subj": resultSubject(sweep, job)})
	if err != nil {
		return nil, 0, err
	}
	reply, err := e.link().conn.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+resultsName(sweep), request)
	if err != nil {
		return nil, 0, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Sequence uint64 `json:"seq"`
			Data     []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return nil, 0, err
	}
	if answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound {
		return nil, 0, ErrNotFound
	}
	if answer.Error != nil {
		return nil, 0, answer.Error
	}
	return answer.Message.Data, answer.Message.Sequence, nil
}

// Recorded calls fn for each job below n that has a result, in ascending order. Every job recorded before
// the call is among them. It reads the index only, no result, and stops at the first error of fn. A sweep
// that does not exist is ErrNotFound.
func (e *Engine) Recorded(ctx context.Context, sweep string, n int, fn func(job int) error) error {
	if err := errors.Join(checkID("sweep", sweep), checkJob(n)); err != nil {
		return err
	}
	if err := e.recorded(ctx, sweep, n, fn); err != nil {
		return fmt.Errorf("recorded jobs of sweep %s: %w", sweep, err)
	}
	return nil
}

func (e *Engine) recorded(ctx context.Context, sweep string, n int, fn func(job int) error) error {
	jobs := make([]int, 0, resultPage)
	for page := range (n + resultPage - 1) / resultPage {
		subjects, err := e.recordedPage(ctx, sweep, page)
		if err != nil {
			return err
		}
		jobs = jobs[:0]
		for subject := range subjects {
			job, err := resultJob(subject)
			if err != nil {
				return err
			}
			if job < n {
				jobs = append(jobs, job)
			}
		}
		slices.Sort(jobs)
		for _, job := range jobs {
			if err := fn(job); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordedPage returns the subjects that have a result under one prefix.
func (e *Engine) recordedPage(ctx context.Context, sweep string, page int) (subjects map[string]uint64, err error) {
	err = e.try(ctx, resultsName(sweep), func(ctx context.Context) (err error) {
		subjects, err = e.subjectsOf(ctx, sweep, page)
		return err
	})
	return subjects, err
}

func (e *Engine) subjectsOf(ctx context.Context, sweep string, page int) (map[string]uint64, error) {
	request, err := json.Marshal(map[string]string{"subjects_filter": fmt.Sprintf("r.%s.%d.*", sweep, page)})
	if err != nil {
		return nil, err
	}
	reply, err := e.link().conn.RequestWithContext(ctx, "$JS.API.STREAM.INFO."+resultsName(sweep), request)
	if err != nil {
		return nil, err
	}
	var info struct {
		Error *jetstream.APIError `json:"error"`
		State struct {
			Subjects map[string]uint64 `json:"subjects"`
		} `json:"state"`
	}
	if err := json.Unmarshal(reply.Data, &info); err != nil {
		return nil, err
	}
	if info.Error != nil {
		return nil, info.Error
	}
	return info.State.Subjects, nil
}

// Results calls fn for each result, in the order in which they were recorded. Every result recorded before
// the call is among them. The result is fn's to keep. It stops at the first error of fn. A sweep that does
// not exist is ErrNotFound.
func (e *Engine) Results(ctx context.Context, sweep string, fn func(job int, result []byte) error) error {
	if err := checkID("sweep", sweep); err != nil {
		return err
	}
	for next, more := uint64(1), true; more; {
		var err error
		if next, more, err = e.resultsFrom(ctx, sweep, next, fn); err != nil {
			return fmt.Errorf("results of sweep %s: %w", sweep, err)
		}
	}
	return nil
}

// Bounds of one request of Results: small enough for the server's buffer of one connection.
const (
	replayMessages = 5000
	replayBytes    = 16 << 20
)

// resultsFrom replays from stream sequence first on, as much as one request gives, and returns where the
// next begins and whether there is more.
func (e *Engine) resultsFrom(ctx context.Context, sweep string, first uint64, fn func(int, []byte) error) (next uint64, more bool, err error) {
	conn := e.link().conn
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return first, false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	request, err := json.Marshal(map[string]any{
		"seq": first, "next_by_subj": ">", "batch": replayMessages, "max_bytes": replayBytes,
	})
	if err != nil {
		return first, false, err
	}
	if err := conn.PublishRequest("$JS.API.DIRECT.GET."+resultsName(sweep), inbox, request); err != nil {
		return first, false, err
	}
	for next = first; ; {
		msg, err := e.nextMsg(ctx, sub)
		if err != nil {
			return next, false, err
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
		case "204": // end of this batch
			return next, msg.Header.Get("Nats-Num-Pending") != "0", nil
		case "404": // nothing at or after first
			return next, false, nil
		default:
			return next, false, fmt.Errorf("status %s %s", status, msg.Header.Get("Description"))
		}
		seq, err := strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
		if err != nil {
			return next, false, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		job, err := resultJob(msg.Header.Get(jetstream.SubjectHeader))
		if err != nil {
			return next, false, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if err := fn(job, msg.Data); err != nil {
			return next, false, err
		}
		next = seq + 1
	}
}

// nextMsg waits for the next message as long as one call may take.
func (e *Engine) nextMsg(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	ctx, end := e.attempt(ctx)
	defer end()
	msg, err := sub.NextMsgWithContext(ctx)
	return msg, e.cause(ctx, err)
}
