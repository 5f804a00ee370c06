package study

import "foible.dev/foible/core/pddl"

// Source says where a study's parts are, in the fields of study.yaml. File
// names are slash-separated and relative to the study directory.
type Source struct {
	Name, Title, Domain string
	Simulated           string // how it was simulated; empty = human data

	DomainPDDL string // file; empty = BuiltinPDDL
	Stimuli    string // file
	Problems   string // file, {stimulus} stands for the stimulus id
	Plans      string // file, {stimulus} stands for the stimulus id

	// Responses is a file of probabilities, one row a goal, or, without a
	// column probability, of selections, one row a chosen goal: uniform over
	// the chosen. Empty = none.
	Responses string
	Means     string // file; empty = none

	ParticipantsLinked bool
	Observation        Observation

	// BuiltinPDDL is the domain's own PDDL, used when DomainPDDL is empty.
	BuiltinPDDL []byte

	// Goal is the domain's goal language: the PDDL text of a goal's name in a
	// problem. nil means that names are PDDL formulas.
	Goal func(name string, p *pddl.Problem) (string, error)

	// Where is the position of a field ("stimuli", "problems", ...) in the
	// study file. nil means that only the name study.yaml is known.
	Where func(field string) pddl.Pos
}

func (s *Source) where(field string) pddl.Pos {
	if s.Where == nil {
		return pddl.Pos{File: "study.yaml"}
	}
	return s.Where(field)
}
