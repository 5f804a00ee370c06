package pddl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foible/core/pddl"
	"foible/core/published"
)

// parsePublished parses a published domain and its problems, by stimulus name.
func parsePublished(t testing.TB, name string) (*pddl.Domain, map[string]*pddl.Problem) {
	t.Helper()
	dir := filepath.Join(published.Dir(t), "mistakes-2021", name)
	d, err := pddl.ParseDomain("domain.pddl", readFile(t, filepath.Join(dir, "domain.pddl")))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "problems", "*.pddl"))
	if err != nil || len(paths) != 16 {
		t.Fatalf("%d problems (%v), want 16", len(paths), err)
	}
	problems := map[string]*pddl.Problem{}
	for _, path := range paths {
		base := filepath.Base(path)
		p, err := pddl.ParseProblem(base, readFile(t, path), d)
		if err != nil {
			t.Fatal(err)
		}
		problems[strings.TrimSuffix(base, ".pddl")] = p
	}
	return d, problems
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestPublishedParses(t *testing.T) {
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		d, problems := parsePublished(t, name)
		t.Logf("%v", d.Warnings)
		t.Logf("%s", d)
		for _, p := range problems {
			if len(p.Warnings) > 0 {
				t.Logf("%v", p.Warnings)
			}
		}
		t.Logf("%s", problems["1-2"])
	}
}
