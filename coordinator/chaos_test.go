package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// chaos spoils the conversations of workers: it delays and repeats messages, loses all from some message on, and
// cuts connections.
type chaos struct {
	seed    uint64
	streams atomic.Uint64

	mu                     sync.Mutex // guards what follows
	delayed, repeats, cuts int
	recorded               map[string]map[uint64]bool // by job, the leases of which the coordinator said that they were recorded
}

func (c *chaos) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx, cut := context.WithCancel(ctx)
	stream, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil {
		cut()
		return nil, err
	}
	n := c.streams.Add(1)
	return &spoiled{
		ClientStream: stream, chaos: c, cut: cut,
		sending:   rand.New(rand.NewPCG(c.seed, 2*n)),
		receiving: rand.New(rand.NewPCG(c.seed, 2*n+1)),
	}, nil
}

// spoiled is one stream in chaos. One goroutine sends, one receives.
type spoiled struct {
	grpc.ClientStream
	chaos              *chaos
	cut                func()
	sending, receiving *rand.Rand
	mute, deaf         bool
	again              proto.Message // received, to be received again
}

// spoil says what is to become of a message.
func (s *spoiled) spoil(rng *rand.Rand) (lost, twice bool) {
	s.chaos.mu.Lock()
	defer s.chaos.mu.Unlock()
	switch p := rng.Float64(); {
	case p < 0.03:
		s.chaos.cuts++
		time.AfterFunc(time.Duration(rng.IntN(4000))*time.Millisecond, s.cut)
		return true, false
	case p < 0.13:
		s.chaos.repeats++
		return false, true
	case p < 0.23:
		s.chaos.delayed++
		s.chaos.mu.Unlock()
		time.Sleep(time.Duration(rng.IntN(800)) * time.Millisecond)
		s.chaos.mu.Lock()
	}
	return false, false
}

func (s *spoiled) SendMsg(m any) error {
	lost, twice := s.spoil(s.sending)
	if s.mute = s.mute || lost; s.mute {
		return nil
	}
	if _, hello := m.(*foiblev1.WorkRequest).GetMessage().(*foiblev1.WorkRequest_Hello); twice && !hello {
		if err := s.ClientStream.SendMsg(m); err != nil {
			return err
		}
	}
	return s.ClientStream.SendMsg(m)
}

func (s *spoiled) RecvMsg(m any) error {
	response := m.(*foiblev1.WorkResponse)
	if s.again != nil {
		proto.Merge(response, s.again)
		s.again = nil
		return nil
	}
	for {
		proto.Reset(response)
		if err := s.ClientStream.RecvMsg(response); err != nil {
			return err
		}
		if r := response.GetRecorded(); r.GetVerdict() == foiblev1.Verdict_VERDICT_RECORDED {
			job := fmt.Sprint(r.GetSweepId(), r.GetJob())
			s.chaos.mu.Lock()
			if s.chaos.recorded[job] == nil {
				s.chaos.recorded[job] = map[uint64]bool{}
			}
			s.chaos.recorded[job][r.GetLease()] = true
			s.chaos.mu.Unlock()
		}
		lost, twice := s.spoil(s.receiving)
		if twice {
			s.again = proto.Clone(response)
		}
		if s.deaf = s.deaf || lost; !s.deaf {
			return nil
		}
	}
}

// moody are executors whose jobs take their time, fail now and then for want of something, or end in a panic.
type moody struct {
	mu     sync.Mutex // guards what follows
	rng    *rand.Rand
	panics map[string]int // by job
}

func newMoody(seed uint64) *moody {
	return &moody{rng: rand.New(rand.NewPCG(seed, 0)), panics: map[string]int{}}
}

// mood of the moment, and how long a job takes. A job does not end in as many panics as would make it a failure.
func (m *moody) mood(job *foiblev1.Assign) (mood int, takes time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mood, takes = m.rng.IntN(20), time.Duration(m.rng.IntN(6000))*time.Millisecond
	if id := fmt.Sprint(job.GetSweepId(), job.GetJob()); mood == 1 {
		if m.panics[id]++; m.panics[id] >= coordinator.DefaultConfig().MaxFailures {
			mood = 2
		}
	}
	return mood, takes
}

