//go:build unix

package commands_test

import (
	"testing"

	"foible.dev/foible/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
