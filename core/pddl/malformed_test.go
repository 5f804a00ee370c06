package pddl_test

import (
	"errors"
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
)

// small is a domain to be wrong about.
const small = `(define (domain small)
  (:requirements :adl :fluents :derived-predicates)
  (:types block table - thing)
  (:constants floor - table)
  (:predicates (on ?x - block ?y - thing) (clear ?x - block) (cell ?x ?y) (above ?x ?y - thing))
  (:functions (xpos) (weight ?b - block))
  (:derived (above ?x - block ?y) (on ?x ?y))
  (:action lift
    :parameters (?b - block)
    :precondition (clear ?b)
    :effect (not (clear ?b))))`

// problem is a problem of small with the given facts and goal.
func problem(init, goal string) string {
	return "(define (problem p) (:domain small)\n(:objects a b - block)\n(:init " + init + ")\n(:goal " + goal + "))"
}

// action is small with an action of the given precondition and effect; both are on
// their own lines, 13 and 14.
func action(precondition, effect string) string {
	return strings.TrimSuffix(small, ")") + "\n  (:action test :parameters (?b ?c - block) :precondition\n" + precondition + " :effect\n" + effect + "))"
}

func domain(sections string) string { return "(define (domain d)\n" + sections + ")" }

// malformedDomains are domains with one mistake each, and what is said of it.
var malformedDomains = []struct{ name, src, want string }{
	{"empty", "", `x.pddl:1:1: the file holds no domain`},
	{"comment only", "; nothing\r\n", `x.pddl:1:1: the file holds no domain`},
	{"UTF-16", "\xFF\xFE(\x00d\x00", `x.pddl:1:1: the file is UTF-16: save it as UTF-8`},
	{"UTF-16 without mark", "(\x00d\x00", `x.pddl:1:1: the file holds zero bytes: UTF-16 or not text; save it as UTF-8`},
	{"Latin-1", domain("(:predicates (gr\xFC\xDF))"), `x.pddl:2:17: byte 0xFC is not UTF-8`},
	{"not a form", "domain", `x.pddl:1:1: expected "(" to open the domain, found "domain"`},
	{"not a definition", "(domain d)", `x.pddl:1:1: expected "(define (domain ...)", found "(domain"`},
	{"a problem", "(define (problem p) (:domain d))", `x.pddl:1:9: expected "(domain NAME)", found "(problem"`},
	{"no name", "(define (domain))", `x.pddl:1:9: expected "(domain NAME)" with one name`},
	{"no title", "(define)", `x.pddl:1:1: expected "(domain NAME)", found "(define"`},
	{"bad name", "(define (domain ?d))", `x.pddl:1:17: expected the name of the domain, found "?d"`},
	{"two domains", domain("") + "\n" + domain(""), `x.pddl:3:1: "(define" follows the end of "(define": is there a ")" too many before it?`},
	{"closes early", domain("(:predicates (p))) (:action a)"), `x.pddl:2:20: "(:action" follows the end of "(define": is there a ")" too many before it?`},
	{"closes nothing", domain("") + ")", `x.pddl:2:2: ")" closes nothing`},
	{"unclosed at the end", "(define (domain d)\n  (:predicates (p)", `x.pddl:2:3: "(:predicates" is not closed`},
	{"unclosed section", domain("  (:predicates (p)\n  (:action a))"), `x.pddl:2:3: "(:predicates" is not closed before "(:action" at line 3`},
	{"unclosed condition", domain("(:predicates (p))\n(:action a :precondition (and (p) (not (p))\n :effect (p)))"), `x.pddl:3:26: "(and" is not closed before ":effect" at line 4`},
	{"unclosed parameters", domain("(:action a :parameters (?x\n :effect ()))"), `x.pddl:2:24: "(?x" is not closed before ":effect" at line 3`},
	{"unclosed action", domain("(:predicates (p))\n(:action a :effect (p)\n(:action b :effect (p))"), `x.pddl:3:1: "(:action" is not closed before "(:action" at line 4`},
	{"too deep", strings.Repeat("(", 600), `x.pddl:1:501: "(" is nested more than 500 deep`},
	{"stray keyword", domain(":strips"), `x.pddl:2:1: expected a section such as "(:action", found ":strips"`},
	{"stray form", domain("(action a)"), `x.pddl:2:1: expected a section such as "(:action", found "(action"`},
	{"durative action", domain("(:durative-action a)"), `x.pddl:2:1: "(:durative-action" is not supported in a domain`},
	{"constraints", domain("(:constraints (and))"), `x.pddl:2:1: "(:constraints" is not supported in a domain`},
	{"section twice", domain("(:predicates (p))\n(:Predicates (q))"), `x.pddl:3:1: a second "(:Predicates"`},

	{"unknown requirement", domain("(:requirements :strips :durative-actions)"), `x.pddl:2:24: requirement ":durative-actions" is not supported`},
	{
		"action costs", "(define (domain d)\n(:requirements :strips :action-costs)\n(:functions (total-cost) - number)\n(:predicates (p))\n(:action a :effect (and (p)\n(increase (total-cost) 2)))\n(:action b :effect (increase (total-cost) 1)))",
		`x.pddl:2:24: ":action-costs" is not supported, because every action costs 1; take out: the requirement; "(total-cost)" of (:functions at line 3; "(increase (total-cost) ...)" at lines 6 and 7; of problems "(= (total-cost) ...)" and "(:metric ...)"`,
	},
	{"requirement without colon", domain("(:requirements strips)"), `x.pddl:2:16: expected a requirement such as ":strips", found "strips"`},

	{"type cycle", domain("(:types a - b\n b - c\n c - a)"), `x.pddl:4:6: type "a" would be its own supertype`},
	{"own supertype", domain("(:types a - a)"), `x.pddl:2:13: type "a" would be its own supertype`},
	{"supertype of object", domain("(:types object - a)"), `x.pddl:2:9: type "object" has no supertype`},
	{"dash first", domain("(:types - a)"), `x.pddl:2:9: "-" has no name before it`},
	{"dash last", domain("(:types a -)"), `x.pddl:2:11: "-" has no type after it`},
	{"dash without space", domain("(:types a -b)"), `x.pddl:2:11: "-b" needs a space after "-"`},
	{"form for a type", domain("(:types a - (or b c))"), `x.pddl:2:13: expected a type or "(either ...)", found "(or"`},
	{"empty either", domain("(:types a - (either))"), `x.pddl:2:13: "(either" names no type`},
	{"type is a variable", domain("(:types ?a)"), `x.pddl:2:9: expected the name of a type, found "?a"`},

	{"constant of unknown type", domain("(:constants a - gem)"), `x.pddl:2:17: unknown type "gem"`},
	{"constant twice", domain("(:constants a A)"), `x.pddl:2:15: object "A" is declared twice`},
	{"constant of two types", domain("(:types a b) (:constants x - (either a b))"), `x.pddl:2:26: object "x" has "(either": an object has one type`},
	{"constant and function", domain("(:constants here) (:functions (here))"), `x.pddl:2:13: "here" is both an object and a function`},
	{"predicate without parentheses", domain("(:predicates p)"), `x.pddl:2:14: expected a predicate in parentheses, found "p"`},
	{"predicate twice", domain("(:predicates (p) (P ?x))"), `x.pddl:2:18: predicate "P" is declared twice`},
	{"reserved word", domain("(:predicates (when ?x))"), `x.pddl:2:15: "when" is a reserved word`},
	{"name with a stop", domain("(:predicates (p.q))"), `x.pddl:2:15: expected the name of a predicate, found "p.q"`},
	{"parameter without mark", domain("(:predicates (p x))"), `x.pddl:2:17: expected a variable such as "?x", found "x"`},
	{"parameter twice", domain("(:action a :parameters (?x ?X))"), `x.pddl:2:28: variable "?X" is declared twice`},
	{"parameter of a rule twice", domain("(:predicates (p ?x ?y)) (:derived (p ?x ?x) (and))"), `x.pddl:2:41: variable "?x" is declared twice`},
	{"dash without a space before", domain("(:types t) (:predicates (p ?x- t))"), `x.pddl:2:28: "?x-" needs a space before "-"`},
	{"parameter of unknown type", domain("(:predicates (p ?x - gem))"), `x.pddl:2:22: unknown type "gem"`},
	{"object function", domain("(:types a) (:functions (f) - a)"), `x.pddl:2:30: function "f" has values of type "a": only numbers are supported`},
	{"function twice", domain("(:functions (f) (f ?x))"), `x.pddl:2:17: function "f" is declared twice`},

	{"derived without a body", domain("(:predicates (p)) (:derived (p))"), `x.pddl:2:19: "(:derived" takes 2 arguments, not 1`},
	{"derived of unknown predicate", domain("(:derived (p) (and))"), `x.pddl:2:12: unknown predicate "p"`},
	{"derived of wrong arity", domain("(:predicates (p ?x)) (:derived (p) (and))"), `x.pddl:2:32: "(p" takes 1 argument, not 0`},
	{"derived of wrong type", domain("(:types a b) (:predicates (p ?x - a)) (:derived (p ?x - b) (and))"), `x.pddl:2:52: "?x" is a "b", but "(p" takes a "a"`},
	{"derived in an effect", action("(and)", "(above ?b floor)"), `x.pddl:14:1: "(above" is a derived predicate, not an effect`},

	{"action without a name", domain("(:action)"), `x.pddl:2:1: "(:action" has no name`},
	{"action twice", domain("(:action a)\n(:action A)"), `x.pddl:3:10: action "A" is declared twice, so that a plan could mean either`},
	{"unknown part", domain("(:action a :duration 3)"), `x.pddl:2:12: ":duration" is not understood in "(:action a"`},
	{"part twice", domain("(:action a :effect () :effect ())"), `x.pddl:2:23: a second ":effect" in "(:action a"`},
	{"part without a value", domain("(:action a :parameters :effect ())"), `x.pddl:2:12: ":parameters" has no value`},
	{"last part without a value", domain("(:action a :effect)"), `x.pddl:2:12: ":effect" has no value`},
	{"parameters without parentheses", domain("(:action a :parameters ?x)"), `x.pddl:2:24: expected "(" with the variables of "(:action a", found "?x"`},

	{"bare condition", action("clear", "()"), `x.pddl:13:1: expected a condition in parentheses, found "clear"`},
	{"empty part", action("(and ())", "()"), `x.pddl:13:6: expected a predicate or a connective after "("`},
	{"unknown predicate", action("(and (clear ?b) (claer ?b))", "()"), `x.pddl:13:18: unknown predicate "claer"`},
	{"too few arguments", action("(on ?b)", "()"), `x.pddl:13:1: "(on" takes 2 arguments, not 1`},
	{"unknown variable", action("(on ?b ?d)", "()"), `x.pddl:13:8: variable "?d" is not declared`},
	{"variable out of scope", action("(and (exists (?d - block) (clear ?d)) (clear ?d))", "()"), `x.pddl:13:46: variable "?d" is not declared`},
	{"object of the problem", action("(on ?b a)", "()"), `x.pddl:13:8: unknown constant or function "a"`},
	{"wrong type", action("(clear floor)", "()"), `x.pddl:13:8: "floor" is a "table", but "(clear" takes a "block" for ?x`},
	{"wrong either", action("(exists (?d - (either block table)) (clear ?d))", "()"), `x.pddl:13:44: "?d" is a "(either block table)", but "(clear" takes a "block" for ?x`},
	{"number for an object", action("(clear 3)", "()"), `x.pddl:13:8: "3" is a number, but "(clear" takes a "block" for ?x`},
	{"fluent for an object", action("(clear xpos)", "()"), `x.pddl:13:8: "xpos" is a number, but "(clear" takes a "block" for ?x`},
	{"object for a number", action("(< xpos ?b)", "()"), `x.pddl:13:9: "?b" is an object, but "(<" takes a number`},
	{"object in a sum", action("(cell (+ xpos floor) 1)", "()"), `x.pddl:13:15: "floor" is an object, but "(+" takes a number`},
	{"object equals number", action("(= ?b 3)", "()"), `x.pddl:13:1: (= ?b 3) compares an object with a number`},
	{"unknown function", action("(< (speed ?b) 3)", "()"), `x.pddl:13:5: unknown function "speed"`},
	{"unknown bare name", action("(cell ypos 3)", "()"), `x.pddl:13:7: unknown constant or function "ypos"`},
	{"function needs arguments", action("(< weight 3)", "()"), `x.pddl:13:4: function "weight" takes 1 argument, not 0`},
	{"function of wrong type", action("(< (weight floor) 3)", "()"), `x.pddl:13:12: "floor" is a "table", but "(weight" takes a "block" for ?b`},
	{"division of three", action("(< (/ 1 2 3) xpos)", "()"), `x.pddl:13:4: "(/" does not take 3 arguments`},
	{"malformed number", action("(< 1.2.3 xpos)", "()"), `x.pddl:13:4: expected an object, a variable or a number, found "1.2.3"`},
	{"number out of range", action("(< 1"+strings.Repeat("0", 309)+" xpos)", "()"), `x.pddl:13:4: number "1` + strings.Repeat("0", 309) + `" is out of range`},
	{"not of two", action("(not (clear ?b) (clear ?c))", "()"), `x.pddl:13:1: "(not" takes 1 argument, not 2`},
	{"imply of one", action("(imply (clear ?b))", "()"), `x.pddl:13:1: "(imply" takes 2 arguments, not 1`},
	{"quantifier without parentheses", action("(forall ?x (clear ?x))", "()"), `x.pddl:13:9: expected "(" with the variables of "(forall", found "?x"`},
	{"quantifier over unknown type", action("(forall (?x - gem) (and))", "()"), `x.pddl:13:15: unknown type "gem"`},
	{"preference in a condition", action("(preference p (clear ?b))", "()"), `x.pddl:13:1: "(preference" is not supported`},
	{"effect as condition", action("(increase xpos 1)", "()"), `x.pddl:13:1: "(increase" is an effect, not a condition`},

	{"bare effect", action("()", "clear"), `x.pddl:14:1: expected an effect in parentheses, found "clear"`},
	{"condition as effect", action("()", "(or (clear ?b) (clear ?c))"), `x.pddl:14:1: "(or" is a condition, not an effect`},
	{"double negation in an effect", action("()", "(not (not (clear ?b)))"), `x.pddl:14:7: unknown predicate "not"`},
	{"unknown predicate in an effect", action("()", "(and (claer ?b))"), `x.pddl:14:7: unknown predicate "claer"`},
	{"effect over unknown type", action("()", "(forall (?x - gem) (clear ?x))"), `x.pddl:14:15: unknown type "gem"`},
	{"increase a number", action("()", "(increase 3 1)"), `x.pddl:14:11: unknown function "3"`},
	{"increase by an object", action("()", "(increase xpos ?b)"), `x.pddl:14:16: "?b" is an object, but "(increase" takes a number`},
	{"when without effect", action("()", "(when (clear ?b))"), `x.pddl:14:1: "(when" takes 2 arguments, not 1`},
	{"derived number for an object", domain("(:predicates (d ?x) (p ?x - object))\n(:derived (d ?x) (p ?x))"), `x.pddl:3:21: "?x" may be a number, but "(p" takes a "object" for ?x`},
}

