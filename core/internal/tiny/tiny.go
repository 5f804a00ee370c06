// Package tiny has tasks small enough to enumerate, for the tests of other packages.
package tiny

import (
	"fmt"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// Task grounds a problem of a domain, with goals, all as PDDL text.
func Task(t testing.TB, domain, problem string, goals ...string) *ground.Task {
	t.Helper()
	d, err := pddl.ParseDomain("domain.pddl", []byte(domain))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pddl.ParseProblem("problem.pddl", []byte(problem), d)
	if err != nil {
		t.Fatal(err)
	}
	formulas := make([]pddl.Formula, len(goals))
	for i, g := range goals {
		if formulas[i], err = pddl.ParseGoal("goal", []byte(g), p); err != nil {
			t.Fatal(err)
		}
	}
	task, err := ground.New(p, formulas)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

const blocks = `(define (domain blocks) (:requirements :strips :equality)
(:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
(:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
 :effect (and (holding ?x) (not (ontable ?x)) (not (clear ?x)) (not (handempty))))
(:action put-down :parameters (?x) :precondition (holding ?x)
 :effect (and (ontable ?x) (clear ?x) (handempty) (not (holding ?x))))
(:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y) (not (= ?x ?y)))
 :effect (and (on ?x ?y) (clear ?x) (handempty) (not (holding ?x)) (not (clear ?y))))
(:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty) (not (= ?x ?y)))
 :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (handempty)))))`

// Blocks is a world of lettered blocks that all stand on the table, and goals that
// are words, read from the top. Three blocks have 22 states.
func Blocks(t testing.TB, letters string, words ...string) *ground.Task {
	t.Helper()
	var objects, init strings.Builder
	for _, b := range letters {
		fmt.Fprintf(&objects, " %c", b)
		fmt.Fprintf(&init, " (ontable %c) (clear %c)", b, b)
	}
	var goals []string
	for _, w := range words {
		var g strings.Builder
		fmt.Fprintf(&g, "(and (clear %c)", w[0])
		for i := range len(w) - 1 {
			fmt.Fprintf(&g, " (on %c %c)", w[i], w[i+1])
		}
		fmt.Fprintf(&g, " (ontable %c))", w[len(w)-1])
		goals = append(goals, g.String())
	}
	return Task(t, blocks, fmt.Sprintf("(define (problem p) (:domain blocks) (:objects%s) (:init (handempty)%s))", objects.String(), init.String()), goals...)
}

const maze = `(define (domain maze) (:requirements :adl :fluents :derived-predicates)
(:types thing) (:constants key - thing)
(:predicates (lies ?i - thing ?x ?y) (has ?i - thing) (wall ?x ?y) (door ?x ?y) (shut ?x ?y))
(:derived (shut ?x ?y) (or (wall ?x ?y) (door ?x ?y)))
(:functions (x) (y))
(:action take :parameters (?i - thing) :precondition (lies ?i x y) :effect (and (has ?i) (not (lies ?i x y))))
(:action open :parameters () :precondition (and (has key) (door (+ x 1) y))
 :effect (and (not (has key)) (not (door (+ x 1) y))))
(:action east :parameters () :precondition (and (< x 3) (not (shut (+ x 1) y))) :effect (increase x 1))
(:action west :parameters () :precondition (and (> x 1) (not (shut (- x 1) y))) :effect (decrease x 1))
(:action north :parameters () :precondition (and (< y 3) (not (shut x (+ y 1)))) :effect (increase y 1))
(:action south :parameters () :precondition (and (> y 1) (not (shut x (- y 1)))) :effect (decrease y 1)))`

// Maze is a maze of 3 by 3 cells. The agent starts in the middle. In the west a key
// lies in the north and a gem in the south (goal 0); in the east, behind a door,
// lies another one (goal 1). The gem of goal 2 is nowhere.
//
//	k # .
//	. a D
//	0 # 1
func Maze(t testing.TB) *ground.Task {
	t.Helper()
	return Task(t, maze, `(define (problem p) (:domain maze) (:objects near far gone - thing)
(:init (= (x) 2) (= (y) 2) (lies key 1 3) (lies near 1 1) (lies far 3 1) (door 3 2) (wall 2 1) (wall 2 3)))`,
		"(has near)", "(has far)", "(has gone)")
}

// Manhattan estimates the actions to a goal of the maze by a way without doors, and
// 1 to take the gem; gone is the estimate for the third goal.
func Manhattan(task *ground.Task, goal int, gone float64) func(ground.StateID) float64 {
	gem := [][2]float64{{1, 1}, {3, 1}}
	return func(s ground.StateID) float64 {
		switch {
		case task.Satisfies(s, goal):
			return 0
		case goal >= len(gem):
			return gone
		}
		x, _ := task.Value(s, "x")
		y, _ := task.Value(s, "y")
		return max(x-gem[goal][0], gem[goal][0]-x) + max(y-gem[goal][1], gem[goal][1]-y) + 1
	}
}

// Graph is a task of walking along edges, each from a node to a node, single
// letters: "ab" leads from a to b. The goals are nodes.
func Graph(t testing.TB, start string, edges []string, goals ...string) *ground.Task {
	t.Helper()
	seen := map[string]bool{}
	var nodes, facts strings.Builder
	for _, n := range strings.Split(start+strings.Join(edges, "")+strings.Join(goals, ""), "") {
		if !seen[n] {
			seen[n] = true
			nodes.WriteString(" " + n)
		}
	}
	for _, e := range edges {
		fmt.Fprintf(&facts, " (edge %c %c)", e[0], e[1])
	}
	wanted := make([]string, len(goals))
	for i, g := range goals {
		wanted[i] = "(at " + g + ")"
	}
	return Task(t, `(define (domain graph) (:requirements :strips) (:predicates (at ?x) (edge ?x ?y))
(:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y)) :effect (and (not (at ?x)) (at ?y))))`,
		fmt.Sprintf("(define (problem p) (:domain graph) (:objects%s) (:init (at %s)%s))", nodes.String(), start, facts.String()), wanted...)
}

// Node is the node of a graph that the agent is at.
func Node(task *ground.Task, s ground.StateID) string {
	for _, n := range task.Objects("object") {
		if task.Holds(s, "at", n) {
			return n
		}
	}
	return ""
}
