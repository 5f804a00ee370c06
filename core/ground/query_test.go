package ground_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

func facts(t *ground.Task, s ground.StateID) []string {
	var texts []string
	for _, f := range t.True(s) {
		texts = append(texts, strings.Join(append([]string{f.Predicate}, f.Args...), " "))
	}
	return texts
}

func TestTrueAndHolds(t *testing.T) {
	task := exampleTask(t, "fluents")
	states, _, err := task.Validate(steps(t, "(climb) (crawl right) (crawl right) (eat mint) (drop mint)"))
	check(t, err)
	if got, want := facts(task, states[0]), []string{"stone 1 3", "stone 2 1", "lies mint 3 2"}; !slices.Equal(got, want) {
		t.Errorf("facts %q, want %q", got, want)
	}
	last := states[5]
	if got, want := facts(task, last), []string{"slime 1 1", "slime 1 2", "slime 2 2", "stone 1 3", "stone 2 1", "lies mint 3 1"}; !slices.Equal(got, want) {
		t.Errorf("facts %q, want %q", got, want)
	}
	holds := []struct {
		fact string
		want bool
	}{
		{"lies MINT 3 1", true},
		{"lies mint 3.0 1", true},
		{"lies mint 3 2", false},
		{"stone 2 1", true},
		{"Stone 1 1", false},
		{"blocked 2 1", true},
		{"blocked 0 5", true},
		{"blocked 1 2", true},
		{"blocked 3 3", false},
		{"blocked mint 3", false}, // (< mint 1) means nothing
		{"stone 2", false},
		{"stone 2 x", false},
		{"lies left 3 1", false},
		{"pebble 2 1", false},
	}
	for _, test := range holds {
		words := strings.Fields(test.fact)
		if got := task.Holds(last, words[0], words[1:]...); got != test.want {
			t.Errorf("(%s) is %v", test.fact, got)
		}
	}
}

func TestHoldsDerived(t *testing.T) {
	task := exampleTask(t, "derived-predicates")
	states, _, err := task.Validate(steps(t, "(close a b) (fix b b)"))
	check(t, err)
	for _, test := range []struct {
		state int
		fact  string
		want  bool
	}{
		{0, "live a", true},
		{0, "live b", false},
		{0, "dead c", true},
		{1, "live c", true},
		{1, "dead c", false},
		{1, "dead d", true},
		{0, "joined a c", true},
		{0, "joined b b", true},
		{0, "joined c a", false},
		{0, "joined a d", false},
		{0, "live 3", false},
	} {
		words := strings.Fields(test.fact)
		if got := task.Holds(states[test.state], words[0], words[1:]...); got != test.want {
			t.Errorf("(%s) is %v after %d steps", test.fact, got, test.state)
		}
	}
}

func TestValue(t *testing.T) {
	task := exampleTask(t, "numeric-fluents")
	states, _, err := task.Validate(steps(t, "(fill big) (halve big)"))
	check(t, err)
	if v, ok := task.Value(states[2], "LEVEL", "Big"); !ok || v != 2.5 {
		t.Errorf("(level big) is %v, %v", v, ok)
	}
	if v, ok := task.Value(states[2], "size", "small"); !ok || v != 3 {
		t.Errorf("(size small) is %v, %v", v, ok)
	}
	for _, call := range []string{"level", "level huge", "depth big", "poured big"} {
		words := strings.Fields(call)
		if v, ok := task.Value(states[2], words[0], words[1:]...); ok {
			t.Errorf("(%s) is %v", call, v)
		}
	}
}

func TestObjects(t *testing.T) {
	task := exampleTask(t, "typing")
	for typ, want := range map[string]string{"CARGO": "Mini tandem rex", "vehicle": "Mini tandem", "place": "Quay island", "object": "Quay Mini tandem rex island", "gem": ""} {
		if got := strings.Join(task.Objects(typ), " "); got != want {
			t.Errorf("objects of %s: %q, want %q", typ, got, want)
		}
	}
}

