package engine

import (
	"fmt"
	"testing"
)

// A result is forgotten if it was recorded no later than a place, by whoever asks first; a later one of the same job stays.
func TestForgetUntil(t *testing.T) {
	e, _ := openSweep(t, Config{}, 0)
	ctx := t.Context()
	record := func(job int, text string) uint64 {
		t.Helper()
		if err := e.Record(ctx, "s", job, []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, place, err := e.ResultAt(ctx, "s", job)
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	record(1, "one")
	last := record(2, "two")
	if place := record(3, "three"); place <= last {
		t.Errorf("a later result is at %d, one before at %d", place, last)
	}
	for range 2 {
		for job := range 5 { // 0 and 4 have none
			if err := e.ForgetUntil(ctx, "s", job, last); err != nil {
				t.Error(err)
			}
		}
	}
	for job, want := range map[int]string{1: "", 2: "", 3: "three"} {
		if got, _ := e.Result(ctx, "s", job); string(got) != want {
			t.Errorf("job %d has %q, want %q", job, got, want)
		}
	}
	record(2, "again")
	if err := e.ForgetUntil(ctx, "s", 2, last); err != nil {
		t.Error(err)
	}
	if got, err := e.Result(ctx, "s", 2); string(got) != "again" {
		t.Errorf("%q, %v", got, err)
	}
}

// What is kept of jobs is the last that was, and goes with the sweep.
func TestFormer(t *testing.T) {
	e, _ := openSweep(t, Config{}, 0)
	ctx := t.Context()
	_, err := e.Former(ctx, "s", 1)
	wantErr(t, err, ErrNotFound)
	for _, drop := range []func() error{func() error { return e.DropFormer(ctx, "s") }, func() error { return e.DeleteSweep(ctx, "s") }} {
		for i := range 3 {
			if err := e.KeepFormer(ctx, "s", 1, fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := e.Former(ctx, "s", 1); string(got) != "2" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		_, err = e.Former(ctx, "s", 2)
		wantErr(t, err, ErrNotFound)
		for range 2 {
			if err := drop(); err != nil {
				t.Error(err)
			}
		}
		_, err = e.Former(ctx, "s", 1)
		wantErr(t, err, ErrNotFound)
	}
}
