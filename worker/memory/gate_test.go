package memory

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// Work that is stopped for want of memory is done again, with fewer others next to it.
func TestShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(3)
		release := make(chan struct{})
		var mu sync.Mutex
		running, most, tries := 0, 0, 0
		do := func(ctx context.Context) error {
			mu.Lock()
			running, tries = running+1, tries+1
			most = max(most, running)
			mu.Unlock()
			defer func() { mu.Lock(); running--; mu.Unlock() }()
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				if err := g.Do(t.Context(), do); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if running != 3 {
			t.Fatalf("%d run at once, want 3", running)
		}
		for want := 2; want >= 1; want-- {
			if got := g.Shed(); got != want {
				t.Errorf("after shedding %d may run, want %d", got, want)
			}
			synctest.Wait()
			if running != want {
				t.Errorf("%d run at once, want %d", running, want)
			}
		}
		close(release)
		group.Wait()
		if most != 3 || tries != 7 {
			t.Errorf("at most %d ran at once, in %d tries; want 3 and 7", most, tries)
		}
		if g.places != 3 {
			t.Errorf("%d may run after all have ended, want 3", g.places)
		}
	})
}

// Work that does not fit even alone ends; so does work whose context ends while it waits.
func TestTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		ended := make(chan error)
		wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		go func() { ended <- g.Do(t.Context(), wait) }()
		synctest.Wait()
		waiting, stop := context.WithCancel(t.Context())
		waited := make(chan error)
		go func() { waited <- g.Do(waiting, wait) }()
		synctest.Wait()
		stop()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting ended with %v", err)
		}
		if got := g.Shed(); got != 0 {
			t.Errorf("%d may run, want no fewer", got)
		}
		if err := <-ended; !errors.Is(err, ErrTooLarge) {
			t.Errorf("it ended with %v", err)
		}
		if got := g.Shed(); got != 0 {
			t.Errorf("with nothing to stop, Shed returns %d", got)
		}
	})
}

// While work that was stopped has not ended, nothing else is stopped; and what succeeds in spite of being stopped has succeeded.
func TestShedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		release := make(chan struct{})
		deaf := func(context.Context) error { <-release; return nil }
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				if err := g.Do(t.Context(), deaf); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if first, second := g.Shed(), g.Shed(); first != 1 || second != 0 {
			t.Errorf("Shed returns %d, then %d; want 1, then 0", first, second)
		}
		close(release)
		group.Wait()
	})
}
