package sweep

import (
	"errors"
	"math/rand/v2"

	"foible/core/stats"
	"foible/core/study"
)

// CeilingSplits is the number of random splits into halves behind a ceiling.
const CeilingSplits = 500

// Ceilings are the correlations that a perfect model would reach with the people
// of a study, see [stats.Ceiling]; 0 where it is not known: of means alone,
// of answers too few, or of halves that do not agree.
type Ceilings struct {
	All        float64
	ByCategory map[string]float64
}

// NewCeilings estimates the ceilings of a study and of its categories.
func NewCeilings(st *study.Study, seed uint64) (Ceilings, error) {
	h := human(st)
	c := Ceilings{ByCategory: map[string]float64{}}
	var err error
	if c.All, err = ceiling(h, CeilingStream(seed, "")); err != nil {
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
		if c.ByCategory[name], err = ceiling(*parts[name], CeilingStream(seed, "category "+name)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func ceiling(h stats.Human, rng *rand.Rand) (float64, error) {
	r, _, err := stats.Ceiling(h, CeilingSplits, rng)
	if errors.Is(err, stats.ErrNoParticipants) {
		return 0, nil
	}
	return r, err
}
