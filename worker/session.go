package worker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// session is one connection to a coordinator. Only its run method sends.
type session struct {
	w         *Worker
	leaving   context.Context // ends when no new jobs are wanted
	working   context.Context // of the jobs; when it ends, what is unfinished is handed back
	executing *sync.WaitGroup // of the jobs

	stream   grpc.BidiStreamingClient[foiblev1.WorkRequest, foiblev1.WorkResponse]
	inbox    inbox
	draining bool
	welcomed bool // the coordinator has admitted the worker
	drained  bool // the worker has left in good order
}

// inbox keeps what has been received. It grows as it must: were receiving to wait for sending here, and there too,
// both could wait for ever.
type inbox struct {
	arrived chan struct{} // holds a token when there is something new
	broken  chan error    // why the connection has ended; has room for one

	mu       sync.Mutex // guards messages
	messages []*foiblev1.WorkResponse
}

func (in *inbox) receive(stream grpc.BidiStreamingClient[foiblev1.WorkRequest, foiblev1.WorkResponse]) {
	for {
		m, err := stream.Recv()
		if err != nil {
			in.broken <- err
			return
		}
		in.mu.Lock()
		in.messages = append(in.messages, m)
		in.mu.Unlock()
		select {
		case in.arrived <- struct{}{}:
		default:
		}
	}
}

// take empties the inbox.
func (in *inbox) take() []*foiblev1.WorkResponse {
	in.mu.Lock()
	defer in.mu.Unlock()
	messages := in.messages
	in.messages = nil
	return messages
}

// run talks until the connection breaks or everything is drained.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var receiving sync.WaitGroup
	defer receiving.Wait()
	defer cancel()

	// Who has nothing to hand back does not wait for a connection.
	connected := context.AfterFunc(s.leaving, func() {
		if s.w.held() == 0 {
			cancel()
		}
	})
	var err error
	s.stream, err = s.w.client.Work(ctx)
	connected()
	if err != nil {
		return err
	}
	s.inbox.arrived, s.inbox.broken = make(chan struct{}, 1), make(chan error, 1)
	receiving.Go(func() { s.inbox.receive(s.stream) })
	if err := s.talk(ctx); err != nil {
		// Send says EOF and no more of a broken stream; Recv says why.
		select {
		case err = <-s.inbox.broken:
		case <-time.After(time.Second):
		}
		// An answer that has come need not be asked for again.
		for _, m := range s.inbox.take() {
			if m := m.GetRecorded(); m != nil {
				s.answered(m)
			}
		}
		return err
	}
	return nil
}

func (s *session) talk(ctx context.Context) error {
	err := s.stream.Send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Hello{Hello: &foiblev1.Hello{
		Version: s.w.cfg.Version, Host: s.w.cfg.Host, WorkerId: s.w.id, Slots: int32(s.w.cfg.Slots), Busy: int32(s.w.held()),
	}}})
	if err != nil {
		return err
	}
	heartbeat := time.NewTicker(time.Hour) // until Welcome says better
	defer heartbeat.Stop()
	leaving, handBack := s.leaving.Done(), s.working.Done()
	for !s.draining || s.w.held() > 0 {
		var err error
		select {
		case <-s.inbox.arrived:
			for _, m := range s.inbox.take() {
				if err == nil {
					err = s.hear(m, heartbeat)
				}
			}
		case <-s.w.changed:
			if s.welcomed { // the first heartbeat, by which the coordinator counts slots, goes before the results
				err = s.report()
			}
		case <-heartbeat.C:
			err = s.beat()
		case <-leaving:
			leaving, s.draining = nil, true
			s.w.log.Info("draining", "jobs_held", s.w.held())
			err = s.hand(nil)
		case <-handBack:
			handBack, s.draining = nil, true
			err = s.hand(s.abandon())
		case err = <-s.inbox.broken:
			s.inbox.broken <- err
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	s.drained = true
	if err := s.stream.CloseSend(); err != nil {
		return err
	}
	// To end the call before the coordinator does might overtake what was sent.
	select {
	case <-s.inbox.broken:
	case <-time.After(HandBackTimeout):
	case <-ctx.Done():
	}
	return nil
}

// hear does what a message asks for.
func (s *session) hear(m *foiblev1.WorkResponse, heartbeat *time.Ticker) error {
	switch m := m.GetMessage().(type) {
	case *foiblev1.WorkResponse_Welcome:
		s.welcomed = true
		s.w.log.Info("connected", "slots", s.w.cfg.Slots)
		lease := time.Duration(m.Welcome.GetLeaseSeconds() * float64(time.Second))
		heartbeat.Reset(max(lease/3, 10*time.Millisecond))
		if err := s.beat(); err != nil {
			return err
		}
		return s.report() // what an earlier connection could not
	case *foiblev1.WorkResponse_Assign:
		return s.take(m.Assign)
	case *foiblev1.WorkResponse_Cancel:
		s.cancel(m.Cancel.GetLeases())
	case *foiblev1.WorkResponse_Recorded:
		s.answered(m.Recorded)
	case *foiblev1.WorkResponse_Dismiss:
		s.w.log.Info("dismissed: no work is left")
		if s.w.cfg.Dismissed != nil {
			s.w.cfg.Dismissed()
		}
		s.w.leave()
	}
	return nil
}

// beat keeps the leases of what is held.
func (s *session) beat() error {
	s.w.mu.Lock()
	leases := make([]uint64, 0, len(s.w.jobs))
	for id := range s.w.jobs {
		leases = append(leases, id)
	}
	s.w.mu.Unlock()
	slices.Sort(leases)
	return s.stream.Send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Heartbeat{Heartbeat: &foiblev1.Heartbeat{Leases: leases}}})
}

