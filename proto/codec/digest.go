package codec

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// CellDigest is the same for cells with the same numbers, to the last bit. Why a cell could not be computed is not in it,
// which may be said in other words elsewhere.
type CellDigest [sha256.Size]byte

// CellDigests are those of a job's cells. The error says why the cells cannot be read.
func CellDigests(m *foiblev1.InferResult, shape *sweep.Shape) ([]CellDigest, error) {
	digests := make([]CellDigest, 0, CellCount(m))
	var failed error
	err := eachCell(m, shape, func(_ int, c *result.Cell) {
		one := *c
		if one.Failed() {
			one.Undefined = &result.Undefined{Failed: true}
		}
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(InferResult([]result.Cell{one}, make([]byte, hashing.HashSize)))
		if err != nil && failed == nil {
			failed = err
		}
		digests = append(digests, sha256.Sum256(text))
	})
	if err == nil {
		err = failed
	}
	return digests, err
}
