package codec_test

import (
	"math"
	"testing"

	"foible.dev/foible/core/result"
	"foible.dev/foible/proto/codec"
)

// The digest of a cell changes with the last bit of any number, and not with the words for why it has failed, nor with the
// cells around it.
func TestCellDigests(t *testing.T) {
	of := func(cells ...result.Cell) []codec.CellDigest {
		digests, err := codec.CellDigests(codec.InferResult(cells, hashesOf(len(cells))), shape())
		if err != nil {
			t.Fatal(err)
		}
		return digests
	}
	for name, test := range map[string]struct {
		make  func() result.Cell
		spoil func(*result.Cell)
	}{
		"posterior":    {cell, func(c *result.Cell) { c.Posterior[1][0] = math.Nextafter(c.Posterior[1][0], 1) }},
		"reach":        {cell, func(c *result.Cell) { c.UnreachableFrom[0] = 1 }},
		"evidence":     {marginal, func(c *result.Cell) { c.Evidence[1] = math.Nextafter(c.Evidence[1], -9) }},
		"searches":     {marginal, func(c *result.Cell) { c.Samples++ }},
		"error":        {filtered, func(c *result.Cell) { c.SE[1][0] += 1e-12 }},
		"packed":       {func() result.Cell { return judgedJob()[0] }, func(c *result.Cell) { c.Posterior[0][0] = math.Nextafter(c.Posterior[0][0], 0) }},
		"failed alone": {cell, func(c *result.Cell) { *c = result.FailedCell("why") }},
	} {
		one, other := test.make(), test.make()
		if of(one)[0] != of(other)[0] {
			t.Errorf("%s: two digests of one cell", name)
		}
		test.spoil(&other)
		if digests := of(one, other); digests[0] == digests[1] || digests[0] != of(one)[0] {
			t.Errorf("%s: %x", name, digests)
		}
	}
	if digests := of(result.FailedCell("no memory"), result.FailedCell("little memory")); digests[0] != digests[1] {
		t.Error("the reason of a failure is in the digest")
	}
}
