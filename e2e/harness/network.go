//go:build unix

package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"foible.dev/foible/internal/await"
)

// Network is a hub and a host far from it, between which the line can be cut: packets get lost without notice.
type Network struct {
	t        *testing.T
	Hub, Far Host
	Address  string // of the hub
}

func NewNetwork(t *testing.T) *Network {
	t.Helper()
	n := &Network{t: t, Address: "10.78.0.1"}
	name := fmt.Sprintf("foible%d", os.Getpid())
	n.Hub, n.Far = Host(name+"-hub"), Host(name+"-far")
	t.Cleanup(func() {
		for _, h := range []Host{n.Hub, n.Far} {
			_ = exec.Command("ip", "netns", "del", string(h)).Run() // it may not have been made
		}
	})
	hub, far := string(n.Hub), string(n.Far)
	for _, args := range []string{
		"netns add " + hub, "netns add " + far,
		"-n " + hub + " link set lo up", "-n " + far + " link set lo up",
		"-n " + hub + " link add switch type bridge", "-n " + hub + " addr add " + n.Address + "/24 dev switch", "-n " + hub + " link set switch up",
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

func (n *Network) Cut() { n.line("down") }

func (n *Network) Heal() { n.line("up") }

func (n *Network) line(state string) {
	n.t.Helper()
	if out, err := await.Output(n.t, exec.Command("ip", "-n", string(n.Hub), "link", "set", "line", state)); err != nil {
		n.t.Fatalf("%v %s", err, out)
	}
}
