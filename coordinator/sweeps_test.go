package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func wantCode(t testing.TB, err error, want codes.Code, text string) {
	t.Helper()
	if s := status.Convert(err); s.Code() != want || !strings.Contains(s.Message(), text) || strings.Contains(s.Message(), "\n") {
		t.Errorf("%v: %q, want %v with %q in one line", s.Code(), s.Message(), want, text)
	}
}

func TestWorkersRefused(t *testing.T) {
	hello := func(version string, slots, busy int32) *foiblev1.WorkRequest {
		return &foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Hello{Hello: &foiblev1.Hello{Version: version, Slots: slots, Busy: busy}}}
	}
	beat := &foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Heartbeat{Heartbeat: &foiblev1.Heartbeat{}}}
	for _, test := range []struct {
		name     string
		messages []*foiblev1.WorkRequest
		code     codes.Code
		text     string
	}{
		{"another version", []*foiblev1.WorkRequest{hello("old", 1, 0)}, codes.FailedPrecondition, "this coordinator is version test, the worker old"},
		{"no Hello", []*foiblev1.WorkRequest{beat}, codes.FailedPrecondition, "the first message must be Hello"},
		{"nothing", []*foiblev1.WorkRequest{{}}, codes.FailedPrecondition, "the first message must be Hello"},
		{"no slots", []*foiblev1.WorkRequest{hello(version, 0, 0)}, codes.InvalidArgument, "0 slots"},
		{"too many slots", []*foiblev1.WorkRequest{hello(version, 1025, 0)}, codes.InvalidArgument, "1025 slots"},
		{"busy below 0", []*foiblev1.WorkRequest{hello(version, 1, -1)}, codes.InvalidArgument, "-1 of them busy"},
		{"two Hellos", []*foiblev1.WorkRequest{hello(version, 1, 0), hello(version, 1, 0)}, codes.InvalidArgument, "unexpected message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				h := c.hand()
				for _, m := range test.messages {
					h.send(m)
				}
				wantCode(t, h.end().Err(), test.code, test.text)
			})
		})
	}
}

func TestStudies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Limits.StudyBytes = 1000 })
		study := bundle(t)
		hash, err := c.send(study[:10], study[10:])
		again, err2 := c.send(study)
		if err != nil || err2 != nil || hash != again || len(hash) != 64 {
			t.Errorf("%s, %v, then %s, %v", hash, err, again, err2)
		}
		stream, err := c.studies.GetStudy(t.Context(), &foiblev1.GetStudyRequest{StudyHash: hash})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := stream.Recv(); err != nil || !bytes.Equal(m.GetChunk(), study) {
			t.Errorf("the study came back as %d bytes, %v", len(m.GetChunk()), err)
		}
		_, err = c.send([]byte("no archive"))
		wantCode(t, err, codes.InvalidArgument, "no zip archive")
		_, err = c.send()
		wantCode(t, err, codes.InvalidArgument, "no zip archive")
		_, err = c.send(make([]byte, 600), make([]byte, 401))
		wantCode(t, err, codes.ResourceExhausted, "the limit is 1000 B")
		for hash, code := range map[string]codes.Code{strings.Repeat("0", 64): codes.NotFound, "../x": codes.InvalidArgument} {
			stream, err := c.studies.GetStudy(t.Context(), &foiblev1.GetStudyRequest{StudyHash: hash})
			if err != nil {
				t.Fatal(err)
			}
			_, err = stream.Recv()
			wantCode(t, err, code, hash)
		}
	})
}

func TestCreateSweepRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		for _, test := range []struct {
			name  string
			spoil func(*foiblev1.CreateSweepRequest)
			code  codes.Code
			text  string
		}{
			{"no such study", func(m *foiblev1.CreateSweepRequest) { m.StudyHash = strings.Repeat("0", 64) }, codes.NotFound, "study 000"},
			{"hash", func(m *foiblev1.CreateSweepRequest) { m.StudyHash = "x" }, codes.InvalidArgument, "study_hash"},
			{"name", func(m *foiblev1.CreateSweepRequest) { m.StudyName = "a.b" }, codes.InvalidArgument, "study_name"},
			{"no config", func(m *foiblev1.CreateSweepRequest) { m.Config = nil }, codes.InvalidArgument, "config"},
			{"model", func(m *foiblev1.CreateSweepRequest) {
				m.Config.Models = map[string]*foiblev1.ModelConfig{"x": {}}
			}, codes.InvalidArgument, "unknown model"},
			{"no stimuli", func(m *foiblev1.CreateSweepRequest) { m.Stimuli = nil }, codes.InvalidArgument, "stimuli"},
			{"stimulus twice", func(m *foiblev1.CreateSweepRequest) { m.Stimuli[1] = m.Stimuli[0] }, codes.InvalidArgument, "there twice"},
			{"judgement step", func(m *foiblev1.CreateSweepRequest) { m.Stimuli[0].JudgementSteps = []int32{9} }, codes.InvalidArgument, "judgement steps"},
		} {
			m := c.request(2, 2)
			test.spoil(m)
			_, err := c.sweeps.CreateSweep(t.Context(), m)
			t.Log(test.name, status.Convert(err).Message())
			if s := status.Convert(err); s.Code() != test.code || !strings.Contains(s.Message(), test.text) {
				t.Errorf("%s: %v, want %v with %q", test.name, err, test.code, test.text)
			}
		}
		if r, err := c.sweeps.ListSweeps(t.Context(), &foiblev1.ListSweepsRequest{}); err != nil || len(r.GetSweeps()) != 0 {
			t.Errorf("%v, %v", r, err)
		}
	})
}

// TestCreateSweepTwice: the same sweep asked for again, also at once, is the same one, running or ended, and after a restart.
func TestCreateSweepTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.request(4, 3)
		var mu sync.Mutex
		made := map[string]int{}
		var asking sync.WaitGroup
		for range 8 {
			asking.Go(func() {
				r, err := c.sweeps.CreateSweep(t.Context(), m)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if made[r.GetSweep().GetSweepId()] += 0; !r.GetExisted() {
					made[r.GetSweep().GetSweepId()]++
				}
			})
		}
		await.Group(t, &asking, "the sweeps to be made")
		id := c.submit(m)
		if len(made) != 1 || made[id] != 1 {
			t.Errorf("made %v", made)
		}
		other := c.request(5, 3)
		if c.submit(other) == id {
			t.Error("another sweep has the same id")
		}
		check := func(when string) {
			t.Helper()
			r, err := c.sweeps.CreateSweep(t.Context(), m)
			if err != nil || !r.GetExisted() || r.GetSweep().GetSweepId() != id || r.GetSweep().GetProgress().GetJobs() != 16 {
				t.Errorf("%s: %v, %v", when, r, err)
			}
		}
		check("running")
		c.work(4, nil)
		c.wait(id)
		check("ended")
		c.stop()
		c.start()
		check("after a restart")
		if all, err := c.sweeps.ListSweeps(t.Context(), &foiblev1.ListSweepsRequest{}); err != nil || len(all.GetSweeps()) != 2 {
			t.Errorf("%v, %v", all, err)
		}
	})
}

func TestUnknownSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		ctx := t.Context()
		_, err := c.sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: "none"})
		wantCode(t, err, codes.NotFound, "sweep none")
		_, err = c.sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: "none"})
		wantCode(t, err, codes.NotFound, "sweep none")
		watch, err := c.sweeps.WatchSweep(ctx, &foiblev1.WatchSweepRequest{SweepId: "none"})
		if err == nil {
			_, err = watch.Recv()
		}
		wantCode(t, err, codes.NotFound, "sweep none")
		export, err := c.sweeps.ExportResults(ctx, &foiblev1.ExportResultsRequest{SweepId: "none"})
		if err == nil {
			_, err = export.Recv()
		}
		wantCode(t, err, codes.NotFound, "sweep none")
	})
}

func TestExportAndFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(3, 2)) // one set a chunk: jobs 0 to 5, scores 6 to 8
		h := c.join(1, 0)
		h.done(h.job())
		_, _, err := c.tryExport(id, false)
		wantCode(t, err, codes.FailedPrecondition, "still running")
		if _, n, err := c.tryExport(id, true); n != 1 || err != nil {
			t.Errorf("%d results, %v", n, err)
		}
		for done, d := false, await.Begin(); !done; d.Check(t, "the first score job") { // the first score comes as soon as the queue has heard of it
			job := h.job()
			h.done(job)
			done = job.GetJob() == 6
		}
		if fits, err := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: id}); err != nil || len(fits.GetFits()) != 1 {
			t.Errorf("%v, %v", fits, err)
		}
		h.die()
		c.work(1, nil)
		c.wait(id)
		stream, err := c.sweeps.ExportResults(t.Context(), &foiblev1.ExportResultsRequest{SweepId: id})
		if err != nil {
			t.Fatal(err)
		}
		var order []int32
		for {
			m, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, m.GetJob())
		}
		if !slices.Equal(order, []int32{0, 1, 6, 2, 3, 7, 4, 5, 8}) {
			t.Errorf("jobs in order %v", order)
		}
		for most, want := range map[int32]int{0: 3, 1: 1, 2: 2, 9: 3} {
			r, err := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: id, PerModel: most})
			sorted := slices.IsSortedFunc(r.GetFits(), func(a, b *foiblev1.Fit) int {
				if a.GetOverall().GetPearsonR() < b.GetOverall().GetPearsonR() {
					return 1
				}
				return -1
			})
			if err != nil || len(r.GetFits()) != want || !sorted {
				t.Errorf("at most %d: %d, %v", most, len(r.GetFits()), err)
			}
		}
	})
}

// TestWatch: a sweep is shown now, at its changes at most ten times a second, and its end ends the call.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(64, 4))
		watch := func() (seen []*foiblev1.Sweep) {
			stream, err := c.sweeps.WatchSweep(t.Context(), &foiblev1.WatchSweepRequest{SweepId: id})
			if err != nil {
				t.Fatal(err)
			}
			for {
				m, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					return seen
				}
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, m.GetSweep())
			}
		}
		c.work(2, func(context.Context, *foiblev1.Assign) error {
			time.Sleep(70 * time.Millisecond)
			return nil
		})
		start := time.Now()
		seen := watch()
		took := time.Since(start)
		if most := int(took/(100*time.Millisecond)) + 2; len(seen) < 5 || len(seen) > most {
			t.Errorf("%d messages in %v", len(seen), took)
		}
		if p := seen[0].GetProgress(); p.GetJobs() != 40 || p.GetCells() != 256 {
			t.Errorf("at first %v", p)
		}
		last := seen[len(seen)-1]
		if last.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || last.GetEndTime() == nil || last.GetProgress().GetJobsDone() != 40 {
			t.Errorf("at last %v", last)
		}
		if again := watch(); len(again) != 1 || again[0].GetState() != last.GetState() {
			t.Errorf("of an ended sweep: %v", again)
		}
	})
}

// TestFairness: two sweeps get the same share of the slots, whether these come free together or one at a time.
func TestFairness(t *testing.T) {
	for _, slots := range []int32{1, 2, 5} {
		t.Run(fmt.Sprintf("slots=%d", slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				a, b := c.submit(c.request(100, 2)), c.submit(c.request(101, 2))
				time.Sleep(time.Second) // both are queued
				h := c.join(slots, 0)
				given := map[string]int{}
				for range 50 / int(slots) {
					var held []*foiblev1.Assign
					for range slots {
						held = append(held, h.job())
						given[held[len(held)-1].GetSweepId()]++
					}
					// Score jobs are not of equal number at each moment, and a round may find the slots in any portions.
					if d := given[a] - given[b]; d < -3-int(slots) || d > 3+int(slots) {
						t.Fatalf("given %v", given)
					}
					for _, job := range held {
						h.done(job)
					}
				}
			})
		})
	}
}

