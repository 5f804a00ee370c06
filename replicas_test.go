//go:build linux

package main_test

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

	"foible/internal/await"
)

// Two coordinators on three NATS servers, with three workers: a server and a coordinator are killed half-way, and a
// worker is cut off for longer than its lease. Nobody notices, and the outputs are those of a fit.
func TestReplicas(t *testing.T) {
	dir := t.TempDir()
	net := newNetwork(t)
	servers := startServers(t, net.hub, filepath.Join(dir, "nats"))

	succeed(t, dir, slices.Concat([]string{"fit", "--out", "fit"}, sweepArgs)...)

	addresses := []string{net.address + ":7411", net.address + ":7412"}
	var coordinators []*process
	c := &testCluster{t: t, host: net.hub, dir: dir, flags: []string{"--coordinator", strings.Join(addresses, ","), "--token-file", "data"}}
	for _, address := range addresses {
		c.args = []string{"coordinator", "--listen", address, "--data", "data", "--lease", "3s", "--nats", servers.urls}
		c.start()
		coordinators = append(coordinators, c.coordinator)
	}
	c.worker()
	c.worker()
	far := c.workerOn(net.far)

	id := c.submit()
	watching := c.host.start(t, dir, append([]string{"watch", id}, c.flags...)...)
	waiting := c.host.start(t, dir, slices.Concat([]string{"submit", "--wait"}, sweepArgs, c.flags)...) // it is there already
	watching.says("cells ")
	waiting.says("cells ")
	for i, address := range addresses { // each knows of the workers of both
		ask := func() string {
			return c.host.succeed(t, dir, "status", id, "--coordinator", address, "--token-file", "data").stdout
		}
		await.Until(t, fmt.Sprintf("coordinator %d to know of all workers", i), func() bool { return strings.Contains(ask(), "; 3 workers with 3 slots") }, ask)
	}

	c.waitFor(id, 1)
	servers.kill(2)
	coordinators[0].kill() // that which users dial first
	jobs := strings.Count(far.stderr.String(), "job done")
	far.says(fmt.Sprintf(`(?s)(job done.*){%d}`, jobs+2)) // there are more, and it has one of them
	net.cut()
	c.waitFor(id, sweepCells)
	net.heal()
	far.says("result was there already")

	for _, p := range []*process{watching, waiting} {
		if code := p.wait(); code != 0 || strings.Contains(p.stderr.String(), "does not answer") {
			t.Errorf("%s: exit code %d\n%s", p.name, code, p.stderr.String())
		}
	}
	if got := c.do("status", id).stdout; !regexp.MustCompile(` 0 failed, \d+ tried again; \d+ leases? lost, [1-9]\d* repeated results? refused\n`).MatchString(got) {
		t.Errorf("status says\n%s", got)
	}
	c.do("results", id, "--out", "replicas")
	want, got := outputs(t, filepath.Join(dir, "fit")), outputs(t, filepath.Join(dir, "replicas"))
	if len(got) != len(want) {
		t.Errorf("%d files, not %d", len(got), len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	for _, p := range []*process{far, coordinators[1]} {
		p.signal(syscall.SIGTERM)
		if code := p.wait(); code != 0 {
			t.Errorf("%s: exit code %d\n%s", p.name, code, p.stderr.String())
		}
	}
}

// network is a hub and a host far from it, between which the line can be cut: packets get lost, nobody is told.
type network struct {
	t        *testing.T
	hub, far host
	address  string // of the hub
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t, address: "10.78.0.1"}
	name := fmt.Sprintf("foible%d", os.Getpid())
	n.hub, n.far = host(name+"-hub"), host(name+"-far")
	t.Cleanup(func() {
		for _, h := range []host{n.hub, n.far} {
			_ = exec.Command("ip", "netns", "del", string(h)).Run() // it may not have been made
		}
	})
	hub, far := string(n.hub), string(n.far)
	for _, args := range []string{
		"netns add " + hub, "netns add " + far,
		"-n " + hub + " link set lo up", "-n " + far + " link set lo up",
		"-n " + hub + " link add switch type bridge", "-n " + hub + " addr add " + n.address + "/24 dev switch", "-n " + hub + " link set switch up",
		"-n " + hub + " link add line type veth peer name eth0 netns " + far, "-n " + hub + " link set line master switch up",
		"-n " + far + " addr add 10.78.0.2/24 dev eth0", "-n " + far + " link set eth0 up",
	} {
		out, err := await.Output(t, exec.Command("ip", strings.Fields(args)...))
		if err == nil {
			continue
		}
		why := fmt.Sprintf("no network namespaces: ip %s: %v %s; they need root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, and iproute2", args, err, out)
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return n
}

func (n *network) cut()  { n.line("down") }
func (n *network) heal() { n.line("up") }

func (n *network) line(state string) {
	n.t.Helper()
	if out, err := await.Output(n.t, exec.Command("ip", "-n", string(n.hub), "link", "set", "line", state)); err != nil {
		n.t.Fatalf("%v %s", err, out)
	}
}

// natsServers are those of deploy/nats/three-servers.sh.
type natsServers struct {
	t    *testing.T
	host host
	dir  string
	urls string
}

func startServers(t *testing.T, h host, dir string) *natsServers {
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
	cmd := s.host.command("bash", append([]string{"deploy/nats/three-servers.sh"}, args...)...)
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
