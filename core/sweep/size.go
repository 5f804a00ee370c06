package sweep

import (
	"fmt"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/words"
)

// Sizes of messages follow from a sweep's configuration and the shapes of its stimuli, so
// that what would be too large is refused before anything is computed. The store keeps a
// result in one message, and a worker is sent a score job in one.
const (
	// MaxResultBytes is the largest result of a job. There is no other limit of it.
	MaxResultBytes = 8<<20 - 4<<10
	// MaxScoreBytes is the largest score job.
	MaxScoreBytes = 60 << 20
)

const (
	otherBytes = 4 << 10 // more than hash, tags, lengths and reason of a cell take
	varint     = 10      // the longest number of variable length
	double     = 8
	single     = 4
)

// cellBytes is the most that the message of a cell takes, without its runs and for each run.
// Models that are exact take less.
func (s *Shape) cellBytes(p *Procedure) (fixed, run int) {
	points := s.Goals * len(s.JudgementSteps)
	fixed = otherBytes + varint*s.Goals // unreachable_from
	rows := s.Actions + 1
	if p.Detail == DetailJudged {
		rows, run = len(s.JudgementSteps), single*points
	} else {
		run = double * points
		fixed += double * rows * s.Goals // posterior_se
		if p.Method == Marginal {
			fixed += double * rows * s.Goals // log_evidence
		}
	}
	fixed += double * rows * (s.Goals + 1) // posterior, evidence
	if p.Method == SIPS {
		fixed += 2 * double * rows // ess, alive
	}
	if p.Detail == DetailMistakes {
		fixed += 6 * double * s.Actions
	}
	return fixed, run
}

// scoreBytes is the most that a parameter set takes in a score job, without its runs and for
// each run.
func scoreBytes(stimuli []Shape, p *Procedure) (fixed, run int) {
	for i := range stimuli {
		points := stimuli[i].Goals * len(stimuli[i].JudgementSteps)
		fixed += otherBytes + double*(points+len(stimuli[i].JudgementSteps))
		if p.Detail == DetailJudged {
			run += single * points
		} else {
			run += double * points
		}
	}
	return fixed, run
}

// together is how many parameter sets of a procedure fit into one job, on every stimulus.
func together(stimuli []Shape, p *Procedure) int {
	fixed, run := scoreBytes(stimuli, p)
	n := MaxScoreBytes / (fixed + p.Runs*run)
	for i := range stimuli {
		fixed, run := stimuli[i].cellBytes(p)
		n = min(n, MaxResultBytes/(fixed+p.Runs*run))
	}
	return n
}

// SizeError is of a sweep in which a result, or a score job, of a single parameter set would be too large. It says what to
// change.
type SizeError struct {
	Stimulus string // whose results they are; "": it is a score job
	text     string
}

func (e *SizeError) Error() string { return e.text }

// CheckSizes is the first of [Plan.Oversized]; nil if all will fit.
func (p *Plan) CheckSizes(c *Config) error {
	if all := p.Oversized(c); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Oversized finds the results and score jobs that would be too large, each stimulus once. The plan is one of the
// configuration.
func (p *Plan) Oversized(c *Config) []*SizeError {
	var found []*SizeError
	add := func(stimulus string, err error) {
		if err != nil && !slices.ContainsFunc(found, func(e *SizeError) bool { return e.Stimulus == stimulus }) {
			found = append(found, &SizeError{Stimulus: stimulus, text: err.Error()})
		}
	}
	sampled := false
	for _, m := range p.models {
		sampled = sampled || !model.Find(m.Name).Exact
	}
	for round := range p.Rounds() {
		procedure := p.ProcedureOf(c, round)
		if !sampled {
			procedure.Runs = 0
		}
		advice := "lower the runs of the fit stage"
		switch stage := p.stageOf(round); stage {
		case TopUpStage:
			advice = "lower top_up, or the runs of the fit stage,"
		case ReportStage:
			advice = "lower the runs of the report"
		}
		for i := range p.Stimuli {
			s := &p.Stimuli[i]
			fixed, run := s.cellBytes(&procedure)
			what := fmt.Sprintf("stimulus %s: the result of one cell", s.Stimulus)
			why := fmt.Sprintf("%s and %s", words.Count(len(s.JudgementSteps), "judgement step"), words.Count(s.Goals, "goal"))
			if procedure.Detail != DetailJudged {
				why = fmt.Sprintf("%s, %s", words.Count(s.Actions, "action"), why)
			}
			add(s.Stimulus, (&size{what, why, fixed, run, MaxResultBytes}).check(procedure.Runs, advice))
		}
		fixed, run := scoreBytes(p.Stimuli, &procedure)
		what, why := "what is compared with people for one parameter set", words.Count(len(p.Stimuli), "stimulus")
		add("", (&size{what, why, fixed, run, MaxScoreBytes}).check(procedure.Runs, advice))
	}
	return found
}

// size is how large something may be.
type size struct {
	what, why  string // what it is, and what makes it large
	fixed, run int    // bytes: without runs, and for each run
	limit      int    // bytes
}

// check says why it is larger than its limit with a number of runs, and what to change; nil if it is not.
func (s *size) check(runs int, advice string) error {
	bytes := s.fixed + runs*s.run
	if bytes <= s.limit {
		return nil
	}
	text := fmt.Sprintf("%s may have %s, more than the %s that fit into a message: there are %s", s.what, words.Bytes(bytes), words.Bytes(s.limit), s.why)
	if s.fixed+2*s.run > s.limit {
		return fmt.Errorf("%s; leave out judgement steps or goals, or shorten the plan", text)
	}
	return fmt.Errorf("%s, and %s; %s to at most %s", text, words.Count(runs, "run"), advice, words.Thousands((s.limit-s.fixed)/s.run))
}