// TestRestart: a coordinator that is stopped half-way goes on, and its workers with it. Results that were ready
// meanwhile are taken.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(32, 4))
		var mu sync.Mutex
		runs := map[int32]int{}
		c.work(2, func(_ context.Context, job *foiblev1.Assign) error {
			mu.Lock()
			runs[job.GetJob()]++
			mu.Unlock()
			time.Sleep(2 * time.Second)
			return nil
		})
		for range 3 {
			time.Sleep(5 * time.Second)
			before := c.sweep(id).GetProgress()
			c.stop()
			time.Sleep(3 * time.Second) // what was running is done in this time
			c.start()
			time.Sleep(4 * time.Second) // the pause before the worker dials again
			after := c.sweep(id).GetProgress()
			if after.GetJobsDone() < before.GetJobsDone()+2 || after.GetCellsDone() < before.GetCellsDone() {
				t.Errorf("%v before, %v after", before, after)
			}
		}
		s := c.wait(id)
		if s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
			t.Error(s)
		}
		// Of those that were under way at a restart, the queue may give out one again though it is held.
		total := 0
		for _, n := range runs {
			total += n
		}
		if total > len(runs)+3*2 {
			t.Errorf("%d jobs ran %d times", len(runs), total)
		}
	})
}

// TestRestartKnowsFailures: failures recorded before a restart count after it.
func TestRestartKnowsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.MaxFailures = 1 })
		id := c.submit(c.request(1, 3))
		h := c.join(1, 0)
		bad := h.job()
		h.tell(bad, &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: "bad"}}})
		h.done(h.job())
		h.die()
		c.stop()
		c.start()
		if p := c.sweep(id).GetProgress(); p.GetJobsFailed() != 1 || p.GetJobsDone() != 2 || !slices.Equal(p.GetFailures(), []string{"bad"}) {
			t.Error(p)
		}
		c.work(1, nil)
		if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_FAILED || s.GetProgress().GetJobsFailed() != 2 {
			t.Error(s)
		}
	})
}

// TestLostJobs: jobs that the queue has lost are found missing, and done.
func TestLostJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(4, 4))
		h := c.join(1, 0)
		h.done(h.job())
		h.die()
		c.stop()
		e, err := engine.Open(t.Context(), engine.Config{Dir: c.dir})
		if err != nil {
			t.Fatal(err)
		}
		q, err := e.Queue(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Fetch(t.Context(), 100)
		if err != nil || len(got) < 10 {
			t.Fatal(len(got), err)
		}
		for _, d := range got {
			if err := d.Ack(); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := q.Pending(t.Context()); err != nil { // the acknowledgements have arrived
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		c.start()
		c.work(2, nil)
		if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
			t.Error(s)
		}
	})
}

// TestOtherVersion: a sweep of another version is left alone, and can be read.
func TestOtherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := version
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Version = running })
		id := c.submit(c.request(1, 2))
		h := c.join(1, 0)
		h.done(h.job())
		h.die()
		c.stop()
		running = "newer"
		c.start()
		if s := c.sweep(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING || s.GetVersion() != version {
			t.Error(s)
		}
		if _, n, err := c.tryExport(id, true); n != 1 || err != nil {
			t.Errorf("%d results, %v", n, err)
		}
		if c.submit(c.request(1, 2)) == id {
			t.Error("two versions share a sweep")
		}
		if _, err := c.sweeps.CancelSweep(t.Context(), &foiblev1.CancelSweepRequest{SweepId: id}); err != nil {
			t.Error(err)
		}
		_, err := c.sweeps.PauseSweep(t.Context(), &foiblev1.PauseSweepRequest{SweepId: id})
		wantCode(t, err, codes.FailedPrecondition, "only version test would go on with the results that it has")
	})
}

