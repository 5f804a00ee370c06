//go:build unix

package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/internal/memdir"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// copied copies a directory, as it is, into one of its own.
func copied(t *testing.T, dir string) string {
	t.Helper()
	image := filepath.Join(memdir.New(t), "image")
	if out, err := exec.Command("cp", "-r", dir, image).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v %s", err, out)
	}
	return image
}

// clusterOn starts a coordinator on a directory.
func clusterOn(t *testing.T, dir string) *cluster {
	t.Helper()
	return newCluster(t, func(cfg *coordinator.Config) { cfg.DataDir, cfg.Lease, cfg.Grace = dir, time.Second, time.Second })
}

// damages of a file.
var damages = map[string]func(path string, content []byte) error{
	"cut":    func(path string, content []byte) error { return os.Truncate(path, max(0, int64(len(content)-20))) },
	"empty":  func(path string, _ []byte) error { return os.Truncate(path, 0) },
	"remove": func(path string, _ []byte) error { return os.Remove(path) },
	"flip": func(path string, content []byte) error {
		content[len(content)/2] ^= 4
		return os.WriteFile(path, content, 0o600)
	},
}

// damage does so to a file of an image of a data directory.
func damage(t *testing.T, dir, file, kind string) {
	t.Helper()
	path := filepath.Join(dir, file)
	content, err := os.ReadFile(path)
	if err == nil {
		err = damages[kind](path, content)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// files are those of streams of an image that have something in them.
func files(t *testing.T, image, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(image, "jetstream", "$G", "streams", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s, %v", pattern, err)
	}
	var names []string
	for _, path := range paths {
		name, err := filepath.Rel(image, path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 && filepath.Base(name) != "index.db" {
			names = append(names, name)
		}
	}
	return names
}

// listed is a sweep as it is listed; nil if it is not.
func (c *cluster) listed(id string) *foiblev1.Sweep {
	c.t.Helper()
	r, err := c.sweeps.ListSweeps(c.t.Context(), &foiblev1.ListSweepsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	if i := slices.IndexFunc(r.GetSweeps(), func(s *foiblev1.Sweep) bool { return s.GetSweepId() == id }); i >= 0 {
		return r.GetSweeps()[i]
	}
	return nil
}

// again sends the study and submits a sweep once more, and waits for its end.
func (c *cluster) again(m *foiblev1.CreateSweepRequest) *foiblev1.Sweep {
	c.t.Helper()
	if _, err := c.send(bundle(c.t)); err != nil {
		c.t.Fatal(err)
	}
	return c.wait(c.submit(m))
}

// Whatever file of the store is damaged after a crash, the coordinator starts, the other sweep goes on by itself, and so
// does the damaged one, or it says that it is damaged and goes on when it is submitted again. What comes out is the same.
func TestDamagedStore(t *testing.T) {
	c := newCluster(t, func(cfg *coordinator.Config) { cfg.Lease, cfg.Grace = time.Second, time.Second })
	damaged, other := c.staged(60, 3), c.request(5, 2)
	other.Config.Seed++
	id, otherID := c.submit(damaged), c.submit(other)
	var started atomic.Int32
	half, all := make(chan struct{}), make(chan struct{})
	c.work(2, func(ctx context.Context, _ *foiblev1.Assign) error {
		if started.Add(1) == 20 {
			close(half)
		}
		if started.Load() >= 20 {
			select {
			case <-all:
			case <-ctx.Done():
			}
		}
		return nil
	})
	await.Value(t, half, "half of the jobs to be done")
	image := copied(t, c.dir) // as a crash leaves it
	close(all)
	c.wait(id)
	c.wait(otherID)
	want, _ := c.export(id)
	wantOther, _ := c.export(otherID)

	type trial struct{ file, kind string }
	var trials []trial
	for pattern, kinds := range map[string][]string{
		"JOBS-" + id + "/meta.inf":      {"empty"},
		"JOBS-" + id + "/msgs/*.blk":    {"empty", "flip"},
		"JOBS-" + id + "/obs/main/*":    {"empty"},
		"RESULTS-" + id + "/meta.*":     {"empty", "flip"},
		"RESULTS-" + id + "/msgs/*.blk": {"cut", "empty", "flip", "remove"},
		"KV_sweeps/meta.inf":            {"remove"},
		"KV_sweeps/msgs/*.blk":          {"cut", "empty", "flip", "remove"},
		"KV_store/msgs/*.blk":           {"empty"},
		"OBJ_studies/meta.sum":          {"empty"},
		"OBJ_studies/msgs/*.blk":        {"cut", "flip"},
	} {
		for _, file := range files(t, image, pattern) {
			for _, kind := range kinds {
				trials = append(trials, trial{file, kind})
			}
		}
	}
	t.Logf("%d trials", len(trials))
	var says atomic.Int32
	t.Run("trials", func(t *testing.T) {
		for _, trial := range trials {
			t.Run(strings.ReplaceAll(strings.TrimPrefix(trial.file, "jetstream/$G/streams/"), id, "ID")+" "+trial.kind, func(t *testing.T) {
				t.Parallel()
				dir := copied(t, image)
				damage(t, dir, trial.file, trial.kind)
				c := clusterOn(t, dir)
				defer c.work(2, nil)()
				for id, request := range map[string]*foiblev1.CreateSweepRequest{id: damaged, otherID: other} {
					if c.recover(id, request) {
						says.Add(1)
					}
				}
				for id, want := range map[string][]byte{id: want, otherID: wantOther} {
					if got, _ := c.export(id); !bytes.Equal(got, want) {
						t.Errorf("the results of %s are others", id)
					}
				}
			})
		}
	})
	if says.Load() == 0 {
		t.Error("no sweep says that it is damaged")
	}
}

// recover waits for the end of a sweep, which is submitted again if it is damaged, as it must say.
func (c *cluster) recover(id string, request *foiblev1.CreateSweepRequest) (damaged bool) {
	c.t.Helper()
	s := c.listed(id)
	if s == nil {
		c.t.Fatalf("sweep %s is not listed", id)
	}
	if damaged = s.GetDamage() != ""; damaged {
		if !strings.Contains(s.GetDamage(), "submit it again") {
			c.t.Errorf("the damage of %s does not say what to do: %q", id, s.GetDamage())
		}
		s = c.again(request)
	} else {
		s = c.wait(id)
	}
	if s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || s.GetDamage() != "" {
		c.t.Errorf("sweep %s has ended as %v, %v, damaged: %q", id, s.GetState(), s.GetProgress().GetFailures(), s.GetDamage())
	}
	return damaged
}

// A sweep that has ended and lost results says so, and does not give tables that lack them.
func TestDamagedResults(t *testing.T) {
	c := newCluster(t, nil)
	defer c.work(2, nil)()
	request := c.staged(60, 3)
	id := c.submit(request)
	c.wait(id)
	want, _ := c.export(id)
	c.stop()
	for kind := range damages {
		t.Run(kind, func(t *testing.T) {
			dir := copied(t, c.dir)
			damage(t, dir, files(t, dir, "RESULTS-"+id+"/msgs/*.blk")[0], kind)
			c := clusterOn(t, dir)
			defer c.work(2, nil)()
			if s := c.sweep(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || !strings.Contains(s.GetDamage(), "results are lost; submit it again") {
				t.Errorf("it is %v, damaged: %q", s.GetState(), s.GetDamage())
			}
			_, _, err := c.tryExport(id, false)
			wantCode(t, err, codes.FailedPrecondition, "results are lost")
			if _, n, err := c.tryExport(id, true); err != nil || kind != "empty" && kind != "remove" && n == 0 {
				t.Errorf("what is there is %d results, %v", n, err)
			}
			if s := c.again(request); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || s.GetDamage() != "" {
				t.Errorf("submitted again, it is %v, damaged: %q", s.GetState(), s.GetDamage())
			}
			if got, _ := c.export(id); !bytes.Equal(got, want) {
				t.Error("its results are others")
			}
		})
	}
}

// A result that cannot be read, of a sweep that goes on, stops that sweep alone, as soon as it is needed.
func TestUnreadableResult(t *testing.T) {
	c := newCluster(t, nil)
	request, other := c.request(40, 3), c.request(5, 2)
	other.Config.Seed++
	drain := c.work(2, nil)
	id := c.submit(request)
	c.wait(id)
	want, _ := c.export(id)
	drain()
	c.stop()
	e, err := engine.Open(t.Context(), engine.Config{Dir: c.dir})
	if err != nil {
		t.Fatal(err)
	}
	value, revision, err := e.Sweep(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	s := &foiblev1.Sweep{}
	if err := proto.Unmarshal(value, s); err != nil {
		t.Fatal(err)
	}
	s.State, s.EndTime, s.Progress = foiblev1.SweepState_SWEEP_STATE_RUNNING, nil, nil // a score is still to be made
	config := must(codec.Config(s.GetConfig()))
	plan := must(config.Plan(codec.Shapes(s.GetStimuli()), int(s.GetCellsPerJob())))
	_, err = e.UpdateSweep(t.Context(), id, must(proto.Marshal(s)), revision)
	for _, job := range []int{0, plan.ScoreJob(0)} {
		err = errors.Join(err, e.Forget(t.Context(), id, job))
	}
	err = errors.Join(err, e.Record(t.Context(), id, 0, []byte("\xff\xff")), e.Close())
	if err != nil {
		t.Fatal(err)
	}
	c.start()
	c.work(2, nil)
	await.Until(t, "the sweep to say that it is damaged", func() bool { return c.sweep(id).GetDamage() != "" }, func() any { return c.sweep(id) })
	if s := c.again(other); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
		t.Errorf("the other sweep is %v", s.GetState())
	}
	if s := c.again(request); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || s.GetDamage() != "" {
		t.Errorf("submitted again, it is %v, damaged: %q", s.GetState(), s.GetDamage())
	}
	if got, _ := c.export(id); !bytes.Equal(got, want) {
		t.Error("its results are others")
	}
}

// lostRecords are ways in which the record of a sweep is lost, and what is done to the store before.
func lostRecords(id string) map[string]func(*engine.Engine, context.Context) error {
	return map[string]func(*engine.Engine, context.Context) error{
		"unreadable": func(e *engine.Engine, ctx context.Context) error {
			_, revision, err := e.Sweep(ctx, id)
			if err == nil {
				_, err = e.UpdateSweep(ctx, id, []byte("\xff\xff\xff"), revision)
			}
			return err
		},
		"lost": nil,
		"lost, with a result that cannot be read": func(e *engine.Engine, ctx context.Context) error {
			if err := e.Forget(ctx, id, 1); err != nil {
				return err
			}
			return e.Record(ctx, id, 1, []byte("\xff\xff"))
		},
		"lost, with a wrong result": func(e *engine.Engine, ctx context.Context) error {
			value, err := e.Result(ctx, id, 0)
			if err == nil {
				err = e.Forget(ctx, id, 1)
			}
			if err == nil {
				err = e.Record(ctx, id, 1, value)
			}
			return err
		},
	}
}

// A sweep whose record is lost, or cannot be read, is listed; submitted again, it keeps its results, though it would be
// split into other jobs by now. Results that are not of it are dropped.
func TestLostRecord(t *testing.T) {
	c := newCluster(t, nil)
	request := c.request(400, 2)
	id := c.submit(request)
	var jobs atomic.Int32
	count := executor(func(context.Context, *foiblev1.Assign) error { jobs.Add(1); return nil })
	drain := c.work(2, count)
	made := c.wait(id)
	want, n := c.export(id)
	drain()
	c.stop()
	config := must(codec.Config(request.GetConfig()))
	sets := must(config.ParameterSets())
	const slots = 256
	if of := sweep.CellsPerJob(len(sets), codec.Shapes(request.GetStimuli()), config.Fit.Runs, slots); of == int(made.GetCellsPerJob()) {
		t.Fatalf("with %d slots, jobs have %d cells too", slots, of)
	}

	for name, change := range lostRecords(id) {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, c.dir)
			if change != nil {
				e, err := engine.Open(t.Context(), engine.Config{Dir: dir})
				if err == nil {
					err = change(e, t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if name != "unreadable" {
				damage(t, dir, "jetstream/$G/streams/KV_sweeps/msgs/1.blk", "empty")
			}
			c := clusterOn(t, dir)
			c.work(slots, count)
			s := c.listed(id)
			if s == nil || !strings.Contains(s.GetDamage(), "its record is ") || !proto.Equal(s, c.sweep(id)) {
				t.Fatalf("it is listed as %v", s)
			}
			await.Until(t, "the worker to join", func() bool { return len(c.workers()) == 1 })
			before := jobs.Load()
			if s := c.again(request); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || s.GetCellsPerJob() != made.GetCellsPerJob() {
				t.Errorf("it has ended as %v, with %d cells a job, not %d", s.GetState(), s.GetCellsPerJob(), made.GetCellsPerJob())
			}
			if done := jobs.Load() - before; done > 0 && !strings.Contains(name, ", with a ") || int(done) >= n {
				t.Errorf("%d of %d jobs are done again", done, n)
			}
			if got, _ := c.export(id); !bytes.Equal(got, want) {
				t.Error("its results are others")
			}
		})
	}
}
