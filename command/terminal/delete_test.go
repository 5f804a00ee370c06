package terminal

import (
	"strings"
	"testing"
)

func TestConfirmed(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\n": true, "yes\n": true, " YES \r\n": true, "y": true,
		"": false, "\n": false, "n\n": false, "no\n": false, "yess\n": false, "ye\n": false, "x\ny\n": false,
	} {
		var out strings.Builder
		if got := Confirmed(strings.NewReader(answer), &out, "Delete 2 sweeps?"); got != want || out.String() != "Delete 2 sweeps? [y/N] " {
			t.Errorf("%q: %v, %q", answer, got, out.String())
		}
	}
}