// take begins a job; one that comes while draining goes straight back.
func (s *session) take(assign *foiblev1.Assign) error {
	if s.draining {
		return s.hand([]uint64{assign.GetLease()})
	}
	j := &job{assign: assign}
	j.ctx, j.stop = context.WithCancel(s.working)
	s.w.mu.Lock()
	_, known := s.w.jobs[assign.GetLease()]
	if !known {
		s.w.jobs[assign.GetLease()] = j
	}
	s.w.mu.Unlock()
	if known {
		j.stop()
		return nil
	}
	s.executing.Go(func() { s.w.execute(s.working, j) })
	return nil
}

// cancel stops jobs that are not wanted any more. Their results are answered as usual.
func (s *session) cancel(leases []uint64) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, id := range leases {
		if j := s.w.jobs[id]; j != nil {
			j.stop()
		}
	}
}

// report sends the results that this connection has not sent.
func (s *session) report() error {
	s.w.mu.Lock()
	var ready []*job
	for _, j := range s.w.jobs {
		if j.result != nil && j.sent != s {
			j.sent = s
			ready = append(ready, j)
		}
	}
	s.w.mu.Unlock()
	slices.SortFunc(ready, func(a, b *job) int { return cmp.Compare(a.assign.GetJob(), b.assign.GetJob()) })
	for _, j := range ready {
		err := s.stream.Send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Result{Result: &foiblev1.Result{
			SweepId: j.assign.GetSweepId(), Job: j.assign.GetJob(), Lease: j.assign.GetLease(), Result: j.result,
		}}})
		if err != nil {
			return err
		}
	}
	return nil
}

// answered forgets a job: it is recorded, or another worker will do it.
func (s *session) answered(m *foiblev1.Recorded) {
	s.w.mu.Lock()
	delete(s.w.jobs, m.GetLease())
	s.w.mu.Unlock()
	switch m.GetVerdict() {
	case foiblev1.Verdict_VERDICT_REFUSED:
		s.w.log.Warn("result refused", "sweep", m.GetSweepId(), "job", m.GetJob(), "reason", m.GetReason())
	case foiblev1.Verdict_VERDICT_DUPLICATE:
		s.w.log.Debug("result was there already", "sweep", m.GetSweepId(), "job", m.GetJob())
	}
}

// abandon forgets the jobs that have no result, and returns their leases.
func (s *session) abandon() []uint64 {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	var leases []uint64
	for id, j := range s.w.jobs {
		if j.result == nil {
			leases = append(leases, id)
			delete(s.w.jobs, id)
		}
	}
	slices.Sort(leases)
	return leases
}

// hand says that the worker is leaving, and gives leases back.
func (s *session) hand(released []uint64) error {
	return s.stream.Send(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Drain{Drain: &foiblev1.Drain{Released: released}}})
}
