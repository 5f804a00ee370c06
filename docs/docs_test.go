// Package docs_test holds what the documentation says against the code.
package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/domains"
)

// root is the root of the repository, seen from this package.
const root = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// table returns the cells of the first table below a heading, without its head.
func table(t *testing.T, page, heading string) [][]string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	var rows [][]string
	for line := range strings.SplitSeq(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			if rows != nil || strings.HasPrefix(line, "## ") {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("there is no table below %q", heading)
	}
	return rows[2:]
}

// code is a text in backticks.
var code = regexp.MustCompile("`([^`]+)`")

// codes are the texts in backticks of a cell.
func codes(cell string) []string {
	var all []string
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// walk calls visit with each file of the repository, but for those that are hidden, vendored or generated.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		hidden := strings.HasPrefix(name, ".") && name != ".." && name != ".ci"
		if d.IsDir() && (hidden || name == "node_modules" || name == "site" || name == "testdata") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() && !hidden && !strings.HasSuffix(name, ".pb.go") {
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every construct that pddl.md says is read is read and grounded, and every one that it says is refused is refused.
func TestPDDL(t *testing.T) {
	page := read(t, "pddl.md")
	for heading, accepted := range map[string]bool{"## What is read": true, "## What is refused": false} {
		for _, row := range table(t, page, heading) {
			construct, where, example := row[0], row[1], strings.Trim(row[2], "`")
			t.Run(construct, func(t *testing.T) {
				if err := load(where, example); (err == nil) != accepted {
					t.Errorf("%s in a %s: error %v", example, where, err)
				}
			})
		}
	}
}

// load parses and grounds a small task with an example in it.
func load(where, example string) error {
	part := map[string]string{"precondition": "()", "effect": "()", where: example}
	sections := []string{
		"(:types thing place vehicle house)", "(:predicates (red ?x) (on ?x ?y) (cell ?x ?y) (above ?a ?b - object))",
		"(:functions (load) (weight ?x))", "(:derived (above ?a ?b) (on ?a ?b))",
		"(:action act :parameters (?x ?y) :precondition " + part["precondition"] + " :effect " + part["effect"] + ")",
	}
	if domain := part["domain"]; domain != "" {
		if kind, _, _ := strings.Cut(domain, " "); kind != "(:action" { // it takes the place of the one above
			sections = slices.DeleteFunc(sections, func(s string) bool { return strings.HasPrefix(s, kind+" ") })
		}
		sections = append(sections, domain)
	}
	d, err := pddl.ParseDomain("domain.pddl", []byte("(define (domain d) "+strings.Join(sections, "\n")+")"))
	if err != nil {
		return err
	}
	init := "(= (load) 1) (= (weight a) 1) (= (weight b) 2)"
	if part["init"] != "" {
		init = part["init"] + " (= (weight b) 2)"
	}
	p, err := pddl.ParseProblem("problem.pddl", []byte("(define (problem p) (:domain d) (:objects a b) (:init "+init+") "+part["problem"]+")"), d)
	if err != nil {
		return err
	}
	goal, err := pddl.ParseGoal("goal", []byte("(red a)"), p)
	if err != nil {
		return err
	}
	_, err = ground.New(p, []pddl.Formula{goal})
	return err
}

// block is a block of code with a title.
var block = regexp.MustCompile("(?ms)^```([a-z]+) title=\"([^\"]+)\"\n(.*?)^```$")

// The problems of the guide are problems of the built-in domains, and its plans solve them.
func TestGuide(t *testing.T) {
	problems, plans := map[string]*pddl.Problem{}, map[string]string{}
	for _, m := range block.FindAllStringSubmatch(read(t, "guide.md"), -1) {
		name, content := m[2], m[3]
		if m[1] != "pddl" {
			plans[name] = content
			continue
		}
		_, domain, _ := strings.Cut(content, "(:domain ")
		domain, _, _ = strings.Cut(domain, ")")
		built, ok := domains.ByName(domain)
		if !ok {
			t.Fatalf("%s is of the domain %q", name, domain)
		}
		d, err := pddl.ParseDomain("domain.pddl", built.PDDL)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pddl.ParseProblem(name, []byte(content), d)
		if err != nil {
			t.Fatal(err)
		}
		if w := append(p.Warnings, built.Check(p)...); len(w) > 0 {
			t.Errorf("%s: %v", name, w)
		}
		problems[strings.TrimSuffix(name, ".pddl")] = p
	}
	for name, content := range plans {
		p := problems[strings.TrimSuffix(name, ".plan")]
		if p == nil {
			t.Errorf("%s is of no problem", name)
			continue
		}
		task, err := ground.New(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pddl.ParsePlan(name, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := task.Validate(plan); err != nil {
			t.Error(err)
		}
	}
	if len(problems) < 2 || len(plans) < 2 {
		t.Errorf("the guide has %d problems and %d plans", len(problems), len(plans))
	}
}

// goFiles parses all Go files, those of tests on demand.
func goFiles(t *testing.T, under string, tests bool) []*ast.File {
	t.Helper()
	var all []*ast.File
	walk(t, func(path string) {
		inside, err := filepath.Rel(root, path)
		if err != nil || !strings.HasSuffix(path, ".go") || !strings.HasPrefix(inside, under) || !tests && strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	})
	return all
}

// literals calls visit with each text in the code.
func literals(files []*ast.File, visit func(text string)) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					visit(text)
				}
			}
			return true
		})
	}
}

