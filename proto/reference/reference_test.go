package reference

import (
	"flag"
	"os"
	"path/filepath"
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
	for name, want := range map[string]Field{
		"mc_se":                  {Path: "sweep.inference.mc_se", Type: "number", Rules: "above 0; at most 1"},
		"sweep.inference.method": {Path: "sweep.inference.method", Type: "text", Rules: "one of marginal, sips"},
		"budget_r":               {Path: "study.generating_parameters.budget_r", Type: "whole number"},
		"study.domain":           {Path: "study.domain", Type: "text", Rules: "required"},
	} {
		found, err := Of(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := found[0]; got.Path != want.Path || got.Type != want.Type || got.Rules != want.Rules {
			t.Errorf("%s is %q, %q, %q; want %q, %q, %q", name, got.Path, got.Type, got.Rules, want.Path, want.Type, want.Rules)
		}
	}
	if _, err := Of("nothing"); err == nil || !strings.Contains(err.Error(), "sweep.inference.method") {
		t.Errorf("a field that is not there: %v", err)
	}
	if below, err := Of("sweep.bootstrap"); err != nil || len(below) != 3 {
		t.Errorf("bootstrap has %d fields, want itself and two: %v", len(below), err)
	}
}
