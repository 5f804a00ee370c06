package coordinator_test

import (
	"archive/zip"
	"bytes"
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/limits"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// sized is a study of one file of so many bytes, in an archive by a method.
func sized(t testing.TB, bytesOfFile int, method uint16) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	f, err := archive.CreateHeader(&zip.FileHeader{Name: "study.yaml", Method: method})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, bytesOfFile)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A bundle is refused that is larger inside than outside, before anything is unpacked.
func TestZipBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory, which takes long and says nothing under the race detector, and this is a short run")
	}
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		bomb := sized(t, 500<<20, zip.Deflate)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.send(bomb)
		runtime.ReadMemStats(&after)
		wantCode(t, err, codes.InvalidArgument, "study.yaml is compressed")
		if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
			t.Errorf("%d MB were allocated for a bundle of %d bytes", used>>20, len(bomb))
		}
	})
}

// A sweep beyond a limit is refused by the flag's name, and takes no memory, however large it would be.
func TestSweepsBeyondLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory, which takes long and says nothing under the race detector, and this is a short run")
	}
	c := newCluster(t, func(cfg *coordinator.Config) { cfg.Limits.SweepBytes, cfg.Limits.SweepJobs = 8<<20, 1000 })
	small := c.request(2, 2)
	axis := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i+1) / float64(n+1)
		}
		return values
	}
	for _, test := range []struct {
		name string
		ask  func(m *foiblev1.CreateSweepRequest)
		text string
	}{
		{"10^9 jobs", func(m *foiblev1.CreateSweepRequest) {
			m.Stimuli, m.Config.Models["boltzmann"].Alpha = stimuli(100_000), axis(10_000)
		}, "--max-sweep-stimuli"},
		{"10^8 cells", func(m *foiblev1.CreateSweepRequest) {
			m.Stimuli, m.Config.Models["boltzmann"].Alpha = stimuli(10_000), axis(10_000)
		}, "100,000,000 cells in a sweep, and the limit is 50,000,000 (--max-sweep-cells of the coordinator)"},
		{"10^12 settings", func(m *foiblev1.CreateSweepRequest) {
			n := axis(1000)
			m.Config.Models = map[string]*foiblev1.ModelConfig{"full": {GoalNoise: n, BudgetR: []int32{1}, BudgetQ: n, SearchNoise: n, ActionNoise: n}}
		}, "--max-sweep-settings"},
		{"a million settings", func(m *foiblev1.CreateSweepRequest) {
			m.Config.Models["boltzmann"].Alpha = axis(900_000)
		}, "900,000 parameter sets in a sweep, and the limit is 500,000 (--max-sweep-settings of the coordinator)"},
		{"thousands of jobs", func(m *foiblev1.CreateSweepRequest) {
			m.Stimuli, m.Config.Models["boltzmann"].Alpha = stimuli(100), axis(30_000)
		}, " jobs in a sweep, and the limit is 1,000 (--max-sweep-jobs of the coordinator)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &foiblev1.CreateSweepRequest{StudyHash: small.GetStudyHash(), StudyName: "large", Stimuli: small.GetStimuli(), Config: &foiblev1.SweepConfig{
				Models: map[string]*foiblev1.ModelConfig{"boltzmann": {}}, Report: &foiblev1.StageConfig{}, Seed: 7,
			}}
			test.ask(m)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := c.sweeps.CreateSweep(t.Context(), m, grpc.MaxCallSendMsgSize(64<<20))
			runtime.ReadMemStats(&after)
			wantCode(t, err, codes.ResourceExhausted, test.text)
			if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 { // of both ends
				t.Errorf("%d MB were allocated", used>>20)
			}
		})
	}
	c.submit(small)
}

// Of the message that asks for a sweep, no more is kept than its limit.
func TestSweepMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Limits.SweepBytes = 2000 })
		_, err := c.sweeps.CreateSweep(t.Context(), c.request(1000, 2))
		wantCode(t, err, codes.ResourceExhausted, "--max-sweep-bytes")
		c.submit(c.request(2, 2))
	})
}

// Sweeps that have not ended are bounded together, and one that ends makes room. One that is there stays there.
func TestManySweeps(t *testing.T) {
	for name, c := range map[string]struct {
		adjust func(*limits.Limits)
		text   string
	}{
		"sweeps":   {func(l *limits.Limits) { l.Sweeps = 3 }, "4 sweeps that have not ended, and the limit is 3 (--max-sweeps"},
		"settings": {func(l *limits.Limits) { l.Settings = 9 }, "10 parameter sets in sweeps that have not ended, and the limit is 9 (--max-settings"},
		"jobs":     {func(l *limits.Limits) { l.Jobs = 30 }, "jobs in sweeps that have not ended, and the limit is 30 (--max-jobs"},
		"stored":   {func(l *limits.Limits) { l.StoredSweeps = 3 }, "4 sweeps, ended ones included, and the limit is 3 (--max-stored-sweeps"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, func(cfg *coordinator.Config) { c.adjust(&cfg.Limits) })
				ask := func(seed uint64, sets int) (*foiblev1.CreateSweepResponse, error) {
					m := cl.request(sets, 3)
					m.Config.Seed = seed
					return cl.sweeps.CreateSweep(t.Context(), m)
				}
				var ids []string
				for seed := range uint64(3) {
					r, err := ask(seed, 2)
					if err != nil {
						t.Fatalf("sweep %d: %v", seed, err)
					}
					ids = append(ids, r.GetSweep().GetSweepId())
				}
				_, err := ask(9, 4)
				wantCode(t, err, codes.ResourceExhausted, c.text)
				if r, err := ask(1, 2); err != nil || !r.GetExisted() {
					t.Errorf("one that is there: %v, %v", r, err)
				}
				if _, err := cl.sweeps.CancelSweep(t.Context(), &foiblev1.CancelSweepRequest{SweepId: ids[0]}); err != nil {
					t.Fatal(err)
				}
				if _, err = ask(10, 2); name == "stored" {
					wantCode(t, err, codes.ResourceExhausted, c.text)
				} else if err != nil {
					t.Errorf("after one was cancelled: %v", err)
				}
			})
		})
	}
}

