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

	var running sync.WaitGroup
	defer running.Wait() // before Leave, after cancel
	defer cancel(nil)

	outgoing := make(chan *foiblev1.WorkResponse)
	send := func(m *foiblev1.WorkResponse) {
		select {
		case outgoing <- m:
		case <-ctx.Done():
		}
	}
	running.Go(func() {
		for {
			select {
			case m := <-outgoing:
				if err := stream.Send(m); err != nil {
					cancel(err)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Welcome{Welcome: session.Welcome()}})
	running.Go(func() {
		select {
		case <-w.Dismissed:
			send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Dismiss{Dismiss: &foiblev1.Dismiss{}}})
		case <-ctx.Done():
		}
	})
	running.Go(func() {
		for {
			assign, err := session.Next(ctx)
			if err != nil {
				cancel(err)
				return
			}
			send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Assign{Assign: assign}})
		}
	})

	// Recv has no way to be interrupted but the end of this function, so it has a goroutine that may outlive it.
	incoming := make(chan *foiblev1.WorkRequest)
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				cancel(err)
				return
			}
			select {
			case incoming <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	recording := make(chan struct{}, recordsAtOnce)
	for {
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, io.EOF) {
				return StatusOf(err)
			}
			return nil
		case m := <-incoming:
			switch m := m.GetMessage().(type) {
			case *foiblev1.WorkRequest_Heartbeat:
				if unwanted := session.Heartbeat(m.Heartbeat.GetLeases()); len(unwanted) > 0 {
					running.Go(func() {
						send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Cancel{Cancel: &foiblev1.Cancel{Leases: unwanted}}})
					})
				}
			case *foiblev1.WorkRequest_Drain:
				session.Drain(m.Drain.GetReleased())
			case *foiblev1.WorkRequest_Result:
				select {
				case recording <- struct{}{}:
				case <-ctx.Done():
					continue
				}
				running.Go(func() {
					defer func() { <-recording }()
					recorded, err := session.Record(ctx, m.Result)
					if err != nil {
						cancel(err)
						return
					}
					send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Recorded{Recorded: recorded}})
				})
			default:
				return StatusOf(fmt.Errorf("%w: unexpected message %T", ErrInvalid, m))
			}
		}
	}
}
