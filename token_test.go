//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A running coordinator, with its worker, follows what `foible token` does to its directory.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	c := newCluster(t, dir, "data", "30s")
	address := c.flags[1]
	token := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(succeed(t, dir, append(append([]string{"token"}, args...), "--data", "data")...).stdout)
	}
	keep := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	status := func(file string) call {
		t.Helper()
		return do(t, dir, "status", "--coordinator", address, "--token-file", file)
	}
	works := func(file string, want bool) {
		t.Helper()
		got := status(file)
		if ok := got.code == 0; ok != want || !ok && !strings.Contains(got.stderr, "the token ") {
			t.Errorf("with %s: exit code %d\n%s", file, got.code, got.stderr)
		}
	}

	following := c.worker() // reads the token from the directory
	shown := keep("shown", token("show", "worker"))
	left := start(t, dir, "worker", "--coordinator", address, "--token-file", shown)
	left.says("connected")
	first := keep("first", token("show", "user"))
	works(first, true)
	guest := keep("guest", token("create", "user", "--read-only", "--expires", "1h"))
	works(guest, true)
	if got := do(t, dir, "submit", "block-words", "--coordinator", address, "--token-file", guest); got.code != 1 || !strings.Contains(got.stderr, "for reading only") {
		t.Errorf("submit of a reader: exit code %d\n%s", got.code, got.stderr)
	}

	second := keep("second", token("rotate", "user", "--keep-old", "1h"))
	works(first, true)
	works(second, true)
	token("rotate", "user")
	works(first, false)
	works(second, false)
	works("data", true)

	list := token("list")
	for line := range strings.Lines(list) {
		if id, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "to read only") {
			token("revoke", id)
		}
	}
	works(guest, false)
	if again := token("list"); strings.Count(again, "has ended") != strings.Count(list, "has ended")+1 {
		t.Errorf("the list was\n%s\nand is\n%s", list, again)
	}

	// One worker takes the new token from where it had the old; the other ends, and says why.
	token("rotate", "worker")
	if code := left.wait(); code != 1 || !strings.Contains(left.stderr.String(), "the coordinator refuses it: the token ended on ") {
		t.Errorf("exit code %d:\n%s", code, left.stderr.String())
	}
	following.says(`(?s)connected.*connection lost.*connected`)

	// A worker of another coordinator does not wait for its own to come.
	stray := start(t, dir, "worker", "--coordinator", address, "--token-file", keep("stray", "foible-worker-"+madeUp))
	if code := stray.wait(); code != 1 || !strings.Contains(stray.stderr.String(), "what answers at "+address+" is not trusted: its certificate is not of the coordinator that made the token; ") {
		t.Errorf("exit code %d:\n%s", code, stray.stderr.String())
	}

	at := "FOIBLE_COORDINATOR=" + address
	succeed(t, dir, at, "FOIBLE_TOKEN_FILE=data", "status")
	succeed(t, dir, at, "FOIBLE_TOKEN="+token("show", "user"), "status")
	if got := do(t, dir, at, "FOIBLE_TOKEN="+token("show", "user")+"0", "status"); got.code != 1 || !strings.HasPrefix(got.stderr, "foible: FOIBLE_TOKEN: it is not a token") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}

	for _, p := range []*process{c.coordinator, following, left} {
		p.signal(syscall.SIGTERM)
		p.wait()
		for _, file := range []string{shown, first, second, guest, "data/access/user.token", "data/access/worker.token"} {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if secret := strings.Split(string(text), "-")[2]; strings.Contains(p.stderr.String(), secret) {
				t.Errorf("%s says the secret of %s:\n%s", p.name, file, p.stderr.String())
			}
		}
	}
}

// Without encryption, everyone on the machine may call, and no token is asked for.
func TestInsecure(t *testing.T) {
	dir := t.TempDir()
	address := freeAddress(t)
	start(t, dir, "coordinator", "--insecure", "--listen", address).says("listening")
	start(t, dir, "worker", "--insecure", "--coordinator", address).says("connected")
	succeed(t, dir, "status", "--insecure", "--coordinator", address)
	if _, err := os.Stat(filepath.Join(dir, "foible-data", "access")); err == nil {
		t.Error("tokens were made")
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("foible-user-"+madeUp), 0o600); err != nil {
		t.Fatal(err)
	}
	got := do(t, dir, "status", "--token-file", "token", "--coordinator", address)
	if got.code != 1 || !strings.Contains(got.stderr, "does not speak TLS") {
		t.Errorf("with TLS: exit code %d\n%s", got.code, got.stderr)
	}
}
