//go:build unix

package commands_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
)

// withUmask makes processes that the test starts create files with a umask.
func withUmask(t *testing.T, umask int) {
	t.Helper()
	before := syscall.Umask(umask)
	t.Cleanup(func() { syscall.Umask(before) })
}

// What holds secrets or participants' answers is its owner's alone, whatever the umask.
func TestPrivateFiles(t *testing.T) {
	for _, umask := range []int{0o022, 0} {
		t.Run(fmt.Sprintf("umask %03o", umask), func(t *testing.T) {
			dir := t.TempDir()
			harness.SlurmQueue(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "bin", "kubectl"), []byte("#!/bin/sh\necho 'kind: Nothing'\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			withUmask(t, umask)
			harness.Start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--web", "off").Says("listening")
			for _, args := range []string{
				"token show user --out user.token", "token show worker --out worker.token",
				"token create user --read-only --out guest.token", "token rotate user --keep-old 1h --out new.token",
				"cluster kubernetes render --image registry.example.org/foible:1 --nats --secrets --out manifests.yaml",
			} {
				if got := harness.Succeed(t, dir, strings.Fields(args)...); got.Stdout != "" {
					t.Errorf("foible %s prints\n%s", args, got.Stdout)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, "foible-data")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the coordinator's directory: %v, %v", info.Mode(), err)
			}
			private := []string{"user.token", "worker.token", "guest.token", "new.token", "manifests.yaml", "foible-data/access", "foible-kubernetes"}

			sweep := slices.Concat([]string{"cluster", "slurm", "submit"}, harness.ShortSweep)
			harness.Succeed(t, dir, append(sweep, "--dir", "sweep")...)
			harness.Succeed(t, dir, "cluster", "slurm", "worker", "--dir", "sweep") // until it is dismissed
			untilThere(t, filepath.Join(dir, "sweep", "results", "manifest.json"))
			private = append(private, "sweep")

			harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "fit"}, harness.ShortSweep)...)
			private = append(private, "fit/.foible")
			if info, err := os.Stat(filepath.Join(dir, "fit", ".foible")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("what fit has recorded: %v, %v", info.Mode(), err)
			}
			for _, path := range private[:len(private)-1] {
				for _, file := range harness.Exposed(t, filepath.Join(dir, path)) {
					t.Errorf("others can read %s", file)
				}
			}

			// Shared by all on the cluster, but for the tokens.
			harness.Succeed(t, dir, append(sweep, "--dir", "shared", "--share", "--seed", "2")...)
			t.Cleanup(func() { harness.Do(t, dir, "cluster", "slurm", "stop", "--dir", "shared") })
			for _, name := range []string{".", "study.zip", "slurm.json", "logs"} {
				if info, err := os.Stat(filepath.Join(dir, "shared", name)); err != nil || info.Mode().Perm()&0o004 == 0 {
					t.Errorf("others cannot read shared/%s: %v, %v", name, info, err)
				}
			}
			for _, name := range []string{"access", "data"} {
				if info, err := os.Stat(filepath.Join(dir, "shared", name)); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("others can read shared/%s: %v, %v", name, info, err)
				}
			}
			if got := harness.Do(t, dir, append(sweep, "--dir", "shared", "--share=false", "--seed", "2")...); got.Code != 1 || !strings.Contains(got.Stderr, "--share is false and was true") {
				t.Errorf("not shared any more: exit code %d\n%s", got.Code, got.Stderr)
			}
		})
	}
}

// untilThere waits for a file.
func untilThere(t *testing.T, path string) {
	t.Helper()
	const limit = 3 * time.Minute
	for deadline := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not there within %v", path, limit)
		}
	}
}

// Files of tokens and keys that others can read are warned of, and refused with --strict.
func TestStrict(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Dir(dir), dir} { // others may enter, else nothing in it could be read
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := harness.NewCluster(t, dir, "data", "30s")
	address := c.Flags[1]
	harness.Succeed(t, dir, "token", "show", "user", "--data", "data", "--out", "user.token")
	harness.Succeed(t, dir, "token", "show", "worker", "--data", "data", "--out", "worker.token")
	status := []string{"status", "--coordinator", address, "--token-file", "user.token"}
	if got := harness.Succeed(t, dir, append(status, "--strict")...); strings.Contains(got.Stderr, "others") {
		t.Errorf("a token that is private: %s", got.Stderr)
	}
	for _, name := range []string{"user.token", "worker.token", "data/access/ca.key", "data/access", "data"} {
		mode := fs.FileMode(0o644)
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			mode = 0o755
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	said := "others on this machine can read user.token (mode 644)"
	if got := harness.Succeed(t, dir, status...); !strings.HasPrefix(got.Stderr, "Warning: "+said+"; chmod 600 user.token\n") {
		t.Errorf("a token that others can read: %s", got.Stderr)
	}
	if got := harness.Do(t, dir, append(status, "--strict")...); got.Code != 1 || !strings.HasPrefix(got.Stderr, "foible: "+said+", which --strict refuses; `chmod 600 user.token`") {
		t.Errorf("with --strict: exit code %d\n%s", got.Code, got.Stderr)
	}
	if got := harness.Do(t, dir, "FOIBLE_TOKEN_FILE=user.token", "list", "--coordinator", address, "--strict"); got.Code != 1 {
		t.Errorf("the file of the environment: exit code %d\n%s", got.Code, got.Stderr)
	}
	w := harness.Start(t, dir, "worker", "--coordinator", address, "--token-file", "worker.token", "--log-format", "json")
	w.Says(`"others on this machine can read worker.token \(mode 644\); chmod 600 worker.token"(?s:.*)connected`)
	for _, args := range []string{
		"worker --token-file worker.token --coordinator " + address, "token list --data data",
		"coordinator --data data", "coordinator --data other --tls-cert data/access/ca.crt --tls-key data/access/ca.key",
		"coordinator --data other --nats a:4222 --nats-login user.token", "coordinator --data other --nats a:4222 --nats-creds user.token",
		"cluster kubernetes render --image a/b:1 --data data",
	} {
		if got := harness.Do(t, dir, append(strings.Fields(args), "--strict")...); got.Code != 1 || !strings.Contains(got.Stderr, "others on this machine can read ") {
			t.Errorf("foible %s --strict: exit code %d\n%s", args, got.Code, got.Stderr)
		}
	}
	// A directory that others cannot enter shelters what is in it.
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "user.token"), filepath.Join(dir, "mine", "user.token")); err != nil {
		t.Fatal(err)
	}
	if got := harness.Succeed(t, dir, "status", "--coordinator", address, "--token-file", "mine/user.token", "--strict"); strings.Contains(got.Stderr, "others") {
		t.Errorf("in a private directory: %s", got.Stderr)
	}

	withUmask(t, 0o022)
	cmd := exec.Command("sh", "-c", `"$0" token show user --data data >printed`, harness.Foible)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "others on this machine can read the file that this is written to (mode 644); --out FILE makes one that only you can read.") {
		t.Errorf("%v %s", err, out)
	}
}
