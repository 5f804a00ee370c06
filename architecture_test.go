package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrow is a rule about imports. A pattern is an import path; with "/..." it
// stands for the packages below too.
type arrow struct {
	from   []string // packages that the rule is about
	except []string // and not about
	direct bool     // their own imports, not those of what they import
	never  []string // what they do not import
	but    []string // and may all the same
}

var arrows = []arrow{
	{ // the science knows no cluster, no wire, no log, no process, no network
		from: []string{"foible.dev/foible/core/..."},
		never: []string{
			"foible.dev/foible/proto/...", "foible.dev/foible/coordinator/...", "foible.dev/foible/worker/...", "foible.dev/foible/domains/...", "foible.dev/foible/command/...",
			"google.golang.org/...", "github.com/hashicorp/go-hclog/...", "github.com/nats-io/...", "net/...", "os/exec",
		},
		but: []string{"net/url", "net/netip"}, // what html/template reads addresses with
	},
	{ // files come to it as an fs.FS
		from: []string{"foible.dev/foible/core/..."}, except: []string{"foible.dev/foible/core/published", "foible.dev/foible/core/report/internal/reporttest"},
		direct: true, never: []string{"os/..."},
	},
	{
		from:   []string{"foible.dev/foible/core/..."},
		except: []string{"foible.dev/foible/core/report", "foible.dev/foible/core/report/fit", "foible.dev/foible/core/report/compare", "foible.dev/foible/core/report/recovery"}, // which fill in pages of their own
		direct: true, never: []string{"embed"},
	},
	{from: []string{"foible.dev/foible/..."}, except: []string{"foible.dev/foible/coordinator/engine/...", "foible.dev/foible/internal/natssite"}, direct: true, never: []string{"github.com/nats-io/...", "github.com/synadia-io/..."}},
	{from: []string{"foible.dev/foible/command/cluster/kubernetes/kubectl"}, never: []string{"foible.dev/foible/..."}, but: []string{"foible.dev/foible/deploy/kubernetes"}},
	// Within command, arrows go down: a terminal, the command line, what goes in and out, sweeps of a coordinator, commands.
	{from: []string{"foible.dev/foible/command/terminal"}, never: []string{"foible.dev/foible/command/..."}},
	{from: []string{"foible.dev/foible/command/cli"}, never: []string{"foible.dev/foible/command/..."}, but: []string{"foible.dev/foible/command/terminal"}},
	{
		from: []string{"foible.dev/foible/command/connect", "foible.dev/foible/command/input", "foible.dev/foible/command/secrets"}, never: []string{"foible.dev/foible/command/..."},
		but: []string{"foible.dev/foible/command/terminal", "foible.dev/foible/command/cli"},
	},
	{
		from: []string{"foible.dev/foible/command/output"}, never: []string{"foible.dev/foible/command/..."},
		but: []string{"foible.dev/foible/command/terminal", "foible.dev/foible/command/cli", "foible.dev/foible/command/tables"},
	},
	{
		from: []string{"foible.dev/foible/command/follow", "foible.dev/foible/command/serve"}, never: []string{"foible.dev/foible/command/..."},
		but: []string{"foible.dev/foible/command/terminal", "foible.dev/foible/command/cli", "foible.dev/foible/command/connect", "foible.dev/foible/command/input"},
	},
	{
		from: []string{"foible.dev/foible/command/results"}, never: []string{"foible.dev/foible/command/..."},
		but: []string{"foible.dev/foible/command/terminal", "foible.dev/foible/command/cli", "foible.dev/foible/command/connect", "foible.dev/foible/command/input", "foible.dev/foible/command/output", "foible.dev/foible/command/tables"},
	},
	{ // commands do not call each other
		from:  []string{"foible.dev/foible/command/fit", "foible.dev/foible/command/stimulus", "foible.dev/foible/command/sweeps", "foible.dev/foible/command/cluster/..."},
		never: []string{"foible.dev/foible/command", "foible.dev/foible/command/fit", "foible.dev/foible/command/stimulus", "foible.dev/foible/command/sweeps"},
	},
	{from: []string{"foible.dev/foible/command/tables"}, direct: true, never: []string{"foible.dev/foible/..."}, but: []string{"foible.dev/foible/core/tabular"}},
	{from: []string{"foible.dev/foible/..."}, except: []string{"foible.dev/foible/command/tables"}, direct: true, never: []string{"github.com/parquet-go/..."}},
	{from: []string{"foible.dev/foible/worker/..."}, never: []string{"foible.dev/foible/coordinator/...", "foible.dev/foible/command/..."}},
	{from: []string{"foible.dev/foible/coordinator/..."}, never: []string{"foible.dev/foible/domains/...", "foible.dev/foible/worker/...", "foible.dev/foible/command/..."}},
	{from: []string{"foible.dev/foible/coordinator/..."}, direct: true, never: []string{"foible.dev/foible/core/..."}, but: []string{"foible.dev/foible/core/model", "foible.dev/foible/core/result", "foible.dev/foible/core/sweep", "foible.dev/foible/core/score", "foible.dev/foible/core/diagnose", "foible.dev/foible/core/cost", "foible.dev/foible/core/stats", "foible.dev/foible/core/figure", "foible.dev/foible/core/words", "foible.dev/foible/core/files"}},
	{from: []string{"foible.dev/foible/coordinator/engine/..."}, never: []string{"foible.dev/foible/..."}, but: []string{"foible.dev/foible/coordinator/engine/..."}},
	{from: []string{"foible.dev/foible/coordinator/engine/server"}, never: []string{"foible.dev/foible/..."}, but: []string{"foible.dev/foible/coordinator/engine/disk"}},
	{from: []string{"foible.dev/foible/coordinator/engine/disk", "foible.dev/foible/coordinator/engine/writes"}, never: []string{"foible.dev/foible/...", "github.com/..."}},
	{from: []string{"foible.dev/foible/coordinator/web"}, never: []string{"foible.dev/foible/coordinator/..."}, but: []string{"foible.dev/foible/coordinator/access", "foible.dev/foible/coordinator/service", "foible.dev/foible/coordinator/web/views"}},
	{from: []string{"foible.dev/foible/coordinator/web/views"}, never: []string{"foible.dev/foible/coordinator/..."}},
	{from: []string{"foible.dev/foible/coordinator/web/views"}, direct: true, never: []string{"net/http", "html/template"}},
	{from: []string{"foible.dev/foible/coordinator/access"}, never: []string{"foible.dev/foible/..."}, but: []string{"foible.dev/foible/proto/foible/v1", "foible.dev/foible/internal/replace", "foible.dev/foible/core/files", "foible.dev/foible/core/words"}},
	{ // what follows from a sweep's results is arithmetic
		from: []string{"foible.dev/foible/coordinator/ledger"}, direct: true,
		never: []string{"foible.dev/foible/...", "google.golang.org/...", "github.com/...", "go.opentelemetry.io/..."}, but: []string{"foible.dev/foible/core/model", "foible.dev/foible/core/result", "foible.dev/foible/core/sweep"},
	},
	{from: []string{"foible.dev/foible/coordinator/schedule", "foible.dev/foible/coordinator/replica"}, direct: true, never: []string{"foible.dev/foible/...", "google.golang.org/...", "github.com/..."}},
	{from: []string{"foible.dev/foible/coordinator/crew"}, direct: true, never: []string{"foible.dev/foible/...", "google.golang.org/...", "github.com/..."}, but: []string{"foible.dev/foible/coordinator/web"}},
	{
		from: []string{"foible.dev/foible/coordinator/store"}, direct: true, never: []string{"foible.dev/foible/coordinator/..."},
		but: []string{"foible.dev/foible/coordinator/engine", "foible.dev/foible/coordinator/service"},
	},
	{
		from: []string{"foible.dev/foible/coordinator/active"}, direct: true, never: []string{"foible.dev/foible/coordinator/..."},
		but: []string{
			"foible.dev/foible/coordinator/answer", "foible.dev/foible/coordinator/crew", "foible.dev/foible/coordinator/engine", "foible.dev/foible/coordinator/ledger", "foible.dev/foible/coordinator/replica",
			"foible.dev/foible/coordinator/schedule", "foible.dev/foible/coordinator/service", "foible.dev/foible/coordinator/store", "foible.dev/foible/coordinator/web",
		},
	},
	{
		from: []string{"foible.dev/foible/coordinator/session"}, direct: true, never: []string{"foible.dev/foible/coordinator/..."},
		but: []string{
			"foible.dev/foible/coordinator/active", "foible.dev/foible/coordinator/answer", "foible.dev/foible/coordinator/crew", "foible.dev/foible/coordinator/engine", "foible.dev/foible/coordinator/schedule",
			"foible.dev/foible/coordinator/service",
		},
	},
	{from: []string{"foible.dev/foible/coordinator/answer"}, direct: true, never: []string{"foible.dev/foible/coordinator/..."}, but: []string{"foible.dev/foible/coordinator/ledger"}},
	{ // traces are sent by the daemons; others have spans alone
		from: []string{"foible.dev/foible/..."}, except: []string{"foible.dev/foible", "foible.dev/foible/command", "foible.dev/foible/command/serve", "foible.dev/foible/command/fit", "foible.dev/foible/command/cluster/slurm"},
		never: []string{"go.opentelemetry.io/otel/sdk/...", "go.opentelemetry.io/otel/exporters/..."},
	},
	{from: []string{"foible.dev/foible/domains/...", "foible.dev/foible/proto/..."}, never: []string{"foible.dev/foible/coordinator/...", "foible.dev/foible/worker/...", "foible.dev/foible/command/..."}},
	{from: []string{"foible.dev/foible/proto/..."}, never: []string{"foible.dev/foible/domains/..."}},
	{from: []string{"foible.dev/foible/command/cluster/slurm/scheduler"}, never: []string{"foible.dev/foible/...", "google.golang.org/...", "github.com/hashicorp/go-hclog/..."}},
	{
		from: []string{"foible.dev/foible/..."}, except: []string{"foible.dev/foible", "foible.dev/foible/command/..."},
		never: []string{"github.com/spf13/...", "charm.land/...", "golang.org/x/term"},
	},
}

