// Package random makes the random streams of a sweep. A stream follows from the sweep's
// seed and from what it is for, and from nothing else: not from worker, attempt or order.
package random

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
)

// RunStream is the random stream of one run of a cell in a stage. It depends on
// nothing but its arguments: not on worker, attempt or order.
func RunStream(seed uint64, stage string, set *model.ParameterSet, stimulus string, run int) *rand.Rand {
	return stream(seed, "run "+stage, set.String(), stimulus, uint64(run))
}

// Searches name a block of searches for a goal from the state after Tau actions of a
// stimulus, in a stage.
type Searches struct {
	Seed            uint64
	Stage, Stimulus string
	Tau             int
	Goal            string
	SearchNoise     float64 // in cost
	Block           int
}

// SampleStream is the random stream of a block of searches. Every parameter set with their
// search noise shares them.
func SampleStream(s *Searches) *rand.Rand {
	return fromHash([]byte("sample"), hashing.Word(s.Seed), []byte(s.Stage), []byte(s.Stimulus), hashing.Word(uint64(s.Tau)), []byte(s.Goal),
		hashing.Word(math.Float64bits(s.SearchNoise)), hashing.Word(uint64(s.Block)))
}

// BootstrapStream is the random stream of a study's resamples: the same for
// every parameter set, so that differences between them are paired.
func BootstrapStream(seed uint64, unit string) *rand.Rand {
	return stream(seed, "bootstrap", unit, "", 0)
}

// CeilingStream is the random stream of the splits of a study's people into
// halves; "of" names the part of the study, "" is all of it.
func CeilingStream(seed uint64, of string) *rand.Rand {
	return stream(seed, "ceiling", of, "", 0)
}

func stream(seed uint64, purpose, what, of string, n uint64) *rand.Rand {
	return fromHash([]byte(purpose), append(hashing.Word(seed), hashing.Word(n)...), []byte(what), []byte(of))
}

func fromHash(parts ...[]byte) *rand.Rand {
	h := hashing.Hash(parts...)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])))
}

// TieStream is the random stream of [stats.Ties] of a model's fits after a round.
func TieStream(seed uint64, model string, round int) *rand.Rand {
	return stream(seed, "warning", "ties", model, uint64(round))
}

// WarningStream is the random stream of a check of a model's fits, such as
// permutations; it changes no result.
func WarningStream(seed uint64, check, model string) *rand.Rand {
	return stream(seed, "warning", check, model, 0)
}

// RecoveryStream is the n-th random stream of a purpose in a recovery of known
// settings, such as the plan of an agent or the answers of a participant, "of" something.
func RecoveryStream(seed uint64, purpose, of string, n int) *rand.Rand {
	return stream(seed, "recovery "+purpose, of, "", uint64(n))
}

// TruthSeed is the seed of the sweep that says what simulated observers infer,
// next to the sweep with this seed, to which they are fitted: nothing sampled is shared.
func TruthSeed(seed uint64) uint64 {
	return binary.LittleEndian.Uint64(hashing.Hash([]byte("recovery truth"), hashing.Word(seed)))
}
