package coordinator

import "context"

// QueueAgain puts jobs into the queue of a sweep once more, as an audit does that takes them for lost.
func (c *Coordinator) QueueAgain(ctx context.Context, sweep string, jobs ...int) error {
	return c.engine.Requeue(ctx, sweep, jobs)
}
