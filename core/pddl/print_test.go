package pddl_test

import (
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
)

// stable checks that what is printed parses to what prints the same.
func stable(t *testing.T, d *pddl.Domain) {
	t.Helper()
	text := d.String()
	again, err := pddl.ParseDomain("printed", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if again.String() != text {
		t.Fatalf("printed\n%s\nand again\n%s", text, again)
	}
}

func stableProblem(t *testing.T, p *pddl.Problem) {
	t.Helper()
	text := p.String()
	again, err := pddl.ParseProblem("printed", []byte(text), p.Domain)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if again.String() != text {
		t.Fatalf("printed\n%s\nand again\n%s", text, again)
	}
	if p.Goal == nil {
		return
	}
	goal, err := pddl.ParseGoal("printed", []byte(p.Goal.String()), p)
	if err != nil {
		t.Fatal(err)
	}
	if goal.String() != p.Goal.String() {
		t.Fatalf("goal %s and again %s", p.Goal, goal)
	}
}

func TestPrintIsStable(t *testing.T) {
	for _, name := range examples(t) {
		d, err := pddl.ParseDomain(name, []byte(example(t, name+"-domain")))
		if err != nil {
			t.Fatal(err)
		}
		stable(t, d)
		p, err := pddl.ParseProblem(name, []byte(example(t, name+"-problem")), d)
		if err != nil {
			t.Fatal(err)
		}
		stableProblem(t, p)
	}
}

func TestPublishedPrintIsStable(t *testing.T) {
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		d, problems := parsePublished(t, name)
		stable(t, d)
		for _, p := range problems {
			stableProblem(t, p)
		}
	}
}

func TestPrint(t *testing.T) {
	const want = `(define (domain Small)
  (:requirements :ADL)
  (:types
    block - thing
    table - (either thing flat)
    thing - object
    flat - object)
  (:constants
    Floor - table)
  (:predicates
    (on ?x - block ?y - thing)
    (cell ?x ?y)
    (near ?x ?y - (either block table) ?Z))
  (:functions
    (xpos)
    (weight ?b - block))
  (:derived (near ?x - block ?y - (either block table) ?z)
    (exists (?b - block) (= xpos (+ ?z -1.5 (- (weight ?b))))))
  (:action lift
    :parameters (?b ?c - block ?o)
    :precondition (and (on ?b Floor) (imply (or) (not (cell ?o (xpos)))))
    :effect (forall (?t - table) (when (on ?b ?t) (and (not (on ?b ?t)) (scale-up xpos 2)))))
  (:action wait
    :parameters ()
    :precondition (and)
    :effect (and)))
`
	const src = `(DEFINE (Domain Small) (:REQUIREMENTS :ADL) ; comment (
	(:action lift :parameters (?b ?c - Block ?o)
		:effect (Forall (?t - table) (When (On ?b ?T) (and (not (on ?B ?t)) (SCALE-UP XPOS 2.0))))
		:precondition (and (on ?b FLOOR) (imply (or) (not (cell ?o (Xpos))))))
	(:action wait :precondition ())
	(:functions (xpos) - number (weight ?b - block))
	(:derived (near ?x - block ?y ?z) (exists (?b - block) (= xpos (+ ?z -01.50 (- (weight ?b))))))
	(:predicates (on ?x - block ?y - thing) (cell ?x ?y) (near ?x ?y - (EITHER block table) ?Z))
	(:constants Floor - table) (:types block - thing table - (either thing flat)))`
	for name, text := range map[string]string{
		"LF":   src,
		"CRLF": strings.ReplaceAll(src, "\n", "\r\n"),
		"CR":   strings.ReplaceAll(src, "\n", "\r"),
		"BOM":  "\uFEFF" + src,
	} {
		d, err := pddl.ParseDomain("d.pddl", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d.String() != want {
			t.Errorf("%s: printed\n%s", name, d)
		}
		if pos := d.Action("WAIT").Pos; pos != (pddl.Pos{File: "d.pddl", Line: 5, Column: 2}) {
			t.Errorf("%s: wait is at %s", name, pos)
		}
	}
}

func TestTypes(t *testing.T) {
	d, err := pddl.ParseDomain("typing", []byte(example(t, "typing-domain")))
	if err != nil {
		t.Fatal(err)
	}
	is := func(sub, super string) bool { return d.Type(sub).Is(d.Type(super)) }
	if !is("car", "CARGO") || !is("bike", "object") || is("cargo", "car") || is("dog", "vehicle") || is("object", "place") {
		t.Error("subtypes are wrong")
	}
	p, err := pddl.ParseProblem("typing", []byte(example(t, "typing-problem")), d)
	if err != nil {
		t.Fatal(err)
	}
	if o := p.Object("QUAY"); o == nil || o.Name != "Quay" || len(p.AllObjects()) != 5 {
		t.Errorf("objects %v", p.AllObjects())
	}
}

func TestParsePlan(t *testing.T) {
	plan, err := pddl.ParsePlan("x.plan", []byte("\uFEFF; a plan\r\n\r\n(Stack a B) ; first\r\n  (up)\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan) != 2 || plan[0].String() != "(Stack a B)" || plan[1].String() != "(up)" {
		t.Errorf("plan %v", plan)
	}
	if pos := plan[1].Pos; pos.Line != 4 || pos.Column != 3 {
		t.Errorf("(up) is at %s", pos)
	}
}

func TestBind(t *testing.T) {
	d, err := pddl.ParseDomain("adl", []byte(example(t, "adl-domain")))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pddl.ParseProblem("adl", []byte(example(t, "adl-problem")), d)
	if err != nil {
		t.Fatal(err)
	}
	a, objects := d.Action("take-out"), []*pddl.Object{p.Object("pen")}
	if got := pddl.Bind(a.Precondition, a.Parameters, objects).String(); got != "(and (in pen) (forall (?j - item) (imply (checked ?j) (= pen ?j))))" {
		t.Errorf("precondition %s", got)
	}
	if got := pddl.BindEffect(a.Effect, a.Parameters, objects).String(); got != "(not (in pen))" {
		t.Errorf("effect %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range examples(f) {
		f.Add(example(f, name+"-domain"), example(f, name+"-problem"))
	}
	f.Add(small, problem("(cell 1 -2) (not (clear b)) (= (xpos) 0.5) (loc 1)", "(or (clear a) (= xpos (- 3)))"))
	f.Add(action("(forall (?x ?y - (either block table)) (= ?x ?y))", "(assign xpos (* 2 xpos 3))"), problem("", "()"))
	f.Add(small, small)
	f.Fuzz(func(t *testing.T, domain, problem string) {
		d, err := pddl.ParseDomain("d", []byte(domain))
		if err != nil {
			if _, ok := err.(*pddl.Error); !ok {
				t.Fatalf("error %T", err)
			}
			return
		}
		stable(t, d)
		if p, err := pddl.ParseProblem("p", []byte(problem), d); err == nil {
			stableProblem(t, p)
		}
	})
}

func FuzzParsePlan(f *testing.F) {
	f.Add("(up)\n; c\n(stack a b)")
	f.Fuzz(func(t *testing.T, src string) {
		plan, err := pddl.ParsePlan("p", []byte(src))
		if err != nil {
			return
		}
		var text strings.Builder
		for _, step := range plan {
			text.WriteString(step.String() + "\n")
		}
		again, err := pddl.ParsePlan("p", []byte(text.String()))
		if err != nil || len(again) != len(plan) {
			t.Fatalf("%d steps, then %d: %v", len(plan), len(again), err)
		}
	})
}
