//go:build unix

package clusters_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
)

// A coordinator that comes back at another address is found by those who read its address from a file.
func TestAddressFile(t *testing.T) {
	dir := t.TempDir()
	coordinator := func() *harness.Process {
		p := harness.Start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--data", "data", "--address-file", "address")
		p.Says("listening")
		return p
	}
	first := coordinator()
	at := []string{"--coordinator-file", "address", "--token-file", "data"}
	w := harness.Start(t, dir, append([]string{"worker"}, at...)...)
	w.Says("connected")
	address := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	before := address()
	first.Kill()
	if got := harness.Do(t, dir, append([]string{"status"}, at...)...); got.Code != 1 || !strings.Contains(got.Stderr, "no coordinator answers at "+before+" (address)") {
		t.Errorf("status without a coordinator: exit code %d\n%s", got.Code, got.Stderr)
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
	w.Says(`(?s)connected.*connection lost.*connected`)
	if address() == before {
		t.Errorf("the coordinator is at %s again", before)
	}
	harness.Succeed(t, dir, append([]string{"status"}, at...)...)

	for args, want := range map[string]string{
		"--coordinator-file nothing --token-file data":                 "no coordinator answers at the address that nothing is to hold; start it again where it keeps its data",
		"--coordinator-file address --insecure":                        "--insecure is for one machine, --coordinator-file for several; leave one out",
		"--coordinator-file address --token-file data --tls-ca system": "--tls-ca goes by the name of an address that stays, --coordinator-file is for one that changes; leave one out",
	} {
		if got := harness.Do(t, dir, append([]string{"status"}, strings.Fields(args)...)...); got.Code == 0 || !strings.Contains(got.Stderr, want) {
			t.Errorf("status %s: exit code %d\n%s", args, got.Code, got.Stderr)
		}
	}
}

// A worker leaves when its time has run out, in the middle of a job and though no coordinator answers.
func TestWorkerLeaves(t *testing.T) {
	t.Run("in the middle of a long cell", func(t *testing.T) {
		dir := t.TempDir()
		c := harness.NewCluster(t, dir, "data", "30s")
		w := startWorker(t, c, "--drain", "1s")
		id := strings.TrimSpace(c.Do("submit", "block-words", "--models", "full", "--method", "sips", "--particles", "150", "--runs", "40000").Stdout)
		c.Coordinator.Says("sweep created")
		await.Until(t, "the worker to have a job", func() bool { return strings.Contains(c.Do("status", id).Stdout, ", 1 with workers,") }, w.Stderr.String)
		w.Signal(syscall.SIGTERM)
		if code := w.Wait(); code != 0 {
			t.Errorf("exit code %d\n%s", code, w.Stderr.String())
		}
		c.Coordinator.Says("worker drains: .*released=1")
	})
	t.Run("without a coordinator", func(t *testing.T) {
		dir := t.TempDir()
		c := harness.NewCluster(t, dir, "data", "30s")
		w := startWorker(t, c, "--patience", "1s")
		time.Sleep(2 * time.Second) // a coordinator that answers has all the time
		c.Coordinator.Kill()
		if code := w.Wait(); code != 1 || !strings.HasSuffix(w.Stderr.String(), "\nfoible: no coordinator has answered at "+c.Flags[1]+" for 1s; see that one runs there, or wait longer with --patience\n") {
			t.Errorf("exit code %d\n%s", code, w.Stderr.String())
		}
	})
}

// relay stands between workers and a coordinator.
type relay struct {
	address string
	to      string

	mu      sync.Mutex // guards what follows
	garbage bool       // the next connection is answered by something that is not TLS
	conns   []net.Conn
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := &relay{address: l.Addr().String(), to: to}
	t.Cleanup(r.cut)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
	return r
}

func (r *relay) serve(conn net.Conn) {
	defer conn.Close()
	r.mu.Lock()
	garbage := r.garbage
	r.garbage = false
	r.conns = append(r.conns, conn)
	r.mu.Unlock()
	if garbage {
		_, _ = conn.Read(make([]byte, 1)) // of the client's hello
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		return
	}
	there, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer there.Close()
	go func() { _, _ = io.Copy(there, conn); _ = there.Close() }()
	_, _ = io.Copy(conn, there)
}

// answerGarbage makes the next connection meet something that is not TLS.
func (r *relay) answerGarbage() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.garbage = true
}

// hasAnswered reports whether garbage was sent since.
func (r *relay) hasAnswered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.garbage
}

// cut closes all connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close()
	}
	r.conns = nil
}

// A worker that has been let in by its coordinator stays when a later handshake meets what is not TLS; one that meets
// that at first leaves and says so.
func TestWorkerStays(t *testing.T) {
	dir := t.TempDir()
	c := harness.NewCluster(t, dir, "data", "30s")
	r := newRelay(t, c.Flags[1])
	args := []string{"worker", "--slots", "1", "--coordinator", r.address, "--token-file", "data"}

	r.answerGarbage()
	stray := harness.Start(t, dir, args...)
	want := "foible: what answers at " + r.address + " does not speak TLS; if it is a coordinator that was started with --insecure, say --insecure here too\n"
	if code := stray.Wait(); code != 1 || !strings.HasSuffix(stray.Stderr.String(), want) {
		t.Errorf("before it was let in: exit code %d\n%s", code, stray.Stderr.String())
	}

	w := harness.Start(t, dir, args...)
	w.Says("connected")
	r.answerGarbage()
	r.cut()
	w.Says(`(?s)connected.*connection lost.*no coordinator answers; trying until one does: .*reason="what answers at \S+ does not speak TLS.*connected`)
	if !r.hasAnswered() {
		t.Error("nothing was answered that is not TLS")
	}
	w.Signal(syscall.SIGTERM)
	if code := w.Wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, w.Stderr.String())
	}
}

// A worker may be started before the coordinator's first start makes its token.
func TestWorkerWaitsForItsToken(t *testing.T) {
	dir := t.TempDir()
	address := harness.FreeAddress(t)
	args := []string{"worker", "--coordinator", address, "--token-file", "data"}
	leaver, w := harness.Start(t, dir, args...), harness.Start(t, dir, args...)
	for _, p := range []*harness.Process{leaver, w} {
		p.Says("there is no token yet; waiting for the coordinator to make it: file=data")
	}
	leaver.Signal(syscall.SIGTERM)
	if code := leaver.Wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, leaver.Stderr.String())
	}
	harness.Start(t, dir, "coordinator", "--listen", address, "--data", "data").Says("listening")
	w.Says("connected")

	impatient := harness.Start(t, dir, "worker", "--coordinator", address, "--token-file", "nothing", "--patience", "1s")
	want := "foible: --token-file nothing: no such file or directory; name the file that holds the token, or the coordinator's data directory\n"
	if code := impatient.Wait(); code != 1 || !strings.HasSuffix(impatient.Stderr.String(), want) {
		t.Errorf("without a token: exit code %d\n%s", code, impatient.Stderr.String())
	}
}

// startWorker starts a worker of one slot with more flags.
func startWorker(t *testing.T, c *harness.Cluster, flags ...string) *harness.Process {
	t.Helper()
	p := harness.Start(t, c.Dir, append(append([]string{"worker", "--slots", "1"}, c.Flags...), flags...)...)
	p.Says("connected")
	return p
}
