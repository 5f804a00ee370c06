package follow

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"foible.dev/foible/command/connect"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func TestLineOf(t *testing.T) {
	running, paused := foiblev1.SweepState_SWEEP_STATE_RUNNING, foiblev1.SweepState_SWEEP_STATE_PAUSED
	for _, c := range []struct {
		state     foiblev1.SweepState
		progress  *foiblev1.Progress
		low, high time.Duration
		want      string
	}{
		{running, &foiblev1.Progress{Cells: 1000, Workers: 1}, 0, 0, "cells 0/1,000, ETA not known yet"},
		{running, &foiblev1.Progress{Cells: 2}, 0, 0, "cells 0/2, no worker is connected"},
		{running, &foiblev1.Progress{Cells: 1000, CellsDone: 250, Workers: 1, CellsPerSecond: 25}, 22 * time.Second, 95 * time.Second, "cells 250/1,000, 25.0 cells/s, ETA 22s to 1m40s"},
		{running, &foiblev1.Progress{Cells: 1000, CellsDone: 999, Workers: 1, CellsPerSecond: 999}, time.Millisecond, 400 * time.Millisecond, "cells 999/1,000, 999 cells/s, ETA 1s"},
		{running, &foiblev1.Progress{Cells: 1000, CellsDone: 1000, Workers: 1}, time.Second, 2 * time.Second, "cells 1,000/1,000, comparing with people"},
		{
			running, &foiblev1.Progress{Cells: 100, CellsDone: 90, Workers: 1, CellsPerSecond: 5, Stages: []*foiblev1.PartProgress{
				{Name: "fit", Cells: 80, CellsDone: 80}, {Name: "top_up", Cells: 20, CellsDone: 10},
			}},
			0, 0, "cells 90/100, topping up, 5.00 cells/s, ETA not known yet",
		},
		{paused, &foiblev1.Progress{Cells: 1000, CellsDone: 10, Workers: 1, CellsPerSecond: 3}, 0, 0, "cells 10/1,000, paused"},
		{
			running, &foiblev1.Progress{Cells: 10, Workers: 1, JobsFailed: 1, Retries: 2, LeasesLost: 1, Duplicates: 3},
			0, 0, "cells 0/10, ETA not known yet, 1 job failed, 2 jobs tried again, 1 lease lost, 3 repeated results refused",
		},
		{foiblev1.SweepState_SWEEP_STATE_CANCELLED, &foiblev1.Progress{Cells: 10, CellsDone: 4}, 0, 0, "cells 4/10, cancelled"},
	} {
		m := &foiblev1.Sweep{State: c.state, Progress: c.progress}
		if c.high > 0 {
			m.EtaLow, m.EtaHigh = durationpb.New(c.low), durationpb.New(c.high)
		}
		if got := lineOf(m, (&countdown{}).eta(m, time.Time{})); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1s", 59 * time.Second: "59s", 61 * time.Second: "1m00s", 325 * time.Second: "5m30s", 14*time.Minute + 31*time.Second: "15m",
		3*time.Hour + 22*time.Minute: "3h20m", 75 * time.Hour: "3 days",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// A line for each tenth, at most one a second, and one in half a minute at least.
func TestLines(t *testing.T) {
	var out strings.Builder
	clock := time.Date(2021, 7, 26, 9, 0, 0, 0, time.UTC)
	l := newLines(&out)
	l.now = func() time.Time { return clock }
	done := int64(20)
	tick := func(after time.Duration, cells int64) {
		clock = clock.Add(after)
		done += cells
		l.show(&foiblev1.Sweep{
			State:    foiblev1.SweepState_SWEEP_STATE_RUNNING,
			Progress: &foiblev1.Progress{Cells: 100, CellsDone: done, Workers: 1, CellsPerSecond: 2},
		})
	}
	tick(0, 0)                     // the first
	tick(500*time.Millisecond, 20) // too soon
	tick(500*time.Millisecond, 0)  // two tenths
	tick(10*time.Second, 5)        // within a tenth
	tick(20*time.Second, 0)        // half a minute
	tick(500*time.Millisecond, 54) // too soon
	tick(time.Second, 1)           // all
	tick(100*time.Millisecond, 0)  // nothing new
	want := `cells 20/100, 2.00 cells/s, ETA not known yet
cells 40/100, 2.00 cells/s, ETA not known yet
cells 45/100, 2.00 cells/s, ETA not known yet
cells 100/100, comparing with people
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// What was there is what was recorded before the sweep began, and where it is from.
func TestSummary(t *testing.T) {
	last := &foiblev1.Sweep{Progress: &foiblev1.Progress{CellsDone: 12345}}
	extended := &foiblev1.Sweep{Progress: &foiblev1.Progress{CellsDone: 12345}, Extends: "lamps-0123abcd"}
	for _, c := range []struct {
		before int64
		last   *foiblev1.Sweep
		want   string
	}{
		{0, last, "12,345 cells in 32.6s"},
		{0, extended, "12,345 cells in 32.6s"},
		{2345, last, "10,000 cells in 32.6s; 2,345 were there already"},
		{2345, extended, "10,000 cells in 32.6s; 2,345 were there already, most of them from lamps-0123abcd, which it extends"},
	} {
		if got := summary(c.before, c.last, 32600*time.Millisecond); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What a pilot has foretold stands until the coordinator knows more, or until it has passed.
func TestCountdown(t *testing.T) {
	began := time.Date(2021, 7, 26, 9, 0, 0, 0, time.UTC)
	c := countdown{&Forecast{Expected: 72, Low: 50, High: 120, Cells: 30}, began}
	m := func(change func(*foiblev1.Sweep)) *foiblev1.Sweep {
		m := &foiblev1.Sweep{State: foiblev1.SweepState_SWEEP_STATE_RUNNING, Progress: &foiblev1.Progress{Cells: 1000, Workers: 1}}
		if change != nil {
			change(m)
		}
		return m
	}
	for _, test := range []struct {
		m       *foiblev1.Sweep
		seconds int
		want    string
	}{
		{m(nil), 0, "ETA 50s to 2m00s by the pilot"},
		{m(nil), 20, "ETA 30s to 1m40s by the pilot"},
		{m(nil), 60, "ETA not known yet"},
		{m(func(m *foiblev1.Sweep) {
			m.EtaLow, m.EtaHigh = durationpb.New(time.Minute), durationpb.New(2*time.Minute)
		}), 20, "ETA 1m00s to 2m00s"},
		{m(func(m *foiblev1.Sweep) { m.WaitsFor = "lamps-0123abcd" }), 0, ""},
		{m(func(m *foiblev1.Sweep) { m.Stalled = "the disk is full" }), 0, ""},
		{m(func(m *foiblev1.Sweep) { m.State = foiblev1.SweepState_SWEEP_STATE_PAUSED }), 0, ""},
		{m(func(m *foiblev1.Sweep) { m.Progress.Workers = 0 }), 0, ""},
		{m(func(m *foiblev1.Sweep) { m.Progress.CellsDone = 1000 }), 0, ""},
	} {
		if got := c.eta(test.m, began.Add(time.Duration(test.seconds)*time.Second)); got != test.want {
			t.Errorf("after %d s: got %q, want %q", test.seconds, got, test.want)
		}
	}
	for want, f := range map[string]*Forecast{
		"": nil, "It will take about 50 s (20 s to 100 s), by a pilot of 30 cells; `foible estimate` looks longer.": {50, 20, 100, 30},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&Forecast{10, 5, 59, 30}).String(); got != "" {
		t.Errorf("of less than a minute it says %q", got)
	}
}

// A sweep that waits for another is said to.
func TestWaiting(t *testing.T) {
	m := &foiblev1.Sweep{State: foiblev1.SweepState_SWEEP_STATE_RUNNING, WaitsFor: "lamps-0123abcd", Extends: "lamps-0123abcd", Progress: &foiblev1.Progress{Cells: 10, Workers: 1}}
	if got, want := lineOf(m, ""), "cells 0/10, waiting for lamps-0123abcd to end"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := connect.StateText(m); got != "waiting" {
		t.Errorf("its state is %q", got)
	}
	if got := NewSweepJSON(m); got.WaitsFor != "lamps-0123abcd" || got.State != "running" {
		t.Errorf("for scripts it is %+v", got)
	}
}
