package score

import (
	"errors"
	"math/rand/v2"

	"foible.dev/foible/core/random"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/study"
)

// CeilingSplits is the number of random splits into halves behind a ceiling.
const CeilingSplits = 1000

// Ceilings are the reliabilities of people's means, and the correlations that a
// perfect model would reach with these, see [stats.Reliability]; 0 where they are
// not known: for means only, for participants too few (see [TooFew]), or of halves that do not agree.
type Ceilings struct {
	All        stats.Reliability
	ByCategory map[string]stats.Reliability
}

// NewCeilings estimates the ceilings of a study and of its categories.
func NewCeilings(st *study.Study, seed uint64) (Ceilings, error) {
	h := human(st)
	c := Ceilings{ByCategory: map[string]stats.Reliability{}}
	var err error
	if c.All, err = splitHalf(h, random.CeilingStream(seed, "")); err != nil {
		return c, err
	}
	parts := map[string]*stats.Human{}
	var names []string
	for i := range st.Stimuli {
		name := st.Stimuli[i].Category
		if parts[name] == nil {
			parts[name] = &stats.Human{Linked: h.Linked}
			names = append(names, name)
		}
		parts[name].Stimuli = append(parts[name].Stimuli, h.Stimuli[i])
	}
	for _, name := range names {
		if c.ByCategory[name], err = splitHalf(*parts[name], random.CeilingStream(seed, "category "+name)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func splitHalf(h stats.Human, rng *rand.Rand) (stats.Reliability, error) {
	if tooFewParticipants(h) != "" {
		return stats.Reliability{}, nil
	}
	rel, _, err := stats.SplitHalf(h, CeilingSplits, rng)
	if errors.Is(err, stats.ErrNoParticipants) {
		return rel, nil
	}
	return rel, err
}
