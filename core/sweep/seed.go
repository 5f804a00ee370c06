package sweep

import (
	"encoding/binary"
	"math/rand/v2"
)

// RunStream is the random stream of one run of a cell in a stage. It depends on
// nothing but its arguments: not on worker, attempt or order.
func RunStream(seed uint64, stage string, set *ParameterSet, stimulus string, run int) *rand.Rand {
	return stream(seed, "run "+stage, set.String(), stimulus, uint64(run))
}

// BootstrapStream is the random stream of a study's resamples: the same for
// every parameter set, so that differences between them are paired.
func BootstrapStream(seed uint64, unit string) *rand.Rand {
	return stream(seed, "bootstrap", unit, "", 0)
}

func stream(seed uint64, purpose, what, of string, n uint64) *rand.Rand {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], n)
	h := Hash([]byte(purpose), b[:], []byte(what), []byte(of))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])))
}
