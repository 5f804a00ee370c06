package browser_test

import (
	"os"
	"path/filepath"
	"testing"
)

// The pages that fit and report write are read alone, from a file, by all: on a desk and on a phone.
func TestReports(t *testing.T) {
	b, source, dir := newTab(t), axe(t), t.TempDir()
	for _, seed := range []string{"1", "2"} {
		foible(t, dir, "fit", "--models", "boltzmann,plan-lesioned", "--set", "alpha=0.5,1,2", "--seed", seed, "--out", "sweep-"+seed)
	}
	foible(t, dir, "report", "sweep-1", "sweep-2", "--out", "compared")
	for name, path := range map[string]string{"report": "sweep-1/report.html", "comparison": "compared/comparison.html"} {
		b.open("file://" + filepath.Join(dir, path))
		b.accessible(name, source)
		if n := evaluate[int](b, "document.scripts.length"); n > 0 {
			t.Errorf("%s has %d scripts", name, n)
		}
		page, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d kB", name, len(page)/1000)
	}
}