func TestPropositional(t *testing.T) {
	task := publishedStimuli(t)[0].task(t)
	p, err := task.Propositional()
	check(t, err)
	// 6 blocks: 30 of on, 6 each of ontable, clear, holding, and handempty; the diagonal
	// of on is in no operator.
	if p.Facts != 49+1 || len(p.Operators) != 72 || len(p.Goals) != 5 {
		t.Errorf("%d facts, %d operators, %d goals", p.Facts, len(p.Operators), len(p.Goals))
	}
	must(task.Enumerate(context.Background(), 100))
	for s := range ground.StateID(100) {
		before := p.True(s, nil)
		for _, next := range task.Successors(s) {
			op := p.Operators[next.Operator]
			after := slices.DeleteFunc(slices.Clone(before), func(f int32) bool { return slices.Contains(op.Delete, f) })
			after = append(after, op.Add...)
			slices.Sort(after)
			if got := p.True(next.State, nil); !slices.Equal(got, slices.Compact(after)) {
				t.Fatalf("%s: %v to %v, want %v", &task.Operators[next.Operator], before, got, after)
			}
		}
		for i, op := range p.Operators {
			_, applicable := task.Apply(s, ground.OperatorID(i))
			if subset(op.Precondition, before) != applicable {
				t.Fatalf("%s: applicable %v", &task.Operators[i], applicable)
			}
		}
		for g, goal := range p.Goals {
			if subset(goal, before) != task.Satisfies(s, g) {
				t.Fatalf("goal %d of state %d", g, s)
			}
		}
	}
}

func subset(small, large []int32) bool {
	for _, f := range small {
		if !slices.Contains(large, f) {
			return false
		}
	}
	return true
}

func TestImpossibleGoal(t *testing.T) {
	d, err := pddl.ParseDomain("d", []byte("(define (domain d) (:predicates (p) (q)) (:action a :effect (p)))"))
	check(t, err)
	problem, err := pddl.ParseProblem("p", []byte("(define (problem p) (:domain d) (:init))"), d)
	check(t, err)
	var goals []pddl.Formula
	for _, text := range []string{"(q)", "(and)", "(p)"} {
		goal, err := pddl.ParseGoal("goal", []byte(text), problem)
		check(t, err)
		goals = append(goals, goal)
	}
	task, err := ground.New(problem, goals)
	check(t, err)
	p, err := task.Propositional()
	check(t, err)
	if len(p.Goals[0]) != 1 || int(p.Goals[0][0]) != p.Facts-1 || len(p.Goals[1]) != 0 || len(p.Goals[2]) != 1 {
		t.Errorf("goals %v of %d facts", p.Goals, p.Facts)
	}
	if s := task.Initial(); task.Satisfies(s, 0) || !task.Satisfies(s, 1) || task.Satisfies(s, 2) {
		t.Error("goals of the initial state are wrong")
	}
}

func TestNotPropositional(t *testing.T) {
	tests := map[string]string{
		"conditional-effects": `conditional-effects-domain.pddl:9:38: conditional effect (not (lit ?a)) of (swap l1 l2) has no propositional form`,
		"numeric-fluents":     `numeric-fluents-domain.pddl:7:54: (< (level ?j) (size ?j)) of (fill big) has no propositional form`,
		"fluents":             `fluents-domain.pddl:11:19: (not (blocked (+ xpos (dx ?s)) ypos)) of (crawl left) has no propositional form`,
		"derived-predicates":  `derived-predicates-domain.pddl:13:77: (dead ?b) of (close a b) has no propositional form`,
	}
	for name, want := range tests {
		if _, err := exampleTask(t, name).Propositional(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	// In "disjunctive-preconditions" all but one part of each disjunction is static.
	for _, name := range []string{"strips", "typing", "negative-preconditions", "disjunctive-preconditions", "universal-preconditions"} {
		if _, err := exampleTask(t, name).Propositional(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
