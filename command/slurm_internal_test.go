//go:build unix

package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
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
	e := &Env{Out: io.Discard, Err: io.Discard, Logger: hclog.NewNullLogger()}
	d := slurmDir(t.TempDir())
	r := &slurmRecord{Name: "foible-a", Jobs: []slurmJob{{Name: "foible-a-1", ID: "1"}}}
	if err := d.setRecord(r); err != nil {
		t.Fatal(err)
	}
	coordinators := *r // as the coordinator has read it at its start
	unlock, err := d.lock(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.setState(slurmEnded); err != nil {
		t.Fatal(err)
	}
	cancelled := make(chan error, 1)
	go func() { cancelled <- e.slurmCancelPending(t.Context(), d, &coordinators) }()
	time.Sleep(100 * time.Millisecond) // it is to wait, however long
	r.Jobs = append(r.Jobs, slurmJob{Name: "foible-a-2", ID: "2"}, slurmJob{Name: "foible-a-3"})
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

	n, err := e.slurmAdd(t.Context(), d, r, 5)
	if n != 0 || err != nil || strings.Contains(calls(), "sbatch") {
		t.Errorf("after the end: %d, %v, calls\n%s", n, err, calls())
	}
}
