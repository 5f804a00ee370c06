package engine

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"foible.dev/foible/internal/await"
)

// crashDir names, in the environment of a child, the directory on which it is to work until it is killed.
const crashDir = "FOIBLE_ENGINE_CRASH_DIR"

// crashJobs is the size of the sweep that the children work on.
const crashJobs = 4000

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := crashChild(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashChild records results in 16 slots, and prints each job once its Record has returned nil.
func crashChild(ctx context.Context, dir string) error {
	e, err := Open(ctx, Config{Dir: dir, AckWait: time.Second})
	if err != nil {
		return err
	}
	if err := e.Enqueue(ctx, "s", crashJobs); err != nil {
		return err
	}
	q, err := e.Queue(ctx, "s")
	if err != nil {
		return err
	}
	for {
		got, err := q.Fetch(ctx, 16)
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		for _, d := range got {
			wg.Go(func() {
				if err := e.Record(ctx, "s", d.Job(), crashResult(d.Job())); err != nil {
					return
				}
				fmt.Println(d.Job())
				_ = d.Ack() // lost acknowledgements are part of the test
			})
		}
		wg.Wait()
	}
}

func crashResult(job int) []byte { return []byte("result " + strconv.Itoa(job)) }

// TestKill kills a child that records results with SIGKILL, several times in the same directory. What the
// child was told is recorded must be there, and the jobs that it held must come again. (A killed process
// loses no page cache: that the disk has the data is the server's SyncAlways, which this cannot test.)
func TestKill(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Config{Dir: dir})
	if _, err := e.CreateSweep(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var told []int
	for _, after := range []int{1, 300, 700} {
		told = append(told, killChild(t, dir, after)...)
	}

	start := time.Now()
	e = openTest(t, Config{Dir: dir, AckWait: time.Second})
	t.Logf("opened in %v after the kill", time.Since(start))
	have := recorded(t, e, crashJobs)
	t.Logf("%d results told, %d there", len(told), len(have))
	for _, job := range told {
		if _, ok := slices.BinarySearch(have, job); !ok {
			t.Errorf("the result of job %d is lost", job)
			continue
		}
		wantErr(t, e.Record(t.Context(), "s", job, []byte("late")), ErrRecorded)
	}
	wantAgain(t, e, have)
	err := e.Results(t.Context(), "s", func(job int, result []byte) error {
		if string(result) != string(crashResult(job)) {
			t.Errorf("job %d has result %q", job, result)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// killChild starts a child, kills it when it has told of a number of results, and returns all of which it has told.
func killChild(t *testing.T, dir string, after int) (told []int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit()) // then it is killed, and has told less
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		if n == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		job, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, job)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child was to be killed, and ended by itself")
	}
	return told
}

// wantAgain expects every job without a result to come again.
func wantAgain(t *testing.T, e *Engine, have []int) {
	t.Helper()
	missing := map[int]bool{}
	for job := range crashJobs {
		if _, ok := slices.BinarySearch(have, job); !ok {
			missing[job] = true
		}
	}
	q, err := e.Queue(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(await.Limit())
	for again := 0; len(missing) > 0; {
		got := fetch(t, q, 1000)
		if len(got) == 0 {
			if time.Now().After(deadline) {
				t.Fatalf("%d jobs have neither a result nor a delivery", len(missing))
			}
			time.Sleep(10 * time.Millisecond) // the killed one's leases run out
		}
		for _, d := range got {
			if d.Attempt() > 1 {
				again++
			}
			delete(missing, d.Job())
			if err := d.Ack(); err != nil {
				t.Fatal(err)
			}
		}
		if len(missing) == 0 {
			t.Logf("%d jobs delivered again", again)
		}
	}
}
