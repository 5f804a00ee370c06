package command

import (
	"strings"
	"testing"
	"time"

	foiblev1 "foible/proto/foible/v1"
)

// tape is progress as lines, with a clock that the test turns.
func tape() (*progress, *strings.Builder, *time.Time) {
	var out strings.Builder
	clock := time.Date(2021, 7, 26, 9, 0, 0, 0, time.UTC)
	p := newProgress(&out)
	p.now = func() time.Time { return clock }
	p.began = clock
	return p, &out, &clock
}

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		first, done int64
		elapsed     time.Duration
		failed      int64
		want        string
	}{
		{done: 0, want: "cells 0/1000"},
		{done: 250, elapsed: 10 * time.Second, want: "cells 250/1000, 25.0 cells/s, ETA 30s"},
		{done: 1, elapsed: 10 * time.Second, want: "cells 1/1000, 0.10 cells/s, ETA 2h46m30s"},
		{done: 999, elapsed: time.Second, want: "cells 999/1000, 999 cells/s, ETA 1s"},
		{done: 1000, elapsed: time.Second, want: "cells 1000/1000, comparing with people"},
		// What was there before says nothing about the rate.
		{first: 500, done: 500, elapsed: time.Second, want: "cells 500/1000"},
		{first: 500, done: 600, elapsed: 10 * time.Second, want: "cells 600/1000, 10.0 cells/s, ETA 40s"},
		{done: 0, failed: 1, want: "cells 0/1000, 1 job failed"},
	} {
		p, _, clock := tape()
		p.first = c.first
		*clock = clock.Add(c.elapsed)
		m := &foiblev1.Progress{Cells: 1000, CellsDone: c.done, Workers: 1, JobsFailed: c.failed}
		if got := p.text(m); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	p, _, _ := tape()
	if got, want := p.text(&foiblev1.Progress{Cells: 2}), "cells 0/2, no worker is connected"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A line for each tenth, at most one a second, and one in half a minute at least.
func TestProgressLines(t *testing.T) {
	p, out, clock := tape()
	done := int64(20)
	tick := func(after time.Duration, cells int64) {
		*clock = clock.Add(after)
		done += cells
		p.update(&foiblev1.Progress{Cells: 100, CellsDone: done, Workers: 1}, false)
	}
	tick(0, 0)                     // the first
	tick(500*time.Millisecond, 20) // too soon
	tick(500*time.Millisecond, 0)  // two tenths
	tick(10*time.Second, 5)        // within a tenth
	tick(20*time.Second, 0)        // half a minute
	tick(500*time.Millisecond, 54) // too soon
	tick(time.Second, 1)           // all
	tick(100*time.Millisecond, 0)  // nothing new
	p.finish(&foiblev1.Progress{Cells: 100, CellsDone: 100})
	want := `cells 20/100
cells 40/100, 20.0 cells/s, ETA 3s
cells 45/100, 0.81 cells/s, ETA 1m8s
cells 100/100, comparing with people
80 cells in 32.6s; 20 were there already
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
