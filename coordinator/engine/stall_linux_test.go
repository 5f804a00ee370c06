package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"foible.dev/foible/internal/smalldisk"
)

// awaitStall waits until an engine is stalled, or is not, and returns the reason.
func awaitStall(t *testing.T, e *Engine, want bool) string {
	t.Helper()
	for late := time.After(time.Minute); ; {
		reason, changed := e.Stalled()
		if (reason != "") == want {
			return reason
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("after a minute, the reason of a stall is %q; want one: %v", reason, want)
		}
	}
}

func diskResult(job int) []byte { return bytes.Repeat([]byte{byte(job)}, 20_000) }

// When the disk is full, writes end at once, reads go on, and so do writes when there is room. What was recorded is
// there, and nothing else.
func TestFullDisk(t *testing.T) {
	for _, writers := range []int{1, 64} { // single messages, and batches
		t.Run(fmt.Sprint(writers, " writers"), func(t *testing.T) { fullDisk(t, writers) })
	}
}

func fullDisk(t *testing.T, writers int) {
	disk := smalldisk.New(t, 24)
	e := openTest(t, Config{Dir: disk.Path("data")})
	ctx := t.Context()
	if _, err := e.CreateSweep(ctx, "s", nil); err != nil {
		t.Fatal(err)
	}
	q, err := e.Queue(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	const n = 400
	if err := e.Enqueue(ctx, "s", n); err != nil {
		t.Fatal(err)
	}
	r := &diskRecorder{jobs: make(chan int), done: make(chan int, n), recorded: map[int]bool{}}
	r.start(t, e, writers)
	deliveries := fetch(t, q, 100)
	if refused := r.record(t, 0); refused > 0 {
		t.Errorf("%d results were refused before the disk was full", refused)
	}
	disk.Fill()
	if refused := r.record(t, 100); refused == 0 {
		t.Error("no result was refused on the full disk")
	}
	wantStalled(t, e, disk.Path("data"), n+1000)
	disk.Free()
	awaitStall(t, e, false)
	if refused := r.record(t, 200); refused > 0 {
		t.Errorf("%d results were refused when there was room again", refused)
	}
	wantOldDeliveries(t, q, deliveries, n)
	for i := range n {
		got, err := e.Result(ctx, "s", i)
		switch {
		case r.recorded[i] && (err != nil || !bytes.Equal(got, diskResult(i))):
			t.Errorf("job %d was recorded, and is read as %d bytes, %v", i, len(got), err)
		case i >= 300 && !errors.Is(err, ErrNotFound):
			t.Errorf("job %d has a result: %v", i, err)
		}
	}
}

// diskRecorder records results of sweep s, several at once.
type diskRecorder struct {
	jobs     chan int // to be recorded
	done     chan int // those that were, and -1-job for those that were refused
	recorded map[int]bool
}

// start lets writers record until the test ends.
func (r *diskRecorder) start(t *testing.T, e *Engine, writers int) {
	ctx := t.Context()
	for range writers {
		go func() {
			for {
				var job int
				select {
				case job = <-r.jobs:
				case <-ctx.Done():
					return
				}
				err := e.Record(ctx, "s", job, diskResult(job))
				if err != nil && !errors.Is(err, ErrStalled) {
					t.Errorf("job %d: %v", job, err)
				}
				if err != nil {
					job = -1 - job
				}
				r.done <- job
			}
		}()
	}
}

// record records a hundred results, and counts those that were refused.
func (r *diskRecorder) record(t *testing.T, first int) (refused int) {
	t.Helper()
	go func() {
		for i := range 100 {
			select {
			case r.jobs <- first + i:
			case <-t.Context().Done():
				return
			}
		}
	}()
	for range 100 {
		select {
		case job := <-r.done:
			if job >= 0 {
				r.recorded[job] = true
			} else {
				refused++
			}
		case <-time.After(time.Minute):
			t.Fatalf("a result from job %d on is not answered within a minute", first)
		}
	}
	return refused
}

// wantStalled expects that the engine says that the disk of its directory is full, reads, and does not write.
func wantStalled(t *testing.T, e *Engine, dir string, jobs int) {
	t.Helper()
	ctx := t.Context()
	reason := awaitStall(t, e, true)
	if want := "the disk of " + dir + " is full; goes on when there is room"; reason != want {
		t.Errorf("it says %q, not %q", reason, want)
	}
	if got, err := e.Result(ctx, "s", 7); err != nil || !bytes.Equal(got, diskResult(7)) {
		t.Errorf("a result is read as %d bytes, %v", len(got), err)
	}
	if err := e.Enqueue(ctx, "s", jobs); !errors.Is(err, ErrStalled) {
		t.Errorf("jobs are queued: %v", err)
	}
	if err := e.PutStudy(ctx, "study", []byte("bundle")); !errors.Is(err, ErrStalled) {
		t.Errorf("a study is stored: %v", err)
	}
}

// wantOldDeliveries expects that what was said of deliveries still holds, and acknowledges them. The queue may have
// forgotten what it had delivered, which it could not store: what is said of a delivery then holds of the one that comes instead.
func wantOldDeliveries(t *testing.T, q *Queue, deliveries []*Delivery, n int) {
	t.Helper()
	for _, d := range fetch(t, q, 100) {
		if d.Job() < 100 && (d.Entry() != deliveries[d.Job()].Entry() || d.Attempt() > deliveries[d.Job()].Attempt()) {
			t.Errorf("job %d comes again as entry %d, attempt %d", d.Job(), d.Entry(), d.Attempt())
		}
		if d.Job() >= 100 {
			if err := d.Release(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, d := range deliveries { // leased before
		if err := d.Ack(); err != nil {
			t.Error(err)
		}
	}
	for late := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		waiting, leased, err := q.Pending(t.Context())
		if err == nil && waiting+leased == n-100 { // those that were released are leased until they come again
			break
		}
		if time.Now().After(late) {
			t.Fatalf("after a minute, of %d jobs that are not done, %d wait and %d are leased, %v", n-100, waiting, leased, err)
		}
	}
}

// An engine that is opened on a full disk waits for room; one that is closed there closes.
func TestOpenOnAFullDisk(t *testing.T) {
	disk := smalldisk.New(t, 24)
	e := openTest(t, Config{Dir: disk.Path("data")})
	if _, err := e.CreateSweep(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	for job := 0; ; job++ {
		if err := e.Record(t.Context(), "s", job, diskResult(job)); errors.Is(err, ErrStalled) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	t.Log("closed in", time.Since(began))

	waits := make(chan string, 100)
	waiting := func(reason string) { waits <- reason }
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-waits; cancel() }()
	if _, err := Open(ctx, Config{Dir: disk.Path("data"), Waiting: waiting}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	go func() {
		if got, want := <-waits, "the disk of "+disk.Path("data")+" is full; goes on when there is room"; got != want {
			t.Errorf("it waits because %q, not %q", got, want)
		}
		disk.Free()
	}()
	e = openTest(t, Config{Dir: disk.Path("data"), Waiting: waiting})
	if err := e.Record(t.Context(), "s", 10_000, nil); err != nil {
		t.Error(err)
	}
}

// A store that only a newer version can read is refused.
func TestVersion(t *testing.T) {
	for value, says := range map[string]string{"2": "newer", "x": "known"} {
		dir := t.TempDir()
		e := openTest(t, Config{Dir: dir})
		if _, err := e.link().store.Put(t.Context(), "version", []byte(value)); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Config{Dir: dir}); !errors.Is(err, ErrVersion) || !bytes.Contains([]byte(err.Error()), []byte(says)) {
			t.Errorf("version %s: %v", value, err)
		}
	}
}

// The embedded server drops a batch that it cannot stage, and says no reason. A little may be written even then: that is
// no reason to take the disk for one with room.
func TestFullDiskDropsBatch(t *testing.T) {
	for name, write := range map[string]func(*Engine) error{
		"results": func(e *Engine) error {
			msgs := make([]*nats.Msg, 64)
			for job := range msgs {
				msgs[job] = &nats.Msg{Subject: resultSubject("s", job), Data: diskResult(job)}
			}
			return e.write(t.Context(), resultsName("s"), func(ctx context.Context) error { return errors.Join(e.publish(ctx, msgs)...) })
		},
		"jobs": func(e *Engine) error { return e.Enqueue(t.Context(), "s", 3*maxBatch) },
	} {
		t.Run(name, func(t *testing.T) {
			disk := smalldisk.New(t, 24)
			e := openTest(t, Config{Dir: disk.Path("data")})
			if _, err := e.CreateSweep(t.Context(), "s", nil); err != nil {
				t.Fatal(err)
			}
			if err := e.Enqueue(t.Context(), "s", 1); err != nil {
				t.Fatal(err)
			}
			disk.Fill()
			if err := write(e); err == nil {
				t.Fatal("a full disk takes everything")
			}
			reason := awaitStall(t, e, true)
			if want := "the disk of " + disk.Path("data") + " is full; goes on when there is room"; reason != want {
				t.Errorf("it says %q, not %q", reason, want)
			}
		})
	}
}
