package pddl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/published"
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

// The published files are read as they are; their oddities are warnings.
func TestPublishedWarnings(t *testing.T) {
	want := map[string]string{
		"block-words":     `domain.pddl:30:50: "(not" needs ":negative-preconditions", which (:requirements) does not list`,
		"doors-keys-gems": `domain.pddl:7:5: "(:derived" needs ":derived-predicates", which (:requirements) does not list`,

		"doors-keys-gems 1-2": `1-2.pddl:81:11: the domain has no predicate "loc": the fact is ignored`,
		"doors-keys-gems 2-1": `2-1.pddl:28:49: (wall 7 6) is stated twice`,
		"doors-keys-gems 4-1": `4-1.pddl:81:11: the domain has no predicate "loc": the fact is ignored`,
	}
	compare := func(name string, warnings []pddl.Warning) {
		var texts []string
		for _, w := range warnings {
			texts = append(texts, w.String())
		}
		if got := strings.Join(texts, "; "); got != want[name] {
			t.Errorf("%s: warnings %q, want %q", name, got, want[name])
		}
	}
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		d, problems := parsePublished(t, name)
		compare(name, d.Warnings)
		for stimulus, p := range problems {
			compare(name+" "+stimulus, p.Warnings)
		}
	}
}
