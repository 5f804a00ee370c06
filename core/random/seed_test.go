package random_test

import (
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/sweep"
)

// Nothing that is drawn in a recovery is drawn twice: not in its two sweeps, nor for its agents and participants.
func TestRecoveryStreamsAreApart(t *testing.T) {
	set := model.ParameterSet{Model: "boltzmann"}
	firsts := map[uint64]string{}
	add := func(what string, x uint64) {
		if other, ok := firsts[x]; ok {
			t.Errorf("%s draws what %s draws", what, other)
		}
		firsts[x] = what
	}
	for _, seed := range []uint64{0, 1, 2021} {
		for name, seed := range map[string]uint64{"fit": seed, "truth": random.TruthSeed(seed)} {
			add(name+" sample", random.SampleStream(&random.Searches{Seed: seed, Stage: sweep.FitStage, Stimulus: "a", Goal: "g", SearchNoise: 0.5}).Uint64())
			add(name+" run", random.RunStream(seed, sweep.FitStage, &set, "a", 0).Uint64())
		}
		for n := range 2 {
			add("agent", random.RecoveryStream(seed, "agent", "a", n).Uint64())
			add("other agent", random.RecoveryStream(seed, "agent", "b", n).Uint64())
			add("participant", random.RecoveryStream(seed, "participant 0", "a", n).Uint64())
			add("other participant", random.RecoveryStream(seed, "participant 1", "a", n).Uint64())
		}
		if random.TruthSeed(seed) == seed {
			t.Errorf("the seed of the truth of %d is %d", seed, random.TruthSeed(seed))
		}
	}
}
