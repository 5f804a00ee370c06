package domains_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"foible.dev/foible/domains"
)

// folder is a study directory that a test may change: the sample study of a
// domain, with the domain's own PDDL and sweep beside it, as `foible sample` writes it.
type folder struct {
	fstest.MapFS
	t testing.TB
}

func sample(t testing.TB, domain string) folder {
	t.Helper()
	d, ok := domains.ByName(domain)
	if !ok {
		t.Fatalf("no domain %q", domain)
	}
	f := folder{fstest.MapFS{}, t}
	err := fs.WalkDir(d.Sample, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(d.Sample, name)
		f.write(name, string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.write("domain.pddl", string(d.PDDL))
	f.write("sweep.yaml", string(d.Sweep))
	f.swap("study.yaml", "stimuli: stimuli.csv\n", "domain_pddl: domain.pddl\nstimuli: stimuli.csv\n")
	return f
}

func (f folder) write(name, content string) { f.MapFS[name] = &fstest.MapFile{Data: []byte(content)} }

func (f folder) read(name string) string { return string(f.MapFS[name].Data) }

// swap replaces the first occurrence of a text in a file.
func (f folder) swap(name, old, to string) {
	f.t.Helper()
	if !strings.Contains(f.read(name), old) {
		f.t.Fatalf("%s has no %q", name, old)
	}
	f.write(name, strings.Replace(f.read(name), old, to, 1))
}
