package sweeps

import (
	"testing"

	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What commands print holds nothing that a terminal obeys, and each reason stays in the line that names it.
func TestListCommandsNoTerminal(t *testing.T) {
	stalled := commandtest.HostileSweep()
	stalled.Damage, stalled.WaitsFor = "", ""
	waiting := commandtest.HostileSweep()
	waiting.Damage, waiting.Stalled = "", ""
	failed := commandtest.HostileSweep()
	failed.State, failed.Damage = foiblev1.SweepState_SWEEP_STATE_FAILED, ""
	allSweeps := map[string]*foiblev1.Sweep{"damaged": commandtest.HostileSweep(), "stalled": stalled, "waiting": waiting, "failed": failed}
	for name, m := range allSweeps {
		commandtest.CheckPlain(t, name+": list", func(e *terminal.Terminal) { printSweeps(e, []*foiblev1.Sweep{m, m}) })
	}
}