// saidInCode checks that each message is a part of a text in the code.
func saidInCode(t *testing.T, files []*ast.File, page string, messages []string) {
	t.Helper()
	said := map[string]bool{}
	literals(files, func(text string) {
		for _, m := range messages {
			if strings.Contains(text, m) {
				said[m] = true
			}
		}
	})
	for _, m := range messages {
		if !said[m] {
			t.Errorf("%s quotes a message that the program does not have: %q", page, m)
		}
	}
}

// The warnings of statistics.md are those of the program: each kind has a row, and each row quotes a message.
func TestWarnings(t *testing.T) {
	files := goFiles(t, "core", false)
	kinds := map[string]bool{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 || !strings.HasSuffix(v.Names[0].Name, "Warning") {
				return true
			}
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				kinds[strings.Trim(l.Value, `"`)] = true
			}
			return true
		})
	}
	if len(kinds) < 10 {
		t.Fatalf("the code has %d kinds of warnings: has the way they are declared changed?", len(kinds))
	}
	documented := map[string]bool{}
	var messages []string
	for _, row := range table(t, read(t, "statistics.md"), "## Warnings") {
		kind := strings.Trim(row[1], "`")
		if documented[kind] = true; !kinds[kind] {
			t.Errorf("statistics.md has a warning that the program does not give: %s", kind)
		}
		messages = append(messages, codes(row[0])...)
	}
	for kind := range kinds {
		if !documented[kind] {
			t.Errorf("statistics.md lacks a warning: %s", kind)
		}
	}
	saidInCode(t, files, "statistics.md", messages)
}

// The messages that faq.md explains are those of the program.
func TestTrouble(t *testing.T) {
	var messages []string
	for _, row := range table(t, read(t, "faq.md"), "## Trouble") {
		messages = append(messages, codes(row[0])...)
	}
	saidInCode(t, goFiles(t, "", false), "faq.md", messages)
}

// The map of development.md has every package, and no other.
func TestMap(t *testing.T) {
	out, err := exec.Command("go", "list", root+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]bool{}
	module := ""
	for path := range strings.FieldsSeq(string(out)) {
		if module == "" || len(path) < len(module) {
			module = path
		}
	}
	for path := range strings.FieldsSeq(string(out)) {
		packages[strings.TrimPrefix(strings.TrimPrefix(path, module), "/")] = true
	}
	documented := map[string]bool{}
	for _, row := range table(t, read(t, "development.md"), "## Map of the packages") {
		for _, path := range codes(row[0]) {
			documented[strings.TrimPrefix(path, ".")] = true
		}
	}
	for path := range packages {
		if !documented[path] {
			t.Errorf("the map in development.md lacks the package %q", path)
		}
	}
	for path := range documented {
		if !packages[path] {
			t.Errorf("the map in development.md has %q, which is no package", path)
		}
	}
}

// Every environment variable that code, scripts and manifests name is in development.md.
func TestEnvironmentVariables(t *testing.T) {
	page := read(t, "development.md")
	variable := regexp.MustCompile(`\bFOIBLE_[A-Z0-9_]*[A-Z0-9]\b`)
	inCode := map[string]bool{}
	walk(t, func(path string) {
		if ext := filepath.Ext(path); ext == ".md" || ext == ".png" || ext == ".sum" {
			return
		}
		for _, name := range variable.FindAllString(read(t, path), -1) {
			inCode[name] = true
		}
	})
	for name := range inCode {
		if !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "`"+name+"=1`") {
			t.Errorf("development.md lacks %s", name)
		}
	}
	for _, name := range variable.FindAllString(page, -1) {
		if !inCode[name] {
			t.Errorf("development.md has %s, which nothing reads", name)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// anchors are the ids that a page's headings get, on GitHub and on the site.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		id := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1])
		all[id] = true
	}
	return all
}

// Links between pages lead somewhere. Those of the pages in docs do not leave it, so that they hold on the site too.
func TestLinks(t *testing.T) {
	pages := 0
	walk(t, func(path string) {
		if filepath.Ext(path) != ".md" {
			return
		}
		pages++
		text := code.ReplaceAllString(fenced.ReplaceAllString(read(t, path), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			docs := filepath.Join(root, "docs") + string(filepath.Separator)
			if strings.HasPrefix(path, docs) && !strings.HasPrefix(to, docs) {
				t.Errorf("%s links to %s, which is not on the site", path, m[1])
			}
			if anchor != "" && filepath.Ext(to) == ".md" && !anchors(read(t, to))[anchor] {
				t.Errorf("%s links to %s, but there is no such heading", path, m[1])
			}
		}
	})
	if pages < 10 {
		t.Errorf("%d pages were found", pages)
	}
}

// Every page is in the navigation of the site.
func TestNavigation(t *testing.T) {
	nav := read(t, filepath.Join(root, "mkdocs.yml"))
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" && !strings.Contains(nav, ": "+filepath.ToSlash(path)+"\n") {
			t.Errorf("mkdocs.yml lacks %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// README begins with the two commands that run and test Foible, and stays short: what it says more is in pages of its own.
func TestReadme(t *testing.T) {
	page := read(t, filepath.Join(root, "README.md"))
	var first []string
	for line := range strings.SplitSeq(page, "\n") {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			command, _, _ = strings.Cut(command, "#")
			first = append(first, strings.TrimSpace(command))
		} else if first != nil {
			break
		}
	}
	if want := []string{"go run . fit", "go test ./..."}; !slices.Equal(first, want) {
		t.Errorf("README begins with the commands %q, not %q", first, want)
	}
	const twoScreens = 100
	if lines := strings.Count(page, "\n"); lines > twoScreens {
		t.Errorf("README has %d lines, more than %d", lines, twoScreens)
	}
}