// Calls that watch are bounded, and one that ends makes room.
func TestManyWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Limits.Watchers = 2 })
		id := c.submit(c.request(2, 2))
		watch := func() (foiblev1.SweepService_WatchSweepClient, func(), error) {
			ctx, stop := contextOf(t)
			stream, err := c.sweeps.WatchSweep(ctx, &foiblev1.WatchSweepRequest{SweepId: id})
			if err != nil {
				t.Fatal(err)
			}
			_, err = stream.Recv()
			return stream, stop, err
		}
		var stops []func()
		for range 2 {
			_, stop, err := watch()
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		_, _, err := watch()
		wantCode(t, err, codes.ResourceExhausted, "--max-watchers")
		stops[0]()
		synctest.Wait()
		if _, _, err := watch(); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

// Forty studies that are being sent at once are held within the limit; those that find no room are told so, and when
// the others have gone there is room again.
func TestUploadsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory, which takes long and says nothing under the race detector, and this is a short run")
	}
	const mb = 1 << 20
	c := newCluster(t, func(cfg *coordinator.Config) { cfg.Limits.StudyBytes, cfg.Limits.TransferBytes = 16*mb, 48*mb })
	study := sized(t, 15*mb, zip.Store)
	before := heap()
	const uploads, most = 40, 3
	refused := make(chan error, uploads)
	var stops []func()
	for range uploads {
		ctx, stop := contextOf(t)
		stops = append(stops, stop)
		stream, err := c.studies.CreateStudy(ctx)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for rest := study; len(rest) > mb; rest = rest[mb:] { // and the end never comes
				if stream.Send(&foiblev1.CreateStudyRequest{Chunk: rest[:mb]}) != nil {
					break
				}
			}
			refused <- stream.RecvMsg(&foiblev1.CreateStudyResponse{})
		}()
	}
	late := time.After(5 * time.Minute)
	for i := range uploads - most {
		select {
		case err := <-refused:
			wantCode(t, err, codes.ResourceExhausted, "studies of 48 MiB are being sent")
		case <-late:
			t.Fatalf("only %d of %d uploads have been refused after 5 minutes", i, uploads)
		}
	}
	if held := heap() - before; held > 250 { // of 600; others have been let go
		t.Errorf("%.0f MB are held by uploads that may have 48", held)
	}
	for _, stop := range stops {
		stop()
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := c.send(slices.Collect(slices.Chunk(study, mb))...)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a minute after the others have gone: %v", err)
		}
	}
}

// An upload that comes to no end is ended.
func TestSlowUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		stream, err := c.studies.CreateStudy(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for err == nil {
			err = stream.Send(&foiblev1.CreateStudyRequest{Chunk: []byte{1}})
			time.Sleep(10 * time.Second)
		}
		_, err = stream.CloseAndRecv()
		wantCode(t, err, codes.ResourceExhausted, "must be sent within 10m0s")
		if took := time.Since(began); took > 11*time.Minute {
			t.Errorf("it was ended after %v", took)
		}
	})
}

// A study that many fetch at once is in memory once, also when they do not read; and another study can be fetched beside.
func TestFetchedAtOnce(t *testing.T) {
	const mb = 1 << 20
	c := newCluster(t, func(cfg *coordinator.Config) { cfg.Limits.StudyBytes, cfg.Limits.TransferBytes = 16*mb, 48*mb })
	large, err := c.send(slices.Collect(slices.Chunk(sized(t, 15*mb, zip.Store), mb))...)
	if err != nil {
		t.Fatal(err)
	}
	small, err := c.send(bundle(t))
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	const n = 100
	// The client, which shares the heap, must not grow its buffers.
	conn := c.dial(grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10))
	defer conn.Close()
	for range n {
		ctx, stop := contextOf(t)
		defer stop()
		stream, err := foiblev1.NewStudyServiceClient(conn).GetStudy(ctx, &foiblev1.GetStudyRequest{StudyHash: large})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil { // and the rest waits
			t.Fatal(err)
		}
	}
	stream, err := c.studies.GetStudy(t.Context(), &foiblev1.GetStudyRequest{StudyHash: small})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Error(err)
	}
	if held := heap() - before; held > 300 { // of 1.5 GB, with what is on its way
		t.Errorf("%.0f MB are held while %d fetch a study of 15 MB", held, n)
	}
}

// contextOf is a context of the test that can be ended before it.
func contextOf(t testing.TB) (context.Context, func()) { return context.WithCancel(t.Context()) }
