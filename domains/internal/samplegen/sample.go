package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/participant"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains/blockwords"
	"foible.dev/foible/domains/doorskeysgems"
)

const (
	seed  = 2021
	crowd = 20 // participants of a stimulus
)

// sample is a sample study and the form of its responses.
type sample struct {
	name, folder string
	files        fs.FS
	pddl         []byte
	domain       inference.Domain
	generating   model.ParameterSet // of the observers
	linked       bool               // the same participants in all stimuli
	header       string             // of responses.csv
	answer       answer
}

// answer is what a participant writes down of a belief: the cells of each row
// from the goal on.
type answer func(goals []string, belief []float64) []string

var samples = []sample{
	{
		name: blockwords.Name, folder: "blockwords",
		files: blockwords.Sample, pddl: blockwords.PDDL,
		domain: inference.Domain{
			Heuristics: blockwords.Heuristics, Goal: blockwords.Goal, Corruptions: blockwords.Corruptions, CorruptionCount: blockwords.CorruptionCount, PredicateNoise: 0.1,
		},
		generating: fullModel(0.2, 2, 0.95, 0.02, 0.1),
		header:     "stimulus,participant,step,goal,probability", answer: probabilities,
	},
	{
		name: doorskeysgems.Name, folder: "doorskeysgems",
		files: doorskeysgems.Sample, pddl: doorskeysgems.PDDL,
		domain:     inference.Domain{Heuristics: doorskeysgems.Heuristics, Goal: doorskeysgems.Goal, PredicateNoise: 0.05, FluentNoise: 0.25},
		generating: fullModel(0, 2, 0.95, 0.5, 0.1),
		header:     "stimulus,participant,step,goal", answer: selection, linked: true,
	},
}

// fullModel is a parameter set of the model full, of the default grid.
func fullModel(goalNoise, r, q, searchNoise, actionNoise float64) model.ParameterSet {
	set := model.ParameterSet{Model: "full"}
	set.GoalNoise.Number, set.BudgetR.Number, set.BudgetQ.Number = goalNoise, r, q
	set.SearchNoise.Number, set.ActionNoise.Number = searchNoise, actionNoise
	return set
}

// procedure is precise: the posteriors are the mean of many runs, one filter a goal.
func procedure() sweep.Procedure {
	in := sweep.PaperInference
	in.Filters = "per_goal"
	return sweep.Procedure{StageName: "sample", Stage: sweep.Stage{Runs: 20, ParticlesPerGoal: 500}, Inference: in}
}

// responses are the bytes of responses.csv.
func (s *sample) responses() ([]byte, error) {
	st, findings := study.Read(s.files, study.Source{
		Name: s.name, Domain: s.name, BuiltinPDDL: s.pddl, Goal: s.domain.Goal,
		Stimuli: "stimuli.csv", Problems: "problems/{stimulus}.pddl", Plans: "plans/{stimulus}.plan",
	})
	if err := findings.Err(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var people []participant.Participant
	var b bytes.Buffer
	fmt.Fprintln(&b, s.header)
	for i := range st.Stimuli {
		if i == 0 || !s.linked {
			people = recruit(rng, crowd)
		}
		if err := s.judge(&b, &st.Stimuli[i], people, rng); err != nil {
			return nil, fmt.Errorf("stimulus %s: %w", st.Stimuli[i].ID, err)
		}
	}
	return b.Bytes(), nil
}

// judge writes the rows of one stimulus.
func (s *sample) judge(b *bytes.Buffer, stimulus *study.Stimulus, people []participant.Participant, rng *rand.Rand) error {
	cell, err := inference.New(stimulus, s.domain).Infer(context.Background(), &s.generating, procedure(), seed)
	if err != nil {
		return err
	}
	if u := cell.Undefined; u != nil {
		return fmt.Errorf("no posterior: %s", u.Reason)
	}
	var goals []string
	for _, g := range stimulus.Goals {
		goals = append(goals, g.Name)
	}
	for i, p := range people {
		for _, step := range stimulus.JudgementSteps {
			for _, row := range s.answer(goals, p.Belief(cell.Posterior[step], rng)) {
				fmt.Fprintf(b, "%s,%02d,%d,%s\n", stimulus.ID, i+1, step, row)
			}
		}
	}
	return nil
}
