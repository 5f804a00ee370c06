// Package study is an experiment as checked values: its stimuli (a PDDL
// problem, candidate goals, an observed plan, judgement steps) and what people
// judged. [Read] turns a study directory into a [Study] and reports everything
// wrong with it as [Findings]; [Check] adds what only a grounded task can tell.
//
// # Tables
//
//	stimuli    stimulus, goals, judgement_steps [, category, true_goal]
//	responses  stimulus, participant, step, goal [, probability, exclude]
//	means      stimulus, step, goal, probability
//
// Columns stand in any order; others are not used, and noted. Goals and
// judgement steps are lists separated by spaces. Ids are text, compared as they
// are; goals match without regard to case. Probabilities of one answer sum to 1
// within 0.02 and are renormalised. Without a column probability each row is a
// chosen goal, see [DontKnow]. Where there is no answer, a row may be left out or say so,
// see [NoAnswer]. A text in exclude leaves the row out and says why.
//
// Files are UTF-8, or UTF-16 with byte order mark; cells are separated by
// commas, semicolons or tabs, as the header line shows, or Excel's "sep=;"
// above it. Numbers have a decimal point or comma. Positions count characters.
package study

import (
	"fmt"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// Study is one experiment in one domain.
type Study struct {
	Name, Title, Domain string

	// Simulated says how the judgements were made when no people made them;
	// empty means human data.
	Simulated string

	Stimuli     []Stimulus
	Observation Observation

	// ParticipantsLinked: one participant id in two stimuli is one person.
	ParticipantsLinked bool
}

// Observation is the noise with which the observer sees states: the
// probability that a Boolean fact is seen flipped (epsilon_o), and the standard
// deviation of the Gaussian noise on numeric fluents (sigma_o).
type Observation struct {
	PredicateNoise, FluentNoise float64
}

// Stimulus is one observed plan with its candidate goals. Problem and a Goal's
// Formula are nil only where Read reported an error.
type Stimulus struct {
	ID, Category string
	Pos          pddl.Pos // of the id in the stimuli file

	Goals    []Goal
	TrueGoal int // index into Goals, -1 unknown

	Problem *pddl.Problem
	Plan    []pddl.Step

	// JudgementSteps ascend; step k is "after k actions", 0 the initial state.
	JudgementSteps []int

	Human Judgements
}

// Goal is a candidate goal: the domain's name for it and what it means.
type Goal struct {
	Name    string
	Pos     pddl.Pos // of the name in the stimuli file
	Formula pddl.Formula
}

// Judgements are the human judgements of one stimulus: probabilities over its
// goals that sum to 1. j indexes JudgementSteps, g indexes Goals.
type Judgements struct {
	// Participants are ids in order of first appearance; nil when only means
	// are known or nobody answered.
	Participants []string

	// Responses is [participant][j][g]; a nil [g] slice means that this
	// participant did not answer at j.
	Responses [][][]float64

	// Mean is [j][g]; Mean[j] is nil where nobody answered.
	Mean [][]float64

	// SE is [j][g], the standard error of Mean: sd (n-1) / sqrt(n). SE is nil
	// without a responses file, SE[j] where fewer than two answered.
	SE [][]float64

	// N[j] counts the participants that answered; 0 when only means are known.
	N []int
}

// Task grounds the stimulus for its goals, anew at each call.
func (s *Stimulus) Task() (*ground.Task, error) {
	if s.Problem == nil {
		return nil, fmt.Errorf("stimulus %s has no problem", s.ID)
	}
	for _, g := range s.Goals {
		if g.Formula == nil {
			return nil, fmt.Errorf("stimulus %s: goal %q has no meaning", s.ID, g.Name)
		}
	}
	t, err := ground.New(s.Problem, s.formulas())
	if err != nil {
		return nil, fmt.Errorf("stimulus %s: %w", s.ID, err)
	}
	return t, nil
}

func (s *Stimulus) formulas() []pddl.Formula {
	goals := make([]pddl.Formula, len(s.Goals))
	for i, g := range s.Goals {
		goals[i] = g.Formula
	}
	return goals
}

// file is what positions in the goal's formula call its text.
func (g Goal) file() string { return "goal " + g.Name }
