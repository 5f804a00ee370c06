package heuristic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
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

// Where there is no room to keep what facts rest on, it is found again, and estimates are the same.
func TestFFWithoutRoom(t *testing.T) {
	task := tower(t, 6)
	states := walk(task, 300)
	p := propositional(t, task)
	kept, forgetful := NewRelaxation(p), NewRelaxation(p)
	want, got := kept.FF(0), forgetful.FF(0)
	forgetful.room = 3 * len(forgetful.goals) * forgetful.words // of three states
	for range 2 {
		for _, s := range states {
			if w, g := want.evaluate(s), got.evaluate(s); w != g {
				t.Fatalf("state %d: %v, want %v", s, g, w)
			}
		}
	}
	if len(forgetful.kept) > forgetful.room || len(kept.kept) <= forgetful.room {
		t.Errorf("%d numbers are kept where there is room for %d; %d are where there is room", len(forgetful.kept), forgetful.room, len(kept.kept))
	}
}

// BenchmarkFFCold evaluates states that the relaxation has not seen before, and, as
// "goals=120", 120 goals in each, as many as a word of five letters may be taken for:
// they share what the first one finds out.
func BenchmarkFFCold(b *testing.B) {
	for _, n := range []int{6, 12} {
		for _, goals := range []int{1, 120} {
			b.Run(fmt.Sprintf("blocks=%d/goals=%d", n, goals), func(b *testing.B) {
				task := tower(b, n)
				states := walk(task, 20_000)
				slices.Sort(states)
				states = slices.Compact(states)
				r := NewRelaxation(propositional(b, task))
				h := r.FF(0)
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if i == len(states) {
						i, r.kept, r.known = 0, r.kept[:0], r.known[:0]
					}
					for range goals {
						h.evaluate(states[i])
					}
					i++
				}
				b.ReportMetric(float64(b.N*goals)/b.Elapsed().Seconds(), "evaluations/s")
			})
		}
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
