package limits_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"foible.dev/foible/coordinator/limits"
)

// Every limit has a flag of its own, must be positive, and is documented with its default.
func TestLimitsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := limits.Default()
	seen := map[string]bool{}
	for i, row := range all.Table() {
		if seen[row.Flag] {
			t.Errorf("--%s is there twice", row.Flag)
		}
		seen[row.Flag] = true
		if want := fmt.Sprintf("| `--%s` | %s | %s |", row.Flag, row.Value, strings.ReplaceAll(row.Meaning, "`", "")); !strings.Contains(string(text), want) {
			t.Errorf("docs/operations.md lacks the line\n%s", want)
		}
		spoiled := limits.Default()
		value := spoiled.Table()[i].Value
		_ = value.Set("0") // it may be refused at once, and is 0 then too
		if err := spoiled.Validate(); err == nil || !strings.Contains(err.Error(), "--"+row.Flag) {
			t.Errorf("--%s 0: %v", row.Flag, err)
		}
		again := limits.Default()
		if err := again.Table()[i].Value.Set(row.Value.String()); err != nil || again.Table()[i].Value.String() != row.Value.String() {
			t.Errorf("--%s: its default, %s, is read as %s, %v", row.Flag, row.Value, again.Table()[i].Value, err)
		}
		if again.Table()[i].Value.Set("nonsense") == nil {
			t.Errorf("--%s takes nonsense", row.Flag)
		}
	}
	for spoil, want := range map[string]func(*limits.Limits){
		"must be at most 64 MiB": func(l *limits.Limits) { l.StudyBytes, l.TransferBytes = 1<<30, 1<<30 },
		"--max-transfer-bytes":   func(l *limits.Limits) { l.TransferBytes = l.StudyBytes - 1 },
		"--max-sweep-bytes":      func(l *limits.Limits) { l.SweepBytes = 1 << 30 },
	} {
		l := limits.Default()
		want(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), spoil) {
			t.Errorf("%v, want %q", err, spoil)
		}
	}
}
