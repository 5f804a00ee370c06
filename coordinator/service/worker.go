package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Dispatcher schedules jobs and takes results.
type Dispatcher interface {
	// Join admits a worker. ErrPrecondition: it does not fit.
	Join(hello *foiblev1.Hello) (Session, error)
}

// Session is one connection of a worker. Its methods may be called at once, but Next by one goroutine only.
type Session interface {
	Welcome() *foiblev1.Welcome
	// Next waits until there is a free slot and a job for it. After Drain it waits for ctx.
	Next(ctx context.Context) (*foiblev1.Assign, error)
	// Heartbeat extends the leases that the worker holds, and returns those that are not wanted any more.
	Heartbeat(leases []uint64) (unwanted []uint64)
	// Record makes a result durable, or says why not. The slot is free when it is called.
	Record(ctx context.Context, result *foiblev1.Result) (*foiblev1.Recorded, error)
	// Drain gives no more jobs, and gives those handed back to others.
	Drain(released []uint64)
	// Leave ends the session; jobs still held go to other workers, at once if the worker has handed back
	// what it had, else after a while.
	Leave(handedBack bool)
}

// Worker serves foible.v1.WorkerService.
type Worker struct {
	foiblev1.UnimplementedWorkerServiceServer
	Dispatcher Dispatcher
	Stopping   context.Context // done when the coordinator stops
	Dismissed  <-chan struct{} // closed when no work is left and workers are to end; nil: never
}

// recordsAtOnce bounds the results of one worker that are being made durable.
const recordsAtOnce = 64

// Work is a worker's whole life. One goroutine receives, one sends, one waits
// for jobs, and one a result in flight makes it durable; all have ended when it returns.
func (w *Worker) Work(stream grpc.BidiStreamingServer[foiblev1.WorkRequest, foiblev1.WorkResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if first.GetHello() == nil {
		return StatusOf(fmt.Errorf("%w: the first message must be Hello", ErrPrecondition))
	}
	session, err := w.Dispatcher.Join(first.GetHello())
	if err != nil {
		return StatusOf(err)
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer func() { session.Leave(errors.Is(context.Cause(ctx), io.EOF)) }() // it has closed its side: nothing is held
	defer context.AfterFunc(w.Stopping, func() { cancel(ErrStopping) })()

	c := &connection{
		session: session, stream: stream, ctx: ctx, cancel: cancel,
		outgoing: make(chan *foiblev1.WorkResponse), recording: make(chan struct{}, recordsAtOnce),
	}
	defer c.running.Wait() // before Leave, after cancel
	defer cancel(nil)
	c.running.Go(c.sendAll)
	c.send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Welcome{Welcome: session.Welcome()}})
	c.running.Go(func() {
		select {
		case <-w.Dismissed:
			c.send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Dismiss{Dismiss: &foiblev1.Dismiss{}}})
		case <-ctx.Done():
		}
	})
	c.running.Go(c.assignJobs)
	return c.receive()
}

// connection is a call of Work.
type connection struct {
	session   Session
	stream    grpc.BidiStreamingServer[foiblev1.WorkRequest, foiblev1.WorkResponse]
	ctx       context.Context // of the call
	cancel    context.CancelCauseFunc
	running   sync.WaitGroup // its goroutines, but for the one that calls Recv
	outgoing  chan *foiblev1.WorkResponse
	recording chan struct{} // has an element for each result that is being made durable
}

// send gives a message to the goroutine that sends, unless the call ends first.
func (c *connection) send(m *foiblev1.WorkResponse) {
	select {
	case c.outgoing <- m:
	case <-c.ctx.Done():
	}
}

// sendAll sends until the call ends.
func (c *connection) sendAll() {
	for {
		select {
		case m := <-c.outgoing:
			if err := c.stream.Send(m); err != nil {
				c.cancel(err)
				return
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// assignJobs sends one job after the other until the call ends.
func (c *connection) assignJobs() {
	for {
		assign, err := c.session.Next(c.ctx)
		if err != nil {
			c.cancel(err)
			return
		}
		c.send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Assign{Assign: assign}})
	}
}

// receive handles what the worker says, until the call ends, and returns its status.
func (c *connection) receive() error {
	// Recv has no way to be interrupted but the end of the call, so it has a goroutine that may outlive it.
	incoming := make(chan *foiblev1.WorkRequest)
	go func() {
		for {
			m, err := c.stream.Recv()
			if err != nil {
				c.cancel(err)
				return
			}
			select {
			case incoming <- m:
			case <-c.ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-c.ctx.Done():
			if err := context.Cause(c.ctx); !errors.Is(err, io.EOF) {
				return StatusOf(err)
			}
			return nil
		case m := <-incoming:
			if err := c.handle(m); err != nil {
				return StatusOf(err)
			}
		}
	}
}

// handle does what a message asks for.
func (c *connection) handle(m *foiblev1.WorkRequest) error {
	switch m := m.GetMessage().(type) {
	case *foiblev1.WorkRequest_Heartbeat:
		if unwanted := c.session.Heartbeat(m.Heartbeat.GetLeases()); len(unwanted) > 0 {
			c.running.Go(func() {
				c.send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Cancel{Cancel: &foiblev1.Cancel{Leases: unwanted}}})
			})
		}
	case *foiblev1.WorkRequest_Drain:
		c.session.Drain(m.Drain.GetReleased())
	case *foiblev1.WorkRequest_Result:
		select {
		case c.recording <- struct{}{}:
		case <-c.ctx.Done():
			return nil
		}
		c.running.Go(func() {
			defer func() { <-c.recording }()
			recorded, err := c.session.Record(c.ctx, m.Result)
			if err != nil {
				c.cancel(err)
				return
			}
			c.send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Recorded{Recorded: recorded}})
		})
	default:
		return fmt.Errorf("%w: unexpected message %T", ErrInvalid, m)
	}
	return nil
}
