package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a reader can hold in mind: lines and exported names of a package without its tests, lines of a function, parameters
// of a function.
const (
	mostPackageLines  = 2500
	mostExported      = 60
	mostFunctionLines = 80
	mostParameters    = 5
)

// TestSizes: packages and functions stay small, functions of tests too.
func TestSizes(t *testing.T) {
	lines, exported := map[string]int{}, map[string]int{}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".pb.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(path, "_test.go")
		if !test {
			lines[filepath.Dir(path)] += strings.Count(string(text), "\n")
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				checkFunction(t, files, f, test)
			}
			if !test {
				exported[filepath.Dir(path)] += exportedNames(decl)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range lines {
		if n > mostPackageLines || exported[dir] > mostExported {
			t.Errorf("%s has %d lines and %d exported names; at most %d and %d", dir, n, exported[dir], mostPackageLines, mostExported)
		}
	}
}

func checkFunction(t *testing.T, files *token.FileSet, f *ast.FuncDecl, test bool) {
	t.Helper()
	at := files.Position(f.Pos())
	if n := files.Position(f.End()).Line - at.Line + 1; n > mostFunctionLines {
		t.Errorf("%s: %s has %d lines; at most %d", at, f.Name.Name, n, mostFunctionLines)
	}
	parameters := 0
	for _, list := range f.Type.Params.List {
		parameters += max(1, len(list.Names))
	}
	if parameters > mostParameters && !test {
		t.Errorf("%s: %s has %d parameters; at most %d", at, f.Name.Name, parameters, mostParameters)
	}
}

// exportedNames counts the names of a package that a declaration exports; methods are not counted.
func exportedNames(decl ast.Decl) (n int) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}
