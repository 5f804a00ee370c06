//go:build linux

package clusters_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
)

// Two coordinators on three NATS servers, with three workers: a server and a coordinator are killed half-way, and a
// worker is cut off for longer than its lease. Nobody notices, and the outputs are those of a fit.
func TestReplicas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	net := harness.NewNetwork(t)
	servers := startServers(t, net.Hub, filepath.Join(dir, "nats"))

	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "fit"}, harness.SweepArgs)...)

	addresses := []string{net.Address + ":7411", net.Address + ":7412"}
	var coordinators []*harness.Process
	c := &harness.Cluster{T: t, Host: net.Hub, Dir: dir, Flags: []string{"--coordinator", strings.Join(addresses, ","), "--token-file", "data"}}
	for _, address := range addresses {
		c.Args = []string{"coordinator", "--listen", address, "--data", "data", "--lease", "3s", "--nats", servers.urls}
		c.Start()
		coordinators = append(coordinators, c.Coordinator)
	}
	c.Worker()
	c.Worker()
	far := c.WorkerOn(net.Far)

	id := c.Submit()
	watching := c.Host.Start(t, dir, append([]string{"watch", id}, c.Flags...)...)
	waiting := c.Host.Start(t, dir, slices.Concat([]string{"submit", "--wait"}, harness.SweepArgs, c.Flags)...) // it is there already
	watching.Says("cells ")
	waiting.Says("cells ")
	for i, address := range addresses { // each knows of the workers of both
		ask := func() string {
			return c.Host.Succeed(t, dir, "status", id, "--coordinator", address, "--token-file", "data").Stdout
		}
		await.Until(t, fmt.Sprintf("coordinator %d to know of all workers", i), func() bool { return strings.Contains(ask(), "; 3 workers with 3 slots") }, ask)
	}

	c.WaitFor(id, 1)
	servers.kill(2)
	coordinators[0].Kill() // that which users dial first
	jobs := strings.Count(far.Stderr.String(), "job done")
	far.Says(fmt.Sprintf(`(?s)(job done.*){%d}`, jobs+2)) // there are more, and it has one of them
	net.Cut()
	c.WaitFor(id, harness.SweepCells)
	net.Heal()
	far.Says("result was there already")

	for _, p := range []*harness.Process{watching, waiting} {
		if code := p.Wait(); code != 0 || strings.Contains(p.Stderr.String(), "does not answer") {
			t.Errorf("%s: exit code %d\n%s", p.Name, code, p.Stderr.String())
		}
	}
	if got := c.Do("status", id).Stdout; !regexp.MustCompile(` 0 failed, \d+ tried again; \d+ leases? lost, \d+ repeated results? refused\n`).MatchString(got) {
		t.Errorf("status says\n%s", got)
	}
	c.Do("results", id, "--out", "replicas")
	want, got := harness.Outputs(t, filepath.Join(dir, "fit")), harness.Outputs(t, filepath.Join(dir, "replicas"))
	if len(got) != len(want) {
		t.Errorf("%d files, not %d", len(got), len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	for _, p := range []*harness.Process{far, coordinators[1]} {
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(); code != 0 {
			t.Errorf("%s: exit code %d\n%s", p.Name, code, p.Stderr.String())
		}
	}
}

// natsServers are those of deploy/nats/three-servers.sh.
type natsServers struct {
	t    *testing.T
	host harness.Host
	dir  string
	urls string
}

func startServers(t *testing.T, h harness.Host, dir string) *natsServers {
	t.Helper()
	if out, err := await.Output(t, exec.Command("go", "build", "-o", filepath.Join(dir, "nats-server"), "github.com/nats-io/nats-server/v2")); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	s := &natsServers{t: t, host: h, dir: dir}
	t.Cleanup(func() { s.script("stop", dir) })
	s.urls = s.script("start", dir)
	return s
}

func (s *natsServers) script(args ...string) string {
	s.t.Helper()
	cmd := s.host.Command("bash", append([]string{"deploy/nats/three-servers.sh"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("three-servers.sh %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// kill ends a server without notice.
func (s *natsServers) kill(n int) {
	s.t.Helper()
	pid, err := strconv.Atoi(s.script("pid", fmt.Sprint(n), s.dir))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