func TestMalformedDomain(t *testing.T) {
	for _, test := range malformedDomains {
		t.Run(test.name, func(t *testing.T) {
			_, err := pddl.ParseDomain("x.pddl", []byte(test.src))
			wantError(t, err, test.want)
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	var e *pddl.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want %s", err, want)
	}
	if e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
}

func smallDomain(t testing.TB) *pddl.Domain {
	t.Helper()
	d, err := pddl.ParseDomain("small.pddl", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMalformedProblem(t *testing.T) {
	define := func(sections string) string { return "(define (problem p)\n" + sections + ")" }
	tests := []struct{ name, src, want string }{
		{"a domain", small, `x.pddl:1:9: expected "(problem NAME)", found "(domain"`},
		{"no domain", define("(:init)"), `x.pddl:1:1: the problem has no "(:domain"`},
		{"other domain", define("(:domain large) (:init)"), `x.pddl:2:10: the problem is of domain "large", not "small"`},
		{"no init", define("(:domain small)"), `x.pddl:1:1: the problem has no "(:init"`},
		{"metric", define("(:domain small) (:init)\n(:metric minimize (total-cost))"), `x.pddl:3:1: "(:metric" is not supported, because every action costs 1: take it out`},
		{"constraints", define("(:domain small) (:init)\n(:constraints (and))"), `x.pddl:3:1: "(:constraints" is not supported in a problem`},
		{"section twice", define("(:domain small) (:init)\n(:init)"), `x.pddl:3:1: a second "(:init"`},
		{"unclosed init", "(define (problem p) (:domain small)\n (:init (clear a)\n (:goal (clear a)))", `x.pddl:2:2: "(:init" is not closed before "(:goal" at line 3`},
		{"object twice", define("(:domain small) (:objects a - block a - table) (:init)"), `x.pddl:2:37: object "a" is declared twice`},
		{"object is a constant", define("(:domain small) (:objects floor) (:init)"), `x.pddl:2:27: object "floor" is declared twice`},
		{"object is a function", define("(:domain small) (:objects xpos) (:init)"), `x.pddl:2:27: "xpos" is both an object and a function`},
		{"object of unknown type", define("(:domain small) (:objects a - gem) (:init)"), `x.pddl:2:31: unknown type "gem"`},
		{"two goals", define("(:domain small) (:init) (:goal (and) (and))"), `x.pddl:2:25: "(:goal" takes 1 argument, not 2`},

		{"unknown object", problem("(clear c)", "(and)"), `x.pddl:3:15: unknown object or function "c"`},
		{"unknown object in an unknown fact", problem("(loc 2 c)", "(and)"), `x.pddl:3:15: unknown object or function "c"`},
		{"timed fact", problem("(at 5 (clear a))", "(and)"), `x.pddl:3:9: unknown predicate "at"`},
		{"wrong type", problem("(clear floor)", "(and)"), `x.pddl:3:15: "floor" is a "table", but "(clear" takes a "block" for ?x`},
		{"wrong arity", problem("(on a)", "(and)"), `x.pddl:3:8: "(on" takes 2 arguments, not 1`},
		{"bare fact", problem("clear", "(and)"), `x.pddl:3:8: expected a fact in parentheses, found "clear"`},
		{"fact with an expression", problem("(cell xpos 1)", "(and)"), `x.pddl:3:14: expected an object or a number, found "xpos"`},
		{"fact with a variable", problem("(clear ?x)", "(and)"), `x.pddl:3:15: variable "?x" is not declared`},
		{"derived fact", problem("(above a b)", "(and)"), `x.pddl:3:8: "(above" is a derived predicate, not a fact`},
		{"true and false", problem("(clear a) (not (clear a))", "(and)"), `x.pddl:3:18: (clear a) is stated both true and false`},
		{"connective", problem("(and (clear a))", "(and)"), `x.pddl:3:9: unknown predicate "and"`},
		{"value of unknown function", problem("(= (total-cost) 0)", "(and)"), `x.pddl:3:12: unknown function "total-cost"`},
		{"value not a number", problem("(= xpos width)", "(and)"), `x.pddl:3:16: expected a number, found "width"`},
		{"two values", problem("(= xpos 1) (= (xpos) 2)", "(and)"), `x.pddl:3:19: (xpos) has two values, 1 and 2`},
		{"value of an object", problem("(= a 2)", "(and)"), `x.pddl:3:11: unknown function "a"`},

		{"unknown predicate in the goal", problem("", "(has a)"), `x.pddl:4:9: unknown predicate "has"`},
		{"unknown object in the goal", problem("", "(clear gem1)"), `x.pddl:4:15: unknown object or function "gem1"`},
		{"preference in the goal", problem("", "(preference x (clear a))"), `x.pddl:4:8: "(preference" is not supported`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := pddl.ParseProblem("x.pddl", []byte(test.src), smallDomain(t))
			wantError(t, err, test.want)
		})
	}
}

func TestMalformedGoal(t *testing.T) {
	p, err := pddl.ParseProblem("p.pddl", []byte(problem("", "(and)")), smallDomain(t))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ src, want string }{
		{"", `goal:1:1: the file holds no goal`},
		{"clear", `goal:1:1: expected "(" to open the goal, found "clear"`},
		{"(clear a", `goal:1:1: "(clear" is not closed`},
		{"(clear a) (clear b)", `goal:1:11: "(clear" follows the end of "(clear": is there a ")" too many before it?`},
		{"(clear ?x)", `goal:1:8: variable "?x" is not declared`},
		{"(:goal (clear a))", `goal:1:2: unknown predicate ":goal"`},
	}
	for _, test := range tests {
		_, err := pddl.ParseGoal("goal", []byte(test.src), p)
		wantError(t, err, test.want)
	}
}

func TestMalformedPlan(t *testing.T) {
	tests := []struct{ src, want string }{
		{"(up)\nup\n", `x.plan:2:1: expected "(" to open an action, found "up"`},
		{"(up)\n0: (up)", `x.plan:2:1: expected "(" to open an action, found "0:"`},
		{"(up)\n(stack a\n(up)\n", `x.plan:2:1: "(stack" is not closed`},
		{"(up)\n ()", `x.plan:2:2: expected the name of an action after "("`},
		{"(stack a ?x)", `x.plan:1:10: expected the name of an object, found "?x"`},
		{"(up))", `x.plan:1:5: ")" closes nothing`},
		{"(7 a)", `x.plan:1:2: expected the name of an action, found "7"`},
	}
	for _, test := range tests {
		_, err := pddl.ParsePlan("x.plan", []byte(test.src))
		wantError(t, err, test.want)
	}
}
