//go:build unix

package slurm

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// fakeSlurm puts programs on PATH that write down how they are called, and returns what has been called.
func fakeSlurm(t *testing.T, names ...string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" \"$@\" >>"+dir+"/calls\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return string(text)
	}
}

// When a sweep ends while a command submits workers, these are cancelled; a command that comes later submits none.
func TestPendingWorkersAtTheEnd(t *testing.T) {
	calls := fakeSlurm(t, "sbatch", "scancel", "scontrol", "squeue", "sacctmgr")
	e := &terminal.Terminal{Out: io.Discard, Err: io.Discard, Logger: hclog.NewNullLogger()}
	d := sweepDir(t.TempDir())
	r := &sweepRecord{Name: "foible-a", Jobs: []submittedJob{{Name: "foible-a-1", ID: "1"}}}
	if err := d.setRecord(r); err != nil {
		t.Fatal(err)
	}
	coordinators := *r // as the coordinator has read it at its start
	unlock, err := d.lock(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.setState(stateEnded); err != nil {
		t.Fatal(err)
	}
	cancelled := make(chan error, 1)
	go func() { cancelled <- cancelPending(t.Context(), e, d, &coordinators) }()
	time.Sleep(100 * time.Millisecond) // it is to wait, however long
	r.Jobs = append(r.Jobs, submittedJob{Name: "foible-a-2", ID: "2"}, submittedJob{Name: "foible-a-3"})
	if err := d.setRecord(r); err != nil {
		t.Fatal(err)
	}
	if said := calls(); said != "" {
		t.Errorf("called while another command worked: %s", said)
	}
	unlock()
	select {
	case err := <-cancelled:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("pending workers are not cancelled within 2 minutes of the end of the other command")
	}
	for _, name := range []string{"foible-a-1", "foible-a-2", "foible-a-3"} {
		if want := "scancel --state=PENDING --name=" + name + "\n"; !strings.Contains(calls(), want) {
			t.Errorf("no %sbut\n%s", want, calls())
		}
	}

	n, err := addWorkers(t.Context(), e, d, r, 5)
	if n != 0 || err != nil || strings.Contains(calls(), "sbatch") {
		t.Errorf("after the end: %d, %v, calls\n%s", n, err, calls())
	}
}

// A sweep that is damaged, or that another version began, is not taken for one that is being worked on, nor for one that has ended
// well.
func TestNeverEnds(t *testing.T) {
	const active, succeeded = foiblev1.SweepState_SWEEP_STATE_RUNNING, foiblev1.SweepState_SWEEP_STATE_SUCCEEDED
	for want, m := range map[string]*foiblev1.Sweep{
		"": {SweepId: "s", State: active, Progress: &foiblev1.Progress{}},
		"sweep s is damaged: job 3 is lost; submit it again":  {SweepId: "s", State: active, Progress: &foiblev1.Progress{}, Damage: "job 3 is lost; submit it again"},
		"sweep s is damaged: 2 of its 9 results are lost":     {SweepId: "s", State: succeeded, Damage: "2 of its 9 results are lost"},
		"sweep s is damaged: its record is lost":              {SweepId: "s", Damage: "its record is lost"},
		"version v1 left sweep s unfinished; submit it again": {SweepId: "s", State: active, Version: "v1"},
	} {
		if err := neverEnds(m); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%v: %v, want %q", m, err, want)
		}
	}
	if err := neverEnds(&foiblev1.Sweep{State: succeeded}); err != nil {
		t.Error(err)
	}
}
