package web

import (
	"context"
	"sync"
	"time"

	foiblev1 "foible/proto/foible/v1"
)

// A rate is measured over the last while, so that it follows workers that come and go.
const (
	meterInterval = time.Second
	meterWindow   = 60 * time.Second
)

// meter measures how fast sweeps go.
type meter struct {
	mu      sync.Mutex // guards samples
	samples map[string][]sample
}

// sample is the cells done at a time.
type sample struct {
	at   time.Time
	done int64
}

// run measures until ctx ends.
func (m *meter) run(ctx context.Context, c Coordinator) {
	for tick := time.Tick(meterInterval); ; {
		m.take(time.Now(), c.CellsDone())
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

func (m *meter) take(now time.Time, done map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := map[string][]sample{}
	for id, n := range done {
		all := append(m.samples[id], sample{now, n})
		for len(all) > 2 && now.Sub(all[0].at) > meterWindow {
			all = all[1:]
		}
		next[id] = all
	}
	m.samples = next
}

// rate is how many cells a second a sweep does; 0 if it does none, or that is not known yet.
func (m *meter) rate(id string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.samples[id]
	if len(all) < 2 {
		return 0
	}
	first, last := all[0], all[len(all)-1]
	return float64(last.done-first.done) / last.at.Sub(first.at).Seconds()
}

// eta says when a sweep that runs may be done; "" if nobody can tell. This is the one place that does: a range, when a
// sweep has one, belongs here.
func eta(m *foiblev1.Sweep, rate float64) string {
	left := m.GetProgress().GetCells() - m.GetProgress().GetCellsDone()
	if m.GetState() != running || rate <= 0 || left <= 0 {
		return ""
	}
	return "about " + duration(time.Duration(float64(left)/rate*float64(time.Second)))
}
