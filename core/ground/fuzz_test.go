package ground_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// Whatever parses is refused or grounded, and then agrees with the naive interpreter.
func FuzzNew(f *testing.F) {
	const dir = "../pddl/testdata"
	paths, err := filepath.Glob(dir + "/*-domain.pddl")
	check(f, err)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), "-domain.pddl")
		f.Add(string(readFile(f, path)), string(readFile(f, dir, name+"-problem.pddl")))
	}
	f.Add(workshop, workshopProblem)
	f.Fuzz(func(t *testing.T, domain, problem string) {
		if len(domain)+len(problem) > 4000 {
			return
		}
		d, err := pddl.ParseDomain("d", []byte(domain))
		if err != nil {
			return
		}
		p, err := pddl.ParseProblem("p", []byte(problem), d)
		if err != nil || len(p.AllObjects()) > 5 {
			return
		}
		var goals []pddl.Formula
		if p.Goal != nil {
			goals = append(goals, p.Goal)
		}
		task, err := ground.New(p, goals)
		if err != nil || len(task.Operators) > 200 {
			return
		}
		compare(t, task, rand.New(rand.NewPCG(7, 7)), 4)
	})
}
