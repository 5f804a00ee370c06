package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// idioms are turns of phrase that users of Foible had to read twice, and what to write instead.
var idioms = map[string]string{
	`\bso many\b`:                "n, or as many as",
	`\bof which\b`:               "its, or whose",
	`\b(is|are|was) told\b`:      "is reported, or knows",
	`\btold from\b`:              "distinguished from",
	`\btold apart\b`:             "distinguished",
	`\bbeside\b`:                 "next to, or compared with",
	`\bwhom\b`:                   "who",
	`\bgiv(e|es|en) out\b`:       "scheduled, or started",
	`\bis too much\b`:            "unexpected argument",
	`\bjudged by people\b`:       "human judgements",
	`\bdraw all chance\b`:        "random seed",
	`\bleast level\b`:            "minimum level",
	`\bput sweeps side\b`:        "compare sweeps",
	`\balone\b`:                  "only, or by itself",
	`\bsay whether a study\b`:    "model and parameter recovery",
	`\bread the interval as\b`:   "say what is wrong with the interval",
	`\bcome(s)? to nothing\b`:    "say what happens",
	`\bwhat it is of\b`:          "say what it belongs to",
	`\bthe one that it was of\b`: "say what it belonged to",
}

var idiom = func() *regexp.Regexp {
	var all []string
	for pattern := range idioms {
		all = append(all, pattern)
	}
	return regexp.MustCompile("(?i)" + strings.Join(all, "|"))
}()

// What is read is in plain words: pages, templates, and the strings and comments of the program.
func TestPlainWords(t *testing.T) {
	texts := 0
	check := func(where, text string) {
		texts++
		for _, found := range idiom.FindAllString(text, -1) {
			advice := ""
			for pattern, instead := range idioms {
				if regexp.MustCompile("(?i)" + pattern).MatchString(found) {
					advice = instead
				}
			}
			t.Errorf("%s: %q; write %s: %.160q", where, found, advice, text)
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || path == "core/internal" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		switch name := d.Name(); {
		case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".html"), strings.HasSuffix(name, ".proto") && !strings.Contains(path, "buf/"):
			page, err := os.ReadFile(path)
			for i, line := range strings.Split(string(page), "\n") {
				check(path+":"+strconv.Itoa(i+1), line)
			}
			return err
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".pb.go"):
			return eachText(path, check)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 5000 {
		t.Errorf("only %d texts were read", texts)
	}
}

// eachText reads the string literals and the comments of a Go file.
func eachText(path string, check func(where, text string)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, line := range group.List {
			check(files.Position(line.Pos()).String(), line.Text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil && !strings.Contains(n.Tag.Value, "note:") { // of JSON, which is for programs
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text, _ := strconv.Unquote(n.Value)
				check(files.Position(n.Pos()).String(), text)
			}
		}
		return true
	})
	return nil
}