func (m *moody) executor() executor {
	return func(ctx context.Context, job *foiblev1.Assign) error {
		mood, takes := m.mood(job)
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return ctx.Err()
		}
		switch mood {
		case 0:
			return worker.Infrastructure(errors.New("not today"))
		case 1:
			panic("not at all")
		}
		return nil
	}
}

// briefLeases are such that trouble is soon over.
func briefLeases(cfg *coordinator.Config) {
	cfg.Lease, cfg.Grace = 4*time.Second, time.Second
}

// chaosRequests are the sweeps that run in chaos.
var chaosRequests = []func(*cluster) *foiblev1.CreateSweepRequest{
	func(c *cluster) *foiblev1.CreateSweepRequest { return c.staged(32, 5) },
	func(c *cluster) *foiblev1.CreateSweepRequest { return c.request(7, 3) },
}

// TestChaos runs sweeps while messages are delayed, lost and repeated, connections cut, jobs fail, workers come and
// go, and the coordinator is started again. Every job must have one result, and the same as in quiet.
func TestChaos(t *testing.T) {
	const seeds = 4
	want := make([][]byte, len(chaosRequests))
	jobs := make([]int, len(chaosRequests))
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, briefLeases)
		for i, request := range chaosRequests {
			id := c.submit(request(c))
			drain := c.work(8, nil)
			s := c.wait(id)
			drain()
			want[i], jobs[i] = c.export(id)
			if p := s.GetProgress(); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || jobs[i] != int(p.GetJobs()) {
				t.Fatalf("in quiet: %v with %d results", s, jobs[i])
			}
		}
	})
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			// A bubble that cannot go on panics: without this, that would end the process, and nobody would know the seed.
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("seed %d: %v\n\n%s", seed, p, await.Goroutines())
				}
			}()
			synctest.Test(t, func(t *testing.T) { chaosOf(t, seed, want, jobs) })
		})
	}
}

// chaosOf runs the sweeps in the chaos of a seed. want are their results in quiet, and jobs how many these are.
func chaosOf(t *testing.T, seed uint64, want [][]byte, jobs []int) {
	start := time.Now()
	c := newCluster(t, briefLeases)
	noise := &chaos{seed: seed, recorded: map[string]map[uint64]bool{}}
	moody := newMoody(seed)
	workers := make([]func(), 5)
	hire := func(i int) {
		workers[i] = c.work(1+i, moody.executor(), grpc.WithStreamInterceptor(noise.intercept))
	}
	var ids []string
	for _, request := range chaosRequests { // before any slot is known, which would change the size of jobs
		ids = append(ids, c.submit(request(c)))
	}
	for i := range workers {
		hire(i)
	}
	// All that may fail the test at once is done by this goroutine, the others only watch.
	ended := make(chan error, len(ids))
	for _, id := range ids {
		go func() {
			s, err := c.follow(id)
			if err == nil && s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
				err = fmt.Errorf("sweep %s: %v", id, s)
			}
			ended <- err
		}()
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for left := len(ids); left > 0; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			left--
			continue
		case <-time.After(time.Duration(rng.IntN(10_000)) * time.Millisecond):
		}
		if i := rng.IntN(len(workers) + 1); i < len(workers) {
			workers[i]()
			hire(i)
		} else {
			c.stop()
			time.Sleep(time.Duration(rng.IntN(5000)) * time.Millisecond)
			c.start()
		}
	}
	for i, id := range ids {
		got, n := c.export(id)
		if n != jobs[i] || !bytes.Equal(got, want[i]) {
			t.Errorf("sweep %s: %d results, want %d; the same: %v", id, n, jobs[i], bytes.Equal(got, want[i]))
		}
		t.Log(c.sweep(id).GetProgress())
	}
	noise.mu.Lock()
	defer noise.mu.Unlock()
	for job, leases := range noise.recorded {
		if len(leases) > 1 {
			t.Errorf("job %s: %d results were said to be recorded", job, len(leases))
		}
	}
	t.Logf("%v: %d streams, %d messages delayed, %d repeated, %d connections cut", time.Since(start), noise.streams.Load(), noise.delayed, noise.repeats, noise.cuts)
}
