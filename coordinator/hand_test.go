package coordinator_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// hand is a worker whose every message is a test's.
type hand struct {
	t         testing.TB
	c         *cluster
	conn      *grpc.ClientConn
	stream    grpc.BidiStreamingClient[foiblev1.WorkRequest, foiblev1.WorkResponse]
	die       func() // breaks the connection
	assigned  chan *foiblev1.Assign
	recorded  chan *foiblev1.Recorded
	cancelled chan []uint64
	ended     chan error
	sending   sync.Mutex // held while a message is sent
}

// hand connects; nothing is said.
func (c *cluster) hand() *hand {
	c.t.Helper()
	h := &hand{
		t: c.t, c: c, conn: c.dial(),
		assigned: make(chan *foiblev1.Assign, 100), recorded: make(chan *foiblev1.Recorded, 100),
		cancelled: make(chan []uint64, 100), ended: make(chan error, 1),
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.die = func() {
		cancel()
		_ = h.conn.Close()
	}
	c.t.Cleanup(h.die)
	var err error
	if h.stream, err = foiblev1.NewWorkerServiceClient(h.conn).Work(ctx); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		for {
			m, err := h.stream.Recv()
			if err != nil {
				h.ended <- err
				return
			}
			if a := m.GetAssign(); a != nil {
				h.assigned <- a
			}
			if r := m.GetRecorded(); r != nil {
				h.recorded <- r
			}
			if m.GetCancel() != nil {
				h.cancelled <- m.GetCancel().GetLeases()
			}
		}
	}()
	return h
}

// join connects and says Hello.
func (c *cluster) join(slots, busy int32) *hand {
	c.t.Helper()
	h := c.hand()
	h.hello(&foiblev1.Hello{Version: version, Host: "hand", Slots: slots, Busy: busy})
	return h
}

func (h *hand) hello(m *foiblev1.Hello) {
	h.t.Helper()
	h.send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Hello{Hello: m}})
}

func (h *hand) beat(leases ...uint64) {
	h.t.Helper()
	h.send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Heartbeat{Heartbeat: &foiblev1.Heartbeat{Leases: leases}}})
}

// drain says that the worker takes no more jobs, and hands back those of the leases. The coordinator has heard it when
// drain returns; the caller is in a bubble.
func (h *hand) drain(leases ...uint64) {
	h.t.Helper()
	h.send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Drain{Drain: &foiblev1.Drain{Released: leases}}})
	synctest.Wait()
}

// tell sends a result and returns what the coordinator says to it.
func (h *hand) tell(job *foiblev1.Assign, result *foiblev1.JobResult) *foiblev1.Recorded {
	h.t.Helper()
	h.send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Result{Result: &foiblev1.Result{
		SweepId: job.GetSweepId(), Job: job.GetJob(), Lease: job.GetLease(), Result: result,
	}}})
	select {
	case r := <-h.recorded:
		if r.GetSweepId() != job.GetSweepId() || r.GetJob() != job.GetJob() || r.GetLease() != job.GetLease() {
			h.t.Errorf("answer %v to job %d, lease %d", r, job.GetJob(), job.GetLease())
		}
		return r
	case err := <-h.ended:
		h.t.Fatalf("result of job %d: %v", job.GetJob(), err)
	case <-time.After(await.Limit()):
		h.t.Fatalf("waited %v for an answer to the result of job %d; the sweep is %v", await.Limit(), job.GetJob(), h.c.sweep(job.GetSweepId()))
	}
	return nil
}

// done answers a job rightly.
func (h *hand) done(job *foiblev1.Assign) {
	h.t.Helper()
	if r := h.tell(job, answer(job)); r.GetVerdict() != foiblev1.Verdict_VERDICT_RECORDED {
		h.t.Errorf("job %d: %v", job.GetJob(), r)
	}
}

// fail says that a job has failed.
func (h *hand) fail(job *foiblev1.Assign) *foiblev1.Recorded {
	h.t.Helper()
	return h.tell(job, &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: "no luck"}}})
}

// unwanted waits until the coordinator says which leases it does not want any more.
func (h *hand) unwanted() []uint64 {
	h.t.Helper()
	return await.Value(h.t, h.cancelled, "the coordinator to cancel a job")
}

// wanted checks that the coordinator wants all that the last heartbeat named.
func (h *hand) wanted() {
	h.t.Helper()
	select {
	case leases := <-h.cancelled:
		h.t.Errorf("leases %v are not wanted", leases)
	case <-time.After(time.Second):
	}
}

// job waits for an assignment.
func (h *hand) job() *foiblev1.Assign {
	h.t.Helper()
	select {
	case a := <-h.assigned:
		return a
	case err := <-h.ended:
		h.t.Fatalf("no job: %v", err)
	case <-time.After(await.Limit()):
		h.t.Fatalf("waited %v for a job; the workers are %+v", await.Limit(), h.c.workers())
	}
	return nil
}

// idle checks that no job comes for so long.
func (h *hand) idle(d time.Duration) {
	h.t.Helper()
	select {
	case a := <-h.assigned:
		h.t.Errorf("job %d (lease %d) was not to come", a.GetJob(), a.GetLease())
	case <-time.After(d):
	}
}

// end waits for the end of the call, and returns its status.
func (h *hand) end() *status.Status {
	h.t.Helper()
	select {
	case err := <-h.ended:
		return status.Convert(err)
	case <-time.After(await.Limit()):
		h.t.Fatalf("waited %v for the end of the call; the workers are %+v", await.Limit(), h.c.workers())
	}
	return nil
}

func (h *hand) send(m *foiblev1.WorkRequest) {
	h.t.Helper()
	if err := h.trySend(m); err != nil {
		h.t.Fatal(err)
	}
}

// trySend may be called by several goroutines.
func (h *hand) trySend(m *foiblev1.WorkRequest) error {
	h.sending.Lock()
	defer h.sending.Unlock()
	return h.stream.Send(m)
}
