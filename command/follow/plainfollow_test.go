package follow

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What commands print holds nothing that a terminal obeys, and each reason stays in the line that names it.
func TestProgressCommandsNoTerminal(t *testing.T) {
	stalled := commandtest.HostileSweep()
	stalled.Damage, stalled.WaitsFor = "", ""
	waiting := commandtest.HostileSweep()
	waiting.Damage, waiting.Stalled = "", ""
	failed := commandtest.HostileSweep()
	failed.State, failed.Damage = foiblev1.SweepState_SWEEP_STATE_FAILED, ""
	allSweeps := map[string]*foiblev1.Sweep{"damaged": commandtest.HostileSweep(), "stalled": stalled, "waiting": waiting, "failed": failed}
	for name, m := range allSweeps {
		for what, write := range map[string]func(e *terminal.Terminal){
			"status":  func(e *terminal.Terminal) { PrintSweep(e, m) },
			"lines":   func(e *terminal.Terminal) { newLines(e.Err).show(m) },
			"summary": func(e *terminal.Terminal) { e.Say("%s", summary(1, m, 0)) },
			"screen": func(e *terminal.Terminal) {
				s := newScreen(m.GetSweepId())
				s.width, s.height, s.sweep = 4000, 100, m
				_, _ = io.WriteString(terminal.Underlying(e.Out), s.View().Content)
			},
		} {
			commandtest.CheckPlain(t, name+": "+what, write)
		}
	}
}

// What is escaped in JSON means the same as before.
func TestPlainKeepsJSON(t *testing.T) {
	m := commandtest.HostileSweep()
	var got bytes.Buffer
	commandtest.CheckPlain(t, "status --json", func(e *terminal.Terminal) {
		if err := e.PrintJSON(NewSweepJSON(m)); err != nil {
			t.Error(err)
		}
	})
	if err := (&terminal.Terminal{Out: terminal.Plain(&got)}).PrintJSON(map[string]string{"reason": m.GetStalled()}); err != nil {
		t.Fatal(err)
	}
	var read map[string]string
	if err := json.Unmarshal(got.Bytes(), &read); err != nil || read["reason"] != strings.ToValidUTF8(commandtest.Hostile, "\ufffd") {
		t.Errorf("%v: %q", err, read)
	}
}
