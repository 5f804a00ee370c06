package domains

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/words"
)

// Usable is which parameter sets of a sweep can be used with a study.
type Usable struct {
	Findings study.Findings
	// Sets are those that can be used with every stimulus, as far as it was looked at.
	Sets []model.ParameterSet
}

// CheckModels makes, of every stimulus that could be read, what inference with parameter
// sets needs, and reports what cannot be made. A context that reaches its deadline ends
// that, and a note says what was not looked at; the error is that of a context that is
// cancelled.
func (s *Study) CheckModels(ctx context.Context, sets []model.ParameterSet, limits inference.Limits) (Usable, error) {
	c := modelCheck{study: s, sets: sets, limits: limits, refused: map[inference.Need]bool{}}
	for _, needs := range [][]inference.Need{{inference.Estimates}, {inference.Plans, inference.WholePlans}, {inference.Distances, inference.States}} {
		if err := c.try(ctx, needs); err != nil {
			return Usable{}, err
		}
	}
	confusing := c.confusions()
	usable := Usable{Findings: study.Merge(once(c.found))}
	if len(c.late) > 0 {
		usable.Findings = append(usable.Findings, study.Finding{
			Severity: study.Note, Message: "for want of time it was not tried whether these can be used: " + strings.Join(c.late, "; "),
		})
	}
	for i := range sets {
		if !c.refused[inference.NeedOf(&sets[i])] && !(confusing && sets[i].GoalNoise.Number > 0) {
			usable.Sets = append(usable.Sets, sets[i])
		}
	}
	return usable, nil
}

// modelCheck is a check of models under way.
type modelCheck struct {
	study   *Study
	sets    []model.ParameterSet
	limits  inference.Limits
	found   study.Findings
	late    []string                // what was not looked at
	refused map[inference.Need]bool // with a stimulus
}

// try tries, with every stimulus, needs that share most of the work; each is also
// what the next begins with.
func (c *modelCheck) try(ctx context.Context, needs []inference.Need) error {
	skipped := map[string][]string{} // stimuli, by models
	var order []string
	for i := range c.study.Stimuli {
		st := &c.study.Stimuli[i]
		if !readable(st) {
			continue
		}
		ready := c.study.ready(st)
		for n, need := range needs {
			who := modelsOf(c.sets, needs[n:])
			if who == "" {
				break
			}
			err := ready.Try(ctx, need, c.limits)
			if err == nil {
				continue
			}
			if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			if ctx.Err() != nil {
				if skipped[who] == nil {
					order = append(order, who)
				}
				skipped[who] = append(skipped[who], st.ID)
				break
			}
			f := obstacle(st, need, who, err)
			c.found = append(c.found, f)
			for _, refused := range needs[n:] {
				c.refused[refused] = c.refused[refused] || f.Severity == study.Error
			}
			break
		}
	}
	for _, who := range order {
		c.late = append(c.late, fmt.Sprintf("%s (%s)", who, stimuli(skipped[who], len(c.study.Stimuli))))
	}
	return nil
}

// confusions reports of agents that confuse goals how many goals plans are made for, where
// these are many, and whether they are too many.
func (c *modelCheck) confusions() (tooMany bool) {
	const many = 720 // orders of six letters
	var names []string
	for i := range c.sets {
		if c.sets[i].GoalNoise.Number > 0 && !slices.Contains(names, c.sets[i].Model) {
			names = append(names, c.sets[i].Model)
		}
	}
	if len(names) == 0 {
		return false
	}
	for i := range c.study.Stimuli {
		st := &c.study.Stimuli[i]
		ready := c.study.ready(st)
		goal, count := ready.Confusions()
		f := study.Finding{Stimulus: st.ID, Pos: st.Pos}
		if err := ready.Confusable(); err != nil {
			tooMany = true
			f.Severity, f.Message = study.Error, fmt.Sprintf("%s cannot be used: %v", words.List(names), err)
		} else if count > many {
			f.Severity, f.Message = study.Warning, fmt.Sprintf("%s may take long: goal %q may be taken for %s, and plans are made for each", words.List(names), goal, words.Count(count, "goal"))
		} else {
			continue
		}
		c.found = append(c.found, f)
	}
	return tooMany
}

// CheckProblems finds what cannot be in the world that a problem describes, such as a door
// outside the maze.
func (s *Study) CheckProblems() study.Findings {
	var found study.Findings
	for i := range s.Stimuli {
		st := &s.Stimuli[i]
		if st.Problem == nil {
			continue
		}
		for _, w := range s.Domain.Check(st.Problem) {
			found = append(found, study.Finding{Severity: study.Warning, Pos: w.Pos, Stimulus: st.ID, Message: w.Message})
		}
	}
	return found
}

// readable reports whether a stimulus has all that inference begins with.
func readable(s *study.Stimulus) bool {
	return s.Problem != nil && len(s.Goals) > 0 && !slices.ContainsFunc(s.Goals, func(g study.Goal) bool { return g.Formula == nil })
}

// obstacle is an error of trying what models need, at the place that it is about.
func obstacle(st *study.Stimulus, need inference.Need, who string, err error) study.Finding {
	f := study.Finding{Stimulus: st.ID, Pos: st.Pos}
	if long := (*inference.LongSearchError)(nil); errors.As(err, &long) {
		f.Severity, f.Message = study.Warning, fmt.Sprintf("%s may take very long: %v", who, err)
		return f
	}
	pos, message := st.Locate(err)
	switch {
	case pos != (pddl.Pos{}):
		f.Pos = pos
	case need != inference.States && need != inference.Distances:
		f.Pos = st.Problem.Pos
	}
	message = strings.TrimPrefix(message, "stimulus "+st.ID+": ")
	f.Message = fmt.Sprintf("%s cannot be used: %s", who, message)
	return f
}

// once folds what is the same of several stimuli, and what several have at one place, though
// in the words of different operators.
func once(all study.Findings) study.Findings {
	var kept study.Findings
	for _, f := range all {
		same := slices.IndexFunc(kept, func(g study.Finding) bool {
			who, _, _ := strings.Cut(g.Message, ": ")
			return g.Severity == f.Severity && (g.Message == f.Message || g.Pos == f.Pos && strings.HasPrefix(f.Message, who+": "))
		})
		if same < 0 {
			kept = append(kept, f)
		} else {
			kept[same].Others++
		}
	}
	return kept
}

// modelsOf names the models, and of boltzmann the values, that have one of the needs.
func modelsOf(sets []model.ParameterSet, needs []inference.Need) string {
	var names []string
	for i := range sets {
		if !slices.Contains(needs, inference.NeedOf(&sets[i])) {
			continue
		}
		name := sets[i].Model
		if value, ok := sets[i].Get("value"); ok {
			name += " with value " + value.Word
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return words.List(names)
}

// stimuli names at most five of all stimuli.
func stimuli(ids []string, all int) string {
	const most = 5
	switch {
	case len(ids) == all && all > 1:
		return "all stimuli"
	case len(ids) > most:
		return fmt.Sprintf("stimuli %s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	case len(ids) > 1:
		return "stimuli " + words.List(ids)
	}
	return "stimulus " + ids[0]
}
