//go:build unix

package serve

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/internal/await"
)

// A service manager hears that a coordinator serves when its tokens are there.
func TestNotifyReady(t *testing.T) {
	t.Setenv(notifySocket, filepath.Join(t.TempDir(), "n"))
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	if err := notifyReady(); err == nil {
		t.Error("it was told, and is not there")
	}
	t.Setenv(notifySocket, manager.LocalAddr().String())
	data := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	e := &terminal.Terminal{Logger: hclog.NewNullLogger()}
	go func() {
		ran <- Coordinator(ctx, e, CoordinatorOptions{Listen: "127.0.0.1:0", Data: data, Lease: DefaultLease, Limits: DefaultLimits()})
	}()
	if err := manager.SetReadDeadline(time.Now().Add(await.Patience)); err != nil {
		t.Fatal(err)
	}
	heard := make([]byte, 100)
	n, err := manager.Read(heard)
	if err != nil || string(heard[:n]) != "READY=1" {
		t.Errorf("heard %q, %v", heard[:n], err)
	}
	for _, kind := range []access.Kind{access.Worker, access.User} {
		if _, err := access.ReadToken(access.TokenFile(data, kind)); err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := await.Value(t, ran, "the coordinator to stop"); err != nil {
		t.Error(err)
	}
	t.Setenv(notifySocket, "")
	if err := notifyReady(); err != nil {
		t.Errorf("without a manager: %v", err)
	}
}
