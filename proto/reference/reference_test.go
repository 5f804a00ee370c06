package reference

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages of docs/reference")

// The committed pages are those of the program.
func TestPages(t *testing.T) {
	all, err := Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		path := filepath.Join("..", "..", "docs", "reference", strings.TrimSuffix(d.Name, ".yaml")+".md")
		if *update {
			if err := os.WriteFile(path, []byte(d.Markdown()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		committed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(committed) != d.Markdown() {
			t.Errorf("%s is not that of the program: go test ./proto/reference -update", path)
		}
	}
}

// Every key has a meaning, and rules are those of the .proto files.
func TestFields(t *testing.T) {
	all, err := Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		for _, f := range d.Fields {
			if f.About == "" || f.Type == "" {
				t.Errorf("%s: %s has no meaning or no type", d.Name, f.Path)
			}
		}
	}
	for _, want := range []struct {
		document int
		Field
	}{
		{1, Field{Path: "inference.mc_se", Type: "number", Rules: "above 0; at most 1"}},
		{1, Field{Path: "inference.method", Type: "text", Rules: "one of marginal, sips"}},
		{1, Field{Path: "models.NAME.budget_r", Type: "whole number, or a list", Rules: "at least 1; at most 10000; default 2, 4"}},
		{0, Field{Path: "generating_parameters.budget_r", Type: "whole number"}},
		{0, Field{Path: "domain", Type: "text", Rules: "required"}},
	} {
		d := all[want.document]
		i := slices.IndexFunc(d.Fields, func(f Field) bool { return f.Path == want.Path })
		if i < 0 {
			t.Errorf("%s has no key %s", d.Name, want.Path)
			continue
		}
		if got := d.Fields[i]; got.Type != want.Type || got.Rules != want.Rules {
			t.Errorf("%s is %q, %q; want %q, %q", want.Path, got.Type, got.Rules, want.Type, want.Rules)
		}
	}
}
