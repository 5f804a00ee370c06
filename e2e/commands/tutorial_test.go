package commands_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"foible.dev/foible/e2e/harness"
)

// fence is a block of code in a page: what stands behind its ```, and the block.
var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// What the tutorial says can be done: its files are written and its commands run, in order, in an empty directory.
func TestTutorial(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, commands := 0, 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		kind, content := block[1], block[2]
		if _, name, ok := strings.Cut(kind, "title="); ok {
			path := filepath.Join(dir, strings.Trim(name, `"`))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			files++
		}
		if kind != "sh" {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(content), "\n") {
			args := strings.Fields(line)
			if args[0] != "foible" {
				t.Fatalf("a command that is not foible's: %s", line)
			}
			got := harness.Do(t, dir, args[1:]...)
			if got.Code != 0 {
				t.Errorf("%s: exit code %d\n%s\n%s", line, got.Code, got.Stdout, got.Stderr)
			}
			if strings.Contains(line, " check ") && !strings.HasSuffix(got.Stdout, "\n0 errors, 0 warnings, 2 notes\n") {
				t.Errorf("%s: %s%s", line, got.Stdout, got.Stderr)
			}
			commands++
		}
	}
	if files < 7 || commands < 4 {
		t.Errorf("%d files and %d commands are in the page", files, commands)
	}
	if report, err := os.ReadFile(filepath.Join(dir, "my-fit", "report.html")); err != nil || !strings.Contains(string(report), "My first study") {
		t.Errorf("the report: %v", err)
	}
}
