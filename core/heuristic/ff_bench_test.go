package heuristic

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"foible/core/ground"
)

// The classical blocks world with one hand.
const blocks = `(define (domain blocks) (:requirements :strips :equality :negative-preconditions)
(:predicates (ontable ?x) (on ?x ?y) (clear ?x) (holding ?x) (handempty))
(:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
 :effect (and (holding ?x) (not (ontable ?x)) (not (clear ?x)) (not (handempty))))
(:action put-down :parameters (?x) :precondition (holding ?x)
 :effect (and (ontable ?x) (clear ?x) (handempty) (not (holding ?x))))
(:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y) (not (= ?x ?y)))
 :effect (and (on ?x ?y) (clear ?x) (handempty) (not (holding ?x)) (not (clear ?y))))
(:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty) (not (= ?x ?y)))
 :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (handempty)))))`

// tower is the task of building a tower of all but one of n blocks that stand on the table.
func tower(t testing.TB, n int) *ground.Task {
	t.Helper()
	var objects, init, goal strings.Builder
	for i := range n {
		fmt.Fprintf(&objects, " b%d", i)
		fmt.Fprintf(&init, " (ontable b%d) (clear b%d)", i, i)
		if i < n-2 {
			fmt.Fprintf(&goal, " (on b%d b%d)", i, i+1)
		}
	}
	return newTask(t, blocks, fmt.Sprintf("(define (problem p) (:domain blocks) (:objects%s) (:init (handempty)%s))", objects.String(), init.String()),
		fmt.Sprintf("(and (clear b0)%s (ontable b%d))", goal.String(), n-2))
}

// walk are states along a random walk.
func walk(task *ground.Task, n int) []ground.StateID {
	rng := rand.New(rand.NewPCG(1, 1))
	states := []ground.StateID{task.Initial()}
	for len(states) < n {
		next := task.Successors(states[len(states)-1])
		states = append(states, next[rng.IntN(len(next))].State)
	}
	return states
}

func TestFFDoesNotAllocate(t *testing.T) {
	task := tower(t, 6)
	states := walk(task, 1000)
	h := NewRelaxation(propositional(t, task)).FF(0)
	if n := testing.AllocsPerRun(10, func() {
		for _, s := range states {
			h.evaluate(s)
		}
	}); n != 0 {
		t.Errorf("%v allocations for 1000 cold evaluations", n)
	}
	for _, s := range states {
		h.Value(s)
	}
	if n := testing.AllocsPerRun(10, func() {
		for _, s := range states {
			h.Value(s)
		}
	}); n != 0 {
		t.Errorf("%v allocations for 1000 known values", n)
	}
}

func BenchmarkFFCold(b *testing.B) {
	for _, n := range []int{6, 12} {
		b.Run(fmt.Sprintf("blocks=%d", n), func(b *testing.B) {
			task := tower(b, n)
			states := walk(task, 4096)
			h := NewRelaxation(propositional(b, task)).FF(0)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				h.evaluate(states[i%len(states)])
				i++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evaluations/s")
		})
	}
}

func BenchmarkKnown(b *testing.B) {
	task := tower(b, 6)
	states := walk(task, 4096)
	h := NewRelaxation(propositional(b, task)).FF(0)
	for _, s := range states {
		h.Value(s)
	}
	sum := 0.0
	i := 0
	for b.Loop() {
		sum += h.Value(states[i%len(states)])
		i++
	}
	if sum < 0 {
		b.Error(sum)
	}
}
