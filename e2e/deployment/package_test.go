//go:build unix

package deployment_test

import (
	"testing"

	"foible.dev/foible/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
