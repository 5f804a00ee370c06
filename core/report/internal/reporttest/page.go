package reporttest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write the golden files")

// Drawing is what stands in an SVG element besides its title and description.
var Drawing = regexp.MustCompile(`(?s)</desc>.*?</svg>`)

// Golden compares a text with a file in testdata; read what -update writes before accepting it.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		lines, old := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(lines), len(old)) {
			if lines[i] != old[i] {
				t.Fatalf("%s:%d is\n%s\nwant\n%s", path, i+1, lines[i], old[i])
			}
		}
		t.Fatalf("%s: %d lines, want %d", path, len(lines), len(old))
	}
}

// CheckPage says what keeps a page from being read by itself, by everybody.
func CheckPage(t *testing.T, name, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]int{}, []string{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"script", "img", "link", "iframe", "object", "embed", "use"}, n.Data) {
			t.Errorf("%s has an element %s", name, n.Data)
		}
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href":
				links = append(links, a.Val)
			case a.Key == "src" || strings.HasPrefix(a.Key, "on") || strings.Contains(a.Val, "url("):
				t.Errorf("%s: %s has %s=%q", name, n.Data, a.Key, a.Val)
			}
		}
		switch n.Data {
		case "svg":
			part := false // of a figure
			for up := range n.Ancestors() {
				part = part || up.Data == "svg"
			}
			if !part && (attributes["role"] != "img" || attributes["aria-label"] == "") {
				t.Errorf("%s: a figure without a text in its place: %v", name, attributes)
			}
		case "th":
			if attributes["scope"] == "" {
				t.Errorf("%s: a heading of a table without scope", name)
			}
		case "table":
			if c := n.FirstChild; c == nil || c.NextSibling == nil || c.NextSibling.Data != "caption" {
				t.Errorf("%s: a table without caption", name)
			}
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%s: id %q is there %d times", name, id, n)
		}
	}
	for _, link := range links {
		if target, ok := strings.CutPrefix(link, "#"); !ok || ids[target] != 1 {
			t.Errorf("%s: a link to %q", name, link)
		}
	}
	if strings.Contains(page, "@import") || strings.Contains(page, "ZgotmplZ") || strings.Count(page, "<html") != 1 {
		t.Errorf("%s: not one page, or one that needs others", name)
	}
}