// order is that of the packages of core, from the ground up: each imports only those before it.
var order = []string{
	"words", "files", "optional", "hashing", "published", "participant", // text, files, values
	"stats", "model", "random", "result", // numbers, and what is fitted
	"pddl", "ground", "study", "heuristic", "search", "policy", "agent", // tasks, and who acts in them
	"sweep", "sweep/sweeptest", "internal/tiny", "internal/house", "internal/madeup",
	"inference/internal/kernel", "inference/internal/observed", "inference/internal/worlds", "inference/internal/samples", "inference/marginal", "inference/sips", "inference",
	"score", "diagnose", "cost", "recovery",
	"tabular", "picture", "figure/internal/look", "figure/internal/sheet", "figure/internal/panel", "figure",
	"report", "report/latex", "report/recovery", "report/fit", "report/compare", "report/internal/reporttest", // what is shown
}

func TestOrderOfCore(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}|{{join .Imports " "}}`, "./core/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const core = "foible.dev/foible/core/"
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), "|")
		at := slices.Index(order, strings.TrimPrefix(path, core))
		if at < 0 {
			t.Errorf("%s has no place in the order", path)
			continue
		}
		for _, p := range strings.Fields(imports) {
			if name, in := strings.CutPrefix(p, core); in && !slices.Contains(order[:at], name) {
				t.Errorf("%s imports %s, which does not come before it", path, p)
			}
		}
	}
}

func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		tree, below := strings.CutSuffix(p, "/...")
		return path == tree || below && strings.HasPrefix(path, tree+"/")
	})
}

func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}|{{join .Imports " "}}|{{join .Deps " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(arrows))
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		path, imports, deps := fields[0], strings.Fields(fields[1]), strings.Fields(fields[2])
		for i, a := range arrows {
			if !matches(a.from, path) || matches(a.except, path) {
				continue
			}
			used[i] = true
			reached := deps
			if a.direct {
				reached = imports
			}
			for _, dep := range reached {
				if matches(a.never, dep) && !matches(a.but, dep) {
					t.Errorf("%s imports %s", path, dep)
				}
			}
		}
	}
	for i, a := range arrows {
		if !used[i] {
			t.Errorf("no package is %v", a.from)
		}
	}
}

// In core, and in what says how a sweep stands and when it will end, nothing reads a clock, and chance is an argument.
func TestCoreIsPure(t *testing.T) {
	for _, dir := range []string{"core", "coordinator/ledger"} {
		checkPure(t, dir)
	}
}

func checkPure(t *testing.T, dir string) {
	t.Helper()
	clocks := []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTicker", "NewTimer"}
	makers := []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Zipf", "Source"}
	files := token.NewFileSet()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if ok && (x.Name == "time" && slices.Contains(clocks, s.Sel.Name) || x.Name == "rand" && !slices.Contains(makers, s.Sel.Name)) {
				t.Errorf("%s: %s.%s", files.Position(s.Pos()), x.Name, s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
