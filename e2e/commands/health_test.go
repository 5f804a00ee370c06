//go:build unix

package commands_test

import (
	"strings"
	"testing"

	"foible.dev/foible/e2e/harness"
)

// A probe hears of a coordinator that serves, and of one that does not.
func TestHealth(t *testing.T) {
	dir := t.TempDir()
	c := harness.NewCluster(t, dir, "data", "30s")
	c.Do("health")
	if got := harness.Do(t, dir, "health", "--coordinator", harness.FreeAddress(t), "--token-file", "data"); got.Code != 1 || !strings.Contains(got.Stderr, "no coordinator answers") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}