// A sweep that another version made can be read if this one splits it into the same jobs, and is refused if not.
func TestOtherVersionsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := version
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Version = running })
		id := c.submit(c.request(40, 3))
		drain := c.work(2, nil)
		made := c.wait(id)
		drain()
		c.stop()
		running = "newer"
		read := func() error {
			_, fits := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: id})
			_, inside := c.inner.Inside(t.Context(), id)
			_, _, export := c.tryExport(id, false)
			if (fits == nil) != (inside == nil) || (fits == nil) != (export == nil) {
				t.Errorf("fits: %v; dashboard: %v; results: %v", fits, inside, export)
			}
			return fits
		}
		c.start()
		if err := read(); err != nil {
			t.Error(err)
		}
		var header metadata.MD
		for theirs, told := range map[string]int{version: 1, running: 0} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), coordinator.VersionHeader, theirs)
			if _, err := c.sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: id}, grpc.Header(&header)); err != nil || len(header.Get(coordinator.CoordinatorVersionHeader)) != told {
				t.Errorf("a caller of version %s is told %v, %v", theirs, header, err)
			}
		}
		c.stop()
		time.Sleep(time.Second)
		e, err := engine.Open(t.Context(), engine.Config{Dir: c.dir})
		if err != nil {
			t.Fatal(err)
		}
		_, revision, err := e.Sweep(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		made.CellsPerJob++ // as if this version had other limits
		if _, err := e.UpdateSweep(t.Context(), id, must(proto.Marshal(made)), revision); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		c.start()
		wantCode(t, read(), codes.FailedPrecondition, "it was made by version test, which splits sweeps into other jobs than this coordinator's, newer")
	})
}

// TestStopWhileBusy: Run ends soon, with calls of all kinds open, and leaves nothing behind: the bubble would not end.
func TestStopWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(64, 4))
		c.work(3, func(context.Context, *foiblev1.Assign) error {
			time.Sleep(50 * time.Millisecond)
			return nil
		})
		idle, drained := c.join(2, 0), c.join(1, 0)
		drained.drain()
		watch, err := c.sweeps.WatchSweep(t.Context(), &foiblev1.WatchSweepRequest{SweepId: id})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		start := time.Now()
		c.stop()
		if d := time.Since(start); d > time.Second {
			t.Errorf("stopping took %v", d)
		}
		wantCode(t, idle.end().Err(), codes.Unavailable, "stopping")
		wantCode(t, drained.end().Err(), codes.Unavailable, "stopping")
		for err == nil {
			_, err = watch.Recv()
		}
		wantCode(t, err, codes.Unavailable, "stopping")
	})
}

// TestDirectoryInUse: a second coordinator on a directory does not start, and says why.
func TestDirectoryInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		c.request(1, 1) // it is there
		cfg := coordinator.DefaultConfig()
		cfg.Listener, cfg.DataDir, cfg.Version = bufconn.Listen(1), c.dir, version
		second, err := coordinator.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Run(t.Context()); !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), c.dir) {
			t.Error(err)
		}
	})
}

func TestConfig(t *testing.T) {
	listener := bufconn.Listen(1)
	good := func() coordinator.Config {
		cfg := coordinator.DefaultConfig()
		cfg.Listener, cfg.DataDir, cfg.Version = listener, "x", version
		return cfg
	}
	if cfg := good(); cfg.Validate() != nil {
		t.Error(cfg.Validate())
	}
	for text, spoil := range map[string]func(*coordinator.Config){
		"no listener":           func(c *coordinator.Config) { c.Listener = nil },
		"no data directory":     func(c *coordinator.Config) { c.DataDir = "" },
		"no version":            func(c *coordinator.Config) { c.Version = "" },
		"lease 1ms":             func(c *coordinator.Config) { c.Lease = time.Millisecond },
		"grace 1m0s":            func(c *coordinator.Config) { c.Grace = time.Minute },
		"0 workers lost":        func(c *coordinator.Config) { c.MaxLost = 0 },
		"job deadline 1ms":      func(c *coordinator.Config) { c.JobDeadline = time.Millisecond },
		"job deadline -1s":      func(c *coordinator.Config) { c.JobDeadline = -time.Second },
		"0 failures":            func(c *coordinator.Config) { c.MaxFailures = 0 },
		"--max-study-bytes 0 B": func(c *coordinator.Config) { c.Limits.StudyBytes = 0 },
	} {
		cfg := good()
		spoil(&cfg)
		if _, err := coordinator.New(cfg); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: want %q", err, text)
		}
	}
}
