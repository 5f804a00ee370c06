// Package house is the world of the examples: a person stands in the middle of
// a corridor of five rooms and wants to go to the kitchen or to the garden, at its
// ends. The examples of the packages of core use it one after the other, from PDDL
// text to a fit.
package house

import (
	"testing/fstest"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/study"
)

// Domain and Problem are the PDDL text.
const (
	Domain = `(define (domain corridor)
  (:requirements :strips :typing)
  (:types room)
  (:predicates (in ?r - room) (beside ?a ?b - room))
  (:action walk
    :parameters (?from ?to - room)
    :precondition (and (in ?from) (beside ?from ?to))
    :effect (and (not (in ?from)) (in ?to))))`

	Problem = `(define (problem house)
  (:domain corridor)
  (:objects kitchen pantry hall porch garden - room)
  (:init (in hall)
         (beside kitchen pantry) (beside pantry kitchen)
         (beside pantry hall) (beside hall pantry)
         (beside hall porch) (beside porch hall)
         (beside porch garden) (beside garden porch)))`
)

// Goals are the candidate goals, in their order in the task.
var Goals = []string{"(in kitchen)", "(in garden)"}

// Plan is an observed plan: the person turns back once on the way to the garden.
const Plan = `(walk hall pantry)
(walk pantry hall)
(walk hall porch)
(walk porch garden)
`

// Task grounds the problem with its goals.
func Task() *ground.Task {
	d, err := pddl.ParseDomain("domain.pddl", []byte(Domain))
	must(err)
	p, err := pddl.ParseProblem("problem.pddl", []byte(Problem), d)
	must(err)
	goals := make([]pddl.Formula, len(Goals))
	for i, text := range Goals {
		goals[i], err = pddl.ParseGoal("goal", []byte(text), p)
		must(err)
	}
	task, err := ground.New(p, goals)
	must(err)
	return task
}

// Steps are the actions of Plan.
func Steps() []pddl.Step {
	steps, err := pddl.ParsePlan("plan", []byte(Plan))
	must(err)
	return steps
}

// Source says where the parts of the study are, and what its goals mean.
var Source = study.Source{
	Name: "house", DomainPDDL: "domain.pddl",
	Stimuli: "stimuli.csv", Problems: "problem.pddl", Plans: "plans/{stimulus}.plan", Responses: "responses.csv",
	Goal: func(name string, _ *pddl.Problem) (string, error) { return "(in " + name + ")", nil },
}

// Study reads the study.
func Study() *study.Study {
	st, findings := study.Read(Files(), Source)
	if len(findings) > 0 {
		panic(findings[0].String())
	}
	return st
}

// Files are those of a study: two participants have judged one stimulus.
func Files() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"domain.pddl":   file(Domain),
		"problem.pddl":  file(Problem),
		"plans/1.plan":  file(Plan),
		"stimuli.csv":   file("stimulus,goals,judgement_steps\n1,kitchen garden,0 1 3\n"),
		"responses.csv": file(responses),
	}
}

const responses = `stimulus,participant,step,goal,probability
1,Ada,0,kitchen,0.5
1,Ada,0,garden,0.5
1,Ada,1,kitchen,0.9
1,Ada,1,garden,0.1
1,Ada,3,kitchen,0.2
1,Ada,3,garden,0.8
1,Ben,0,kitchen,0.6
1,Ben,0,garden,0.4
1,Ben,1,kitchen,0.8
1,Ben,1,garden,0.2
1,Ben,3,kitchen,0.1
1,Ben,3,garden,0.9
`

func must(err error) {
	if err != nil {
		panic(err)
	}
}
