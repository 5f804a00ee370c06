package study_test

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/study"
)

// A study small enough to see: one switches lamps on, each once.
const (
	lampsDomain = `(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (dark ?l - lamp) (lit ?l - lamp))
  (:action switch
   :parameters (?l - lamp)
   :precondition (dark ?l)
   :effect (and (lit ?l) (not (dark ?l)))))
`
	lampsProblem = `(define (problem room)
  (:domain lamps)
  (:objects red green blue white broken - lamp)
  (:init (dark red) (dark green) (dark blue) (lit white)))
`
	lampsStimuli = `stimulus,category,goals,true_goal,judgement_steps
one,plain,red green,red,0 1
two,odd,green blue red,,1 2
`
	lampsResponses = `stimulus,participant,step,goal,probability
one,p1,0,red,0.5
one,p1,0,green,0.5
one,p1,1,red,0.75
one,p1,1,green,0.25
one,p2,0,red,0.25
one,p2,0,green,0.75
one,p2,1,red,0.75
one,p2,1,green,0.25
two,p1,1,red,0.33
two,p1,1,green,0.33
two,p1,1,blue,0.33
two,p1,2,red,0.5
two,p1,2,green,0.25
two,p1,2,blue,0.25
two,p2,2,red,0
two,p2,2,green,1
two,p2,2,blue,0
`
	lampsSelections = `stimulus,participant,step,goal
one,p1,0,don't know
one,p1,1,Red
one,p2,0,green
one,p2,0,red
one,p2,1,?
two,p1,1,red
two,p1,2,Dont-Know
`
	lampsMeans = `stimulus,step,goal,probability
one,0,red,0.375
one,0,green,0.625
one,1,red,0.75
one,1,green,0.25
`
)

func lampsSource() study.Source {
	return study.Source{
		Name: "lamps", Domain: "lamps", DomainPDDL: "domain.pddl",
		Stimuli: "stimuli.csv", Problems: "problem.pddl", Plans: "plans/{stimulus}.plan",
		Responses: "responses.csv",
		Goal: func(name string, p *pddl.Problem) (string, error) {
			if p.Object(name) == nil {
				return "", fmt.Errorf("no lamp of that name")
			}
			return "(lit " + name + ")", nil
		},
	}
}

func lamps() map[string]string {
	return map[string]string{
		"domain.pddl":    lampsDomain,
		"problem.pddl":   lampsProblem,
		"plans/one.plan": "(switch red)\n",
		"plans/two.plan": "(switch blue)\n(switch red)\n",
		"stimuli.csv":    lampsStimuli,
		"responses.csv":  lampsResponses,
	}
}

// folder is a file system of texts.
func folder(files map[string]string) fs.FS {
	fsys := fstest.MapFS{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fsys[name] = &fstest.MapFile{Data: []byte(files[name])}
	}
	return fsys
}

// swap replaces one occurrence in a file of the lamps.
func swap(file, old, to string) map[string]string {
	files := lamps()
	if !strings.Contains(files[file], old) {
		panic(file + " has no " + old)
	}
	files[file] = strings.Replace(files[file], old, to, 1)
	return files
}

// with replaces a file of the lamps.
func with(file, text string) map[string]string {
	files := lamps()
	files[file] = text
	return files
}

// swapped replaces one occurrence more.
func swapped(files map[string]string, file, old, to string) map[string]string {
	files[file] = strings.Replace(files[file], old, to, 1)
	return files
}

// without lacks a file of the lamps.
func without(file string) map[string]string {
	files := lamps()
	delete(files, file)
	return files
}

// renamed has a file of the lamps under another name.
func renamed(file, name string) map[string]string {
	files := lamps()
	files[name] = files[file]
	delete(files, file)
	return files
}

// withStimulus calls stimulus one id among the stimuli, and other in the
// responses.
func withStimulus(id, other string) map[string]string {
	files := lamps()
	files["plans/"+id+".plan"] = files["plans/one.plan"]
	files["stimuli.csv"] = strings.ReplaceAll(lampsStimuli, "one,", id+",")
	files["responses.csv"] = strings.ReplaceAll(lampsResponses, "one,", other+",")
	return files
}
