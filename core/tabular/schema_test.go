package tabular_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/tabular"
)

var update = flag.Bool("update", false, "write docs/tables.md")

// docs/tables.md is what the code declares; each table and each column stands once, and each table is named in a page for users.
func TestTables(t *testing.T) {
	var b strings.Builder
	if err := tabular.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/tables.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != b.String() {
		t.Errorf("%s is not as the tables are (%v); write it again with -update", path, err)
	}
	var pages string
	for _, name := range []string{"guide.md", "statistics.md"} {
		page, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages += string(page)
	}
	var names []string
	for _, table := range tabular.Tables {
		if slices.Contains(names, table.Name) {
			t.Errorf("two tables are called %s", table.Name)
		}
		names = append(names, table.Name)
		if sorted := slices.Sorted(slices.Values(table.Columns)); len(slices.Compact(sorted)) != len(table.Columns) {
			t.Errorf("%s has a column twice: %v", table.Name, table.Columns)
		}
		if !strings.Contains(pages, "`"+table.Name+".csv`") {
			t.Errorf("neither docs/guide.md nor docs/statistics.md names %s.csv", table.Name)
		}
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.HasSuffix(line, "|  |") {
			t.Errorf("a column has no meaning: %s", line)
		}
	}
}
