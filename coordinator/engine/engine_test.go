package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/internal/await"
)

func openTest(t testing.TB, cfg Config) *Engine {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	e, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// openSweep also makes sweep "s" with n jobs.
func openSweep(t testing.TB, cfg Config, n int) (*Engine, *Queue) {
	t.Helper()
	e := openTest(t, cfg)
	if _, err := e.CreateSweep(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Enqueue(t.Context(), "s", n); err != nil {
		t.Fatal(err)
	}
	q, err := e.Queue(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	return e, q
}

// inFalseTime runs a test that waits, without waiting.
func inFalseTime(t *testing.T, test func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Second) }) // the server has goroutines that end a moment later
		test(t)
	})
}

func fetch(t testing.TB, q *Queue, n int) []*Delivery {
	t.Helper()
	got, err := q.Fetch(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// waitPending waits until the queue knows of n waiting jobs; it hears of new ones a moment after they are stored.
func waitPending(t testing.TB, q *Queue, n int) {
	t.Helper()
	waiting := -1
	await.Until(t, fmt.Sprintf("%d jobs to wait", n), func() (so bool) {
		var err error
		if waiting, _, err = q.Pending(t.Context()); err != nil {
			t.Fatal(err)
		}
		return waiting == n
	}, func() any { return fmt.Sprintf("%d do", waiting) })
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func jobs(ds []*Delivery) []int {
	var got []int
	for _, d := range ds {
		got = append(got, d.Job())
	}
	return got
}

func recorded(t testing.TB, e *Engine, n int) []int {
	t.Helper()
	var got []int
	if err := e.Recorded(t.Context(), "s", n, func(job int) error { got = append(got, job); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestStudies(t *testing.T) {
	e := openTest(t, Config{})
	_, err := e.Study(t.Context(), "abc")
	wantErr(t, err, ErrNotFound)
	rng := rand.New(rand.NewPCG(1, 2))
	large := make([]byte, 20<<20+7)
	for i := range large {
		large[i] = byte(rng.Uint32())
	}
	for hash, bundle := range map[string][]byte{"empty": {}, "small": []byte("study"), "large": large} {
		for range 2 {
			if err := e.PutStudy(t.Context(), hash, bundle); err != nil {
				t.Fatal(err)
			}
		}
		got, err := e.Study(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, bundle) {
			t.Errorf("study %s came back different", hash)
		}
	}
}

func TestSweeps(t *testing.T) {
	e := openTest(t, Config{})
	ctx := t.Context()
	ids, err := e.Sweeps(ctx)
	if err != nil || len(ids) != 0 {
		t.Fatalf("sweeps of a new engine: %v, %v", ids, err)
	}
	_, _, err = e.Sweep(ctx, "a")
	wantErr(t, err, ErrNotFound)
	_, err = e.UpdateSweep(ctx, "a", nil, 1)
	wantErr(t, err, ErrConflict)
	rev, err := e.CreateSweep(ctx, "b", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.CreateSweep(ctx, "a", nil); err != nil {
		t.Fatal(err)
	}
	_, err = e.CreateSweep(ctx, "b", []byte("other"))
	wantErr(t, err, ErrExists)
	next, err := e.UpdateSweep(ctx, "b", []byte("two"), rev)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.UpdateSweep(ctx, "b", []byte("three"), rev)
	wantErr(t, err, ErrConflict)
	value, rev, err := e.Sweep(ctx, "b")
	if err != nil || string(value) != "two" || rev != next {
		t.Errorf("sweep b: %q at %d, %v; want two at %d", value, rev, err, next)
	}
	if ids, err := e.Sweeps(ctx); err != nil || !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("sweeps %v, %v", ids, err)
	}

	if err := e.Record(ctx, "b", 3, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.DeleteSweep(ctx, "b"); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = e.Sweep(ctx, "b")
	wantErr(t, err, ErrNotFound)
	wantErr(t, e.Record(ctx, "b", 3, []byte("x")), ErrNotFound)
	wantErr(t, e.Enqueue(ctx, "b", 1), ErrNotFound)
	wantErr(t, e.Requeue(ctx, "b", []int{1}), ErrNotFound)
	_, err = e.Queue(ctx, "b")
	wantErr(t, err, ErrNotFound)
	_, err = e.Result(ctx, "b", 3)
	wantErr(t, err, ErrNotFound)
	wantErr(t, e.Recorded(ctx, "b", 9, func(int) error { return nil }), ErrNotFound)
	wantErr(t, e.Results(ctx, "b", func(int, []byte) error { return nil }), ErrNotFound)
	if _, err := e.CreateSweep(ctx, "b", nil); err != nil {
		t.Errorf("a deleted sweep's id cannot be used again: %v", err)
	}
	if err := e.Results(ctx, "b", func(job int, _ []byte) error { return fmt.Errorf("job %d", job) }); err != nil {
		t.Errorf("a new sweep has results: %v", err)
	}
	for _, id := range []string{"", "a.b", "a b", "*", ">", "ä", strings.Repeat("x", 129)} {
		_, err := e.CreateSweep(ctx, id, nil)
		wantErr(t, err, ErrInvalid)
	}
}

func TestUpdateSweepHasOneWinner(t *testing.T) {
	e := openTest(t, Config{})
	rev, err := e.CreateSweep(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = e.UpdateSweep(t.Context(), "s", []byte{byte(i)}, rev) })
	}
	await.Group(t, &wg, "the calls to end")
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wantErr(t, err, ErrConflict)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won, want 1", won)
	}
}

func TestQueue(t *testing.T) {
	e, q := openSweep(t, Config{}, 2500)
	ctx := t.Context()
	waiting, leased, err := q.Pending(ctx)
	if err != nil || waiting != 2500 || leased != 0 {
		t.Errorf("pending %d, %d, %v", waiting, leased, err)
	}
	got := fetch(t, q, 300)
	if !slices.Equal(jobs(got), upTo(300)) {
		t.Fatalf("first jobs %v", jobs(got))
	}
	if waiting, leased, err := q.Pending(ctx); err != nil || waiting != 2200 || leased != 300 {
		t.Errorf("pending %d, %d, %v", waiting, leased, err)
	}
	for i, d := range got {
		if d.Attempt() != 1 {
			t.Errorf("job %d: attempt %d", d.Job(), d.Attempt())
		}
		if i == 7 {
			err = d.Release()
		} else {
			err = d.Ack()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := fetch(t, q, 1); got[0].Job() != 7 || got[0].Attempt() != 2 {
		t.Errorf("after release: job %d, attempt %d", got[0].Job(), got[0].Attempt())
	}
	if err := e.Requeue(ctx, "s", []int{5, 900, 100_000}); err != nil {
		t.Fatal(err)
	}
	waitPending(t, q, 2203)
	// As many as are there, not as many as asked for; what is done again comes first.
	rest := fetch(t, q, 5000)
	if want := append([]int{5, 900, 100_000}, upTo(2500)[300:]...); !slices.Equal(jobs(rest), want) {
		t.Errorf("rest: %d jobs, want %d", len(rest), len(want))
	}
	if n, err := e.Enqueued(ctx, "s"); err != nil || n != 2500 {
		t.Errorf("enqueued %d, %v", n, err)
	}

	if err := e.DeleteJobs(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	_, err = q.Fetch(ctx, 1)
	wantErr(t, err, ErrNotFound)
	_, _, err = q.Pending(ctx)
	wantErr(t, err, ErrNotFound)
	if n, err := e.Enqueued(ctx, "s"); err != nil || n != 0 {
		t.Errorf("enqueued %d, %v after DeleteJobs", n, err)
	}
}

func TestFetchDoesNotWait(t *testing.T) {
	inFalseTime(t, func(t *testing.T) {
		_, q := openSweep(t, Config{}, 0)
		start := time.Now()
		got := fetch(t, q, 4)
		if d := time.Since(start); len(got) != 0 || d > time.Second {
			t.Errorf("%d jobs after %v", len(got), d)
		}
	})
}

func TestLease(t *testing.T) {
	inFalseTime(t, func(t *testing.T) {
		const lease = time.Second
		_, q := openSweep(t, Config{AckWait: lease}, 2)
		got := fetch(t, q, 2)
		kept, lost := got[0], got[1]
		for range 4 {
			time.Sleep(lease / 2)
			if err := kept.InProgress(); err != nil {
				t.Fatal(err)
			}
		}
		again := fetch(t, q, 2)
		if !slices.Equal(jobs(again), []int{lost.Job()}) || again[0].Attempt() != 2 {
			t.Fatalf("after two leases: jobs %v", jobs(again))
		}
		if err := kept.Ack(); err != nil {
			t.Fatal(err)
		}
		if err := again[0].Ack(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lease + lease/2)
		if waiting, leased, err := q.Pending(t.Context()); waiting+leased != 0 || err != nil {
			t.Errorf("pending %d, %d, %v after all are acknowledged", waiting, leased, err)
		}
	})
}

func TestMaxAckPending(t *testing.T) {
	inFalseTime(t, func(t *testing.T) {
		_, q := openSweep(t, Config{MaxAckPending: 5}, 8)
		start := time.Now()
		got := fetch(t, q, 8)
		if len(got) != 5 || time.Since(start) > 2*time.Second {
			t.Fatalf("%d jobs after %v, want the 5 allowed at once", len(got), time.Since(start))
		}
		for _, d := range got {
			if err := d.Ack(); err != nil {
				t.Fatal(err)
			}
		}
		if got := fetch(t, q, 8); !slices.Equal(jobs(got), []int{5, 6, 7}) {
			t.Errorf("then %v", jobs(got))
		}
	})
}

func TestEnqueueResumes(t *testing.T) {
	e, q := openSweep(t, Config{}, 1234)
	ctx := t.Context()
	if err := e.Requeue(ctx, "s", []int{3}); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Enqueued(ctx, "s"); err != nil || n != 1234 {
		t.Errorf("enqueued %d, %v", n, err)
	}
	// Several at once, as replicas would after a crash.
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := e.Enqueue(ctx, "s", 6000); err != nil {
				t.Error(err)
			}
		})
	}
	await.Group(t, &wg, "the calls to end")
	for _, n := range []int{0, 6000, 17} {
		if err := e.Enqueue(ctx, "s", n); err != nil {
			t.Fatal(err)
		}
	}
	waitPending(t, q, 6001)
	var got []int
	for len(got) < 6001 {
		more := jobs(fetch(t, q, 1000))
		if len(more) == 0 {
			break
		}
		got = append(got, more...)
	}
	want := slices.Insert(upTo(6000), 0, 3) // what is done again comes first
	if !slices.Equal(got, want) {
		t.Errorf("%d jobs, want %d", len(got), len(want))
	}
	if waiting, _, err := q.Pending(ctx); err != nil || waiting != 0 {
		t.Errorf("%d more, %v", waiting, err)
	}
}

func TestRecord(t *testing.T) {
	e, _ := openSweep(t, Config{}, 0)
	ctx := t.Context()
	if err := e.Record(ctx, "s", 25_000, []byte("first")); err != nil {
		t.Fatal(err)
	}
	wantErr(t, e.Record(ctx, "s", 25_000, []byte("second")), ErrRecorded)
	got, err := e.Result(ctx, "s", 25_000)
	if err != nil || string(got) != "first" {
		t.Errorf("result %q, %v", got, err)
	}
	_, err = e.Result(ctx, "s", 2)
	wantErr(t, err, ErrNotFound)
	wantErr(t, e.Record(ctx, "none", 1, nil), ErrNotFound)
	wantErr(t, e.Record(ctx, "s", -1, nil), ErrInvalid)
	wantErr(t, e.Record(ctx, "s", MaxJobs, nil), ErrInvalid)
	wantErr(t, e.Record(ctx, "s", 1, make([]byte, MaxResult+1)), ErrInvalid)
	for job, result := range [][]byte{nil, make([]byte, MaxResult)} {
		if err := e.Record(ctx, "s", job, result); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Result(ctx, "s", job); err != nil || !bytes.Equal(got, result) {
			t.Errorf("result of %d bytes came back with %d, %v", len(result), len(got), err)
		}
	}
	if got := recorded(t, e, 25_000); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("recorded below 25,000: %v", got)
	}
	if got := recorded(t, e, MaxJobs/1000); !slices.Equal(got, []int{0, 1, 25_000}) {
		t.Errorf("recorded: %v", got)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := e.Record(cancelled, "s", 77, nil); err != nil {
		wantErr(t, err, context.Canceled)
	}
}

// TestFirstResultWins races writers for every job; exactly one must be told that it won, and its result
// must be the one kept. The crowd makes batches collide, so that the retries of refused batches are used.
func TestFirstResultWins(t *testing.T) {
	e, _ := openSweep(t, Config{}, 0)
	const n, writers = 300, 6
	var mu sync.Mutex
	winner := map[int][]string{}
	var wg sync.WaitGroup
	for w := range writers {
		for job := range n {
			wg.Go(func() {
				name := fmt.Sprintf("%d by %d", job, w)
				err := e.Record(t.Context(), "s", job, []byte(name))
				if err == nil {
					mu.Lock()
					winner[job] = append(winner[job], name)
					mu.Unlock()
				} else {
					wantErr(t, err, ErrRecorded)
				}
			})
		}
	}
	await.Group(t, &wg, "the calls to end")
	count := 0
	err := e.Results(t.Context(), "s", func(job int, result []byte) error {
		count++
		if !slices.Equal(winner[job], []string{string(result)}) {
			t.Errorf("job %d: winners %v, kept %q", job, winner[job], result)
		}
		return nil
	})
	if err != nil || count != n {
		t.Errorf("%d results, %v", count, err)
	}
	if got := recorded(t, e, n); !slices.Equal(got, upTo(n)) {
		t.Errorf("recorded %d jobs", len(got))
	}
}

func TestResultsInStreamOrder(t *testing.T) {
	e, _ := openSweep(t, Config{}, 0)
	order := rand.New(rand.NewPCG(3, 4)).Perm(200)
	for _, job := range order {
		// 40 MB: more than one request of the replay.
		if err := e.Record(t.Context(), "s", job, bytes.Repeat([]byte{byte(job)}, 200_000)); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	err := e.Results(t.Context(), "s", func(job int, result []byte) error {
		if len(result) != 200_000 || result[0] != byte(job) {
			t.Errorf("job %d has the result of another", job)
		}
		got = append(got, job)
		return nil
	})
	if err != nil || !slices.Equal(got, order) {
		t.Errorf("%d results, in order %v, %v", len(got), slices.Equal(got, order), err)
	}
	stop := errors.New("enough")
	wantErr(t, e.Results(t.Context(), "s", func(int, []byte) error { return stop }), stop)
	wantErr(t, e.Recorded(t.Context(), "s", 200, func(int) error { return stop }), stop)
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Config{Dir: dir})
	_, err := Open(t.Context(), Config{Dir: dir})
	wantErr(t, err, ErrInUse)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "in use by another coordinator") {
		t.Errorf("error %v does not say what is in use", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, Config{Dir: dir})
}

func TestReopen(t *testing.T) {
	inFalseTime(t, func(t *testing.T) {
		dir := t.TempDir()
		e, q := openSweep(t, Config{Dir: dir}, 10)
		ctx := t.Context()
		if err := e.PutStudy(ctx, "abc", []byte("study")); err != nil {
			t.Fatal(err)
		}
		got := fetch(t, q, 6)
		for _, d := range got[:4] {
			if err := e.Record(ctx, "s", d.Job(), []byte(strconv.Itoa(d.Job()))); err != nil {
				t.Fatal(err)
			}
			if err := d.Ack(); err != nil {
				t.Fatal(err)
			}
		}
		if err := got[5].Release(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := q.Pending(ctx); err != nil { // the acknowledgements have arrived
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openTest(t, Config{Dir: dir, AckWait: time.Second})
		q, err := e.Queue(ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]int{}
		for d := await.Begin(); len(seen) < 6; time.Sleep(10 * time.Millisecond) {
			d.Check(t, "six jobs to come again", seen)
			for _, d := range fetch(t, q, 10) {
				seen[d.Job()] = d.Attempt()
			}
		}
		for job := 4; job < 10; job++ {
			if _, ok := seen[job]; !ok {
				t.Errorf("job %d was not delivered again: %v", job, seen)
			}
		}
		if seen[4] < 2 || seen[5] < 2 || seen[6] != 1 {
			t.Errorf("attempts %v", seen)
		}
		wantErr(t, e.Record(ctx, "s", 2, []byte("late")), ErrRecorded)
		if got := recorded(t, e, 10); !slices.Equal(got, upTo(4)) {
			t.Errorf("recorded %v", got)
		}
		if bundle, err := e.Study(ctx, "abc"); err != nil || string(bundle) != "study" {
			t.Errorf("study %q, %v", bundle, err)
		}
	})
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		e, q := openSweep(t, Config{}, 100)
		fetch(t, q, 10)
		var wg sync.WaitGroup
		for job := range 50 {
			wg.Go(func() {
				if err := e.Record(t.Context(), "s", job, nil); err != nil {
					wantErr(t, err, ErrClosed)
				}
			})
		}
		wg.Go(func() {
			for {
				if _, err := q.Fetch(t.Context(), 1000); err != nil {
					wantErr(t, err, ErrClosed)
					return
				}
			}
		})
		time.Sleep(20 * time.Millisecond)
		for range 2 {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		await.Group(t, &wg, "the calls to end")
		wantErr(t, e.Record(t.Context(), "s", 1, nil), ErrClosed)
		_, err := q.Fetch(t.Context(), 1)
		wantErr(t, err, ErrClosed)
		wantErr(t, e.Enqueue(t.Context(), "s", 1), ErrClosed)
	}
	// Timers of the server may outlive it by moments; one goroutine of slack for the runtime's own.
	deadline := time.Now().Add(await.Limit())
	for runtime.NumGoroutine() > before+1 {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}
