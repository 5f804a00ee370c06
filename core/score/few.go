package score

import (
	"fmt"
	"math"

	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// Statistics of too few units are not given, since they would look surer than they are.
const (
	// FewestUnits are resampled: participants in every stimulus, or stimuli. Of n units there are
	// C(2n-1, n) different resamples: 1, 3, 10, 35, 126. From 5 on they are more than 40, so that either
	// tail of 2.5 % is more than one of them. Reliability, which halves the participants, the
	// comparison of models over participants, and the recovery of a parameter over datasets need as many.
	FewestUnits = 5
	// FewestPoints are correlated: r of two points is -1 or 1 whatever they are.
	FewestPoints = 3
	// FewestFolds are the stimuli of a cross-validation: parameters are chosen by all but one of them,
	// and one stimulus is not to be chosen by.
	FewestFolds = 3
)

// Few is a statistic that is not given, and why.
type Few struct {
	What   string // a unit of resampling, as of [result.Interval]; reliability; cross-validation; comparison
	Reason string // "1 stimulus, and 5 are needed"
}

// What Few may be of, besides units.
const (
	Reliability      = "reliability"
	FewForFolds      = "cross-validation"
	FewForComparison = "comparison"
)

// TooFew lists the statistics that are not given of a study, in the order of the bootstrap's units; none
// that it cannot have at all, because only means are known.
func TooFew(st *study.Study, b sweep.Bootstrap) []Few {
	h := human(st)
	var all []Few
	add := func(what, reason string) {
		if reason != "" {
			all = append(all, Few{what, reason})
		}
	}
	if b.Resamples > 0 {
		for _, unit := range b.Units {
			add(unit, tooFewUnits(h, unit))
		}
	}
	add(Reliability, tooFewParticipants(h))
	add(FewForFolds, fewer(judgedStimuli(h), "stimulus", FewestFolds))
	if n := answering(h); n > 0 {
		add(FewForComparison, fewer(n, "participant", FewestUnits))
	}
	return all
}

// tooFewUnits says why people are not resampled by a unit; "" if they are, or have no participants.
func tooFewUnits(h stats.Human, unit string) string {
	reason := ""
	if unit != stats.ByStimuli.String() {
		reason = tooFewParticipants(h)
	}
	if unit != stats.ByParticipants.String() && reason == "" {
		reason = fewer(judgedStimuli(h), "stimulus", FewestUnits)
	}
	return reason
}

// tooFewParticipants is of the stimulus with the fewest; "" where a stimulus has only means.
func tooFewParticipants(h stats.Human) string {
	least := -1
	for _, s := range h.Stimuli {
		if !hasPoints(s) {
			continue
		}
		if len(s.Values) == 0 {
			return ""
		}
		if n := len(s.Values); least < 0 || n < least {
			least = n
		}
	}
	if least < 0 || least >= FewestUnits {
		return ""
	}
	return fmt.Sprintf("a stimulus has %s, and %d are needed in each", words.Count(least, "participant"), FewestUnits)
}

func fewer(n int, thing string, needed int) string {
	if n >= needed || n == 0 {
		return ""
	}
	return fmt.Sprintf("%s, and %d are needed", words.Count(n, thing), needed)
}

// judgedStimuli is the number of stimuli with a point.
func judgedStimuli(h stats.Human) int {
	n := 0
	for _, s := range h.Stimuli {
		if hasPoints(s) {
			n++
		}
	}
	return n
}

func hasPoints(s stats.Responses) bool {
	for _, x := range s.Mean {
		if !math.IsNaN(x) {
			return true
		}
	}
	return false
}

// answering is the number of participants, one who is not linked counting once in each stimulus.
func answering(h stats.Human) int {
	n, linked := 0, map[string]bool{}
	for _, s := range h.Stimuli {
		for i := range s.Values {
			if h.Linked {
				linked[s.Participants[i]] = true
			} else {
				n++
			}
		}
	}
	return n + len(linked)
}
