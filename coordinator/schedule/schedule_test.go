package schedule_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"foible.dev/foible/coordinator/schedule"
)

// Over time, sweeps get slots in proportion to their weights, also where each round has only one slot.
func TestStrideSharesByWeight(t *testing.T) {
	for _, slots := range []int{1, 7, 400} {
		var stride schedule.Stride
		shares := []*schedule.Share{{Weight: 10}, {Weight: 20}, {Weight: 10}}
		total := make([]int, len(shares))
		for given := 0; given < 2800; given += slots {
			n := stride.Split(shares, slots)
			stride.Charge(shares, n)
			for i := range n {
				total[i] += n[i]
			}
		}
		if want := []int{700, 1400, 700}; !slices.EqualFunc(total, want, func(a, b int) bool { return max(a-b, b-a) <= 1 }) {
			t.Errorf("%d slots at a time: %v, want %v", slots, total, want)
		}
	}
}

// A sweep that had nothing to do for a while does not get more than its part afterwards.
func TestStrideSavesUpNothing(t *testing.T) {
	var stride schedule.Stride
	busy, late := &schedule.Share{Weight: 1}, &schedule.Share{Weight: 1}
	for range 100 {
		stride.Charge([]*schedule.Share{busy}, stride.Split([]*schedule.Share{busy}, 1))
	}
	both := []*schedule.Share{busy, late}
	if n := stride.Split(both, 10); n[1] > 6 || n[1] < 5 {
		t.Errorf("the sweep that came late gets %d of 10 slots", n[1])
	}
	stride.Charge(both, []int{0, 0}) // nothing was given out
	if n := stride.Split(both, 10); n[0]+n[1] != 10 {
		t.Errorf("%v of 10 slots", n)
	}
}

// worker takes the jobs that are listed, all if the list is nil.
type worker struct {
	id    string
	takes []int
	limit int
	drain chan struct{}
}

func newWorker(id string, limit int, takes ...int) *worker {
	return &worker{id: id, limit: limit, takes: takes, drain: make(chan struct{})}
}

func (w *worker) ID() string                { return w.id }
func (w *worker) Open(free int) int         { return min(free, w.limit) }
func (w *worker) Takes(job int) bool        { return w.takes == nil || slices.Contains(w.takes, job) }
func (w *worker) Draining() <-chan struct{} { return w.drain }

func TestDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := schedule.NewDemand[int]()
		a, b, c := newWorker("a", 9), newWorker("b", 9, 1, 3), newWorker("c", 1)
		got := map[string]chan []int{}
		for _, w := range []*worker{a, b, c} {
			got[w.id] = make(chan []int, 1)
			go func() { got[w.id] <- d.Take(t.Context(), w, 2) }()
			synctest.Wait()
		}
		if n := d.Slots(); n != 5 {
			t.Errorf("%d slots", n)
		}
		if d.Other([]string{"a", "b", "c"}) || !d.Other([]string{"a", "b"}) {
			t.Error("another worker is found where there is none, or not where there is one")
		}
		if rest := d.Deal([]int{0, 1, 2, 3, 4, 5}); !slices.Equal(rest, []int{4, 5}) {
			t.Errorf("%v are left", rest)
		}
		for id, want := range map[string][]int{"a": {0, 3}, "b": {1}, "c": {2}} {
			if jobs := <-got[id]; !slices.Equal(jobs, want) {
				t.Errorf("worker %s has %v, want %v", id, jobs, want)
			}
		}
		if d.Slots() != 0 {
			t.Error("slots wait that have jobs")
		}
	})
}

// A worker that drains, or leaves, gets nothing, and its slots count no more.
func TestDemandWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := schedule.NewDemand[int]()
		a, b := newWorker("a", 1), newWorker("b", 1)
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan []int, 2)
		go func() { ended <- d.Take(ctx, a, 1) }()
		go func() { ended <- d.Take(t.Context(), b, 1) }()
		synctest.Wait()
		leave()
		close(b.drain)
		for range 2 {
			if jobs := <-ended; jobs != nil {
				t.Errorf("%v", jobs)
			}
		}
		if rest := d.Deal([]int{1}); len(rest) != 1 || d.Slots() != 0 {
			t.Errorf("%v are left, %d slots", rest, d.Slots())
		}
	})
}
