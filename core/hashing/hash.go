// Package hashing makes hashes of values, part by part, which are the same on every machine.
package hashing

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// HashSize is the length of a hash, in bytes.
const HashSize = sha256.Size

// Hash is SHA-256 over length-prefixed parts: the echo by which a coordinator
// knows that a result answers the question that it asked.
func Hash(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = AppendPart(all, part)
	}
	sum := sha256.Sum256(all)
	return sum[:]
}

func AppendPart(b, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(part))), part...)
}

// AppendBytes appends numbers in double precision, little-endian.
func AppendBytes[T float32 | float64](b []byte, xs []T) []byte {
	at := len(b)
	b = slices.Grow(b, 8*len(xs))[:at+8*len(xs)]
	for i, x := range xs {
		binary.LittleEndian.PutUint64(b[at+8*i:], math.Float64bits(float64(x)))
	}
	return b
}

func Word(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
