package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"foible/core/pddl"
	"foible/core/policy"
	"foible/core/study"
	"foible/domains/blockwords"
	"foible/domains/doorskeysgems"
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
	goal         func(string, *pddl.Problem) (string, error)
	linked       bool   // the same participants in all stimuli
	header       string // of responses.csv
	answer       answer
}

// answer is what a participant writes down of a belief: the cells of each row
// from the goal on.
type answer func(goals []string, belief []float64) []string

var samples = []sample{
	{
		name: blockwords.Name, folder: "blockwords",
		files: blockwords.Sample, pddl: blockwords.PDDL, goal: blockwords.Goal,
		header: "stimulus,participant,step,goal,probability", answer: probabilities,
	},
	{
		name: doorskeysgems.Name, folder: "doorskeysgems",
		files: doorskeysgems.Sample, pddl: doorskeysgems.PDDL, goal: doorskeysgems.Goal,
		header: "stimulus,participant,step,goal", answer: selection, linked: true,
	},
}

// responses are the bytes of responses.csv.
func (s *sample) responses() ([]byte, error) {
	st, findings := study.Read(s.files, study.Source{
		Name: s.name, Domain: s.name, BuiltinPDDL: s.pddl, Goal: s.goal,
		Stimuli: "stimuli.csv", Problems: "problems/{stimulus}.pddl", Plans: "plans/{stimulus}.plan",
	})
	if err := findings.Err(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var people []participant
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
func (s *sample) judge(b *bytes.Buffer, stimulus *study.Stimulus, people []participant, rng *rand.Rand) error {
	task, err := stimulus.Task()
	if err != nil {
		return err
	}
	observer, err := policy.NewObserver(task, stimulus.Plan, nil)
	if err != nil {
		return err
	}
	var goals []string
	for _, g := range stimulus.Goals {
		goals = append(goals, g.Name)
	}
	for i, p := range people {
		posterior, err := observer.Posterior(policy.Parameters{Alpha: p.alpha, Value: policy.Optimal, Unreachable: -1000})
		if err != nil {
			return err
		}
		if u := posterior.Undefined; u != nil {
			return fmt.Errorf("no posterior: %s", u.Reason)
		}
		for _, step := range stimulus.JudgementSteps {
			for _, row := range s.answer(goals, p.belief(posterior.Goals[step], rng)) {
				fmt.Fprintf(b, "%s,%02d,%d,%s\n", stimulus.ID, i+1, step, row)
			}
		}
	}
	return nil
}
