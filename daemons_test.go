//go:build unix

package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible/internal/await"
)

// A coordinator that comes back at another address is found by those who read its address from a file.
func TestAddressFile(t *testing.T) {
	dir := t.TempDir()
	coordinator := func() *process {
		p := start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--data", "data", "--address-file", "address")
		p.says("listening")
		return p
	}
	first := coordinator()
	at := []string{"--coordinator-file", "address", "--token-file", "data"}
	w := start(t, dir, append([]string{"worker"}, at...)...)
	w.says("connected")
	address := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	before := address()
	first.kill()
	if got := do(t, dir, append([]string{"status"}, at...)...); got.code != 1 || !strings.Contains(got.stderr, "no coordinator answers at "+before+" (address)") {
		t.Errorf("status without a coordinator: exit code %d\n%s", got.code, got.stderr)
	}
	stranger, err := net.Listen("tcp", before) // has come to the address that was left
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	go func() {
		for {
			conn, err := stranger.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 stranger\r\n"))
			_ = conn.Close()
		}
	}()
	time.Sleep(time.Second)
	coordinator()
	w.says(`(?s)connected.*connection lost.*connected`)
	if address() == before {
		t.Errorf("the coordinator is at %s again", before)
	}
	succeed(t, dir, append([]string{"status"}, at...)...)

	for args, want := range map[string]string{
		"--coordinator-file nothing --token-file data":                 "no coordinator answers at the address that nothing is to hold; start it again where it keeps its data",
		"--coordinator-file address --insecure":                        "--insecure is for one machine, --coordinator-file for several; leave one out",
		"--coordinator-file address --token-file data --tls-ca system": "--tls-ca goes by the name of an address that stays, --coordinator-file is for one that changes; leave one out",
	} {
		if got := do(t, dir, append([]string{"status"}, strings.Fields(args)...)...); got.code == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("status %s: exit code %d\n%s", args, got.code, got.stderr)
		}
	}
}

// A worker leaves when its time has run out, in the middle of a job and though no coordinator answers.
func TestWorkerLeaves(t *testing.T) {
	t.Run("in the middle of a long cell", func(t *testing.T) {
		dir := t.TempDir()
		c := newCluster(t, dir, "data", "30s")
		w := c.startWorker("--drain", "1s")
		id := strings.TrimSpace(c.do("submit", "block-words", "--models", "full", "--method", "sips", "--particles", "150", "--runs", "40000").stdout)
		c.coordinator.says("sweep created")
		await.Until(t, "the worker to have a job", func() bool { return strings.Contains(c.do("status", id).stdout, ", 1 with workers,") }, w.stderr.String)
		w.signal(syscall.SIGTERM)
		if code := w.wait(); code != 0 {
			t.Errorf("exit code %d\n%s", code, w.stderr.String())
		}
		c.coordinator.says("worker drains: .*released=1")
	})
	t.Run("without a coordinator", func(t *testing.T) {
		dir := t.TempDir()
		c := newCluster(t, dir, "data", "30s")
		w := c.startWorker("--patience", "1s")
		time.Sleep(2 * time.Second) // a coordinator that answers has all the time
		c.coordinator.kill()
		if code := w.wait(); code != 1 || !strings.HasSuffix(w.stderr.String(), "\nfoible: no coordinator has answered at "+c.flags[1]+" for 1s; see that one runs there, or wait longer with --patience\n") {
			t.Errorf("exit code %d\n%s", code, w.stderr.String())
		}
	})
}

// startWorker starts a worker of one slot with more flags.
func (c *testCluster) startWorker(flags ...string) *process {
	c.t.Helper()
	p := start(c.t, c.dir, append(append([]string{"worker", "--slots", "1"}, c.flags...), flags...)...)
	p.says("connected")
	return p
}
