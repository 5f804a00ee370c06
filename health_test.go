//go:build unix

package main_test

import (
	"strings"
	"testing"
)

// A probe hears of a coordinator that serves, and of one that does not.
func TestHealth(t *testing.T) {
	dir := t.TempDir()
	c := newCluster(t, dir, "data", "30s")
	c.do("health")
	if got := do(t, dir, "health", "--coordinator", freeAddress(t), "--token-file", "data"); got.code != 1 || !strings.Contains(got.stderr, "no coordinator answers") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}
