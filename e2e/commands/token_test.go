//go:build unix

package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"foible.dev/foible/e2e/harness"
)

// A running coordinator, with its worker, follows what `foible token` does to its directory.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	c := harness.NewCluster(t, dir, "data", "30s")
	address := c.Flags[1]
	token := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(harness.Succeed(t, dir, append(append([]string{"token"}, args...), "--data", "data")...).Stdout)
	}
	keep := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	works := func(file string, want bool) {
		t.Helper()
		wantWorks(t, file, harness.Do(t, dir, "status", "--coordinator", address, "--token-file", file), want)
	}

	following := c.Worker() // reads the token from the directory
	shown := keep("shown", token("show", "worker"))
	left := harness.Start(t, dir, "worker", "--coordinator", address, "--token-file", shown)
	left.Says("connected")
	first := keep("first", token("show", "user"))
	works(first, true)
	guest := keep("guest", token("create", "user", "--read-only", "--expires", "1h"))
	works(guest, true)
	if got := harness.Do(t, dir, "submit", "block-words", "--coordinator", address, "--token-file", guest); got.Code != 1 || !strings.Contains(got.Stderr, "for reading only") {
		t.Errorf("submit of a reader: exit code %d\n%s", got.Code, got.Stderr)
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
	if code := left.Wait(); code != 1 || !strings.Contains(left.Stderr.String(), "the coordinator refuses it: the token ended on ") {
		t.Errorf("exit code %d:\n%s", code, left.Stderr.String())
	}
	following.Says(`(?s)connected.*connection lost.*connected`)

	// A worker of another coordinator does not wait for its own to come.
	stray := harness.Start(t, dir, "worker", "--coordinator", address, "--token-file", keep("stray", "foible-worker-"+harness.MadeUpToken))
	if code := stray.Wait(); code != 1 || !strings.Contains(stray.Stderr.String(), "what answers at "+address+" is not trusted: its certificate is not of the coordinator that made the token; ") {
		t.Errorf("exit code %d:\n%s", code, stray.Stderr.String())
	}

	at, user := "FOIBLE_COORDINATOR="+address, token("show", "user")
	harness.Succeed(t, dir, at, "FOIBLE_TOKEN_FILE=data", "status")
	harness.Succeed(t, dir, at, "FOIBLE_TOKEN="+user, "status")
	if got := harness.Do(t, dir, at, "FOIBLE_TOKEN="+user+"0", "status"); got.Code != 1 || !strings.HasPrefix(got.Stderr, "foible: FOIBLE_TOKEN: it is not a token") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}

	for _, p := range []*harness.Process{c.Coordinator, following, left} {
		p.Signal(syscall.SIGTERM)
		p.Wait()
		wantNoSecrets(t, p, dir, shown, first, second, guest, "data/access/user.token", "data/access/worker.token")
	}
}

// wantWorks expects a command with the token of a file to succeed, or to be refused for its token.
func wantWorks(t *testing.T, file string, got harness.Call, want bool) {
	t.Helper()
	if ok := got.Code == 0; ok != want || !ok && !strings.Contains(got.Stderr, "the token ") {
		t.Errorf("with %s: exit code %d\n%s", file, got.Code, got.Stderr)
	}
}

// wantNoSecrets expects a process not to have said the secret of any token in files of a directory.
func wantNoSecrets(t *testing.T, p *harness.Process, dir string, files ...string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if secret := strings.Split(string(text), "-")[2]; strings.Contains(p.Stderr.String(), secret) {
			t.Errorf("%s says the secret of %s:\n%s", p.Name, file, p.Stderr.String())
		}
	}
}

// Without encryption, everyone on the machine may call, and no token is asked for.
func TestInsecure(t *testing.T) {
	dir := t.TempDir()
	address := harness.FreeAddress(t)
	harness.Start(t, dir, "coordinator", "--insecure", "--listen", address).Says("listening")
	harness.Start(t, dir, "worker", "--insecure", "--coordinator", address).Says("connected")
	harness.Succeed(t, dir, "status", "--insecure", "--coordinator", address)
	if _, err := os.Stat(filepath.Join(dir, "foible-data", "access")); err == nil {
		t.Error("tokens were made")
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("foible-user-"+harness.MadeUpToken), 0o600); err != nil {
		t.Fatal(err)
	}
	got := harness.Do(t, dir, "status", "--token-file", "token", "--coordinator", address)
	if got.Code != 1 || !strings.Contains(got.Stderr, "does not speak TLS") {
		t.Errorf("with TLS: exit code %d\n%s", got.Code, got.Stderr)
	}
}
