package command

import (
	"foible.dev/foible/core/words"
	"foible.dev/foible/worker"
	"foible.dev/foible/worker/memory"
)

// minMemory is enough for a worker and one small job, in bytes.
const minMemory = 128 << 20

// memoryBudget is what a worker may use, in bytes: what --memory says, or else most of
// what there is. 0 is no bound, where nobody knows how much there is.
func memoryBudget(flag string) (int64, error) {
	if flag == "" {
		budget, err := memory.Default()
		if err != nil {
			return 0, nil // it works without a bound, as long as memory suffices
		}
		return budget.Bytes, nil
	}
	n, err := words.ParseBytes(flag)
	if err != nil {
		return 0, usagef("--memory: %v", err)
	}
	if n < minMemory {
		return 0, usagef("--memory %s: must be at least %s", flag, words.Bytes(int64(minMemory)))
	}
	return n, nil
}

// samplesMemory is the part of a worker's memory that the samples of marginal inference
// may take for each slot: a quarter of all.
func samplesMemory(memory int64, slots int) int64 {
	if memory == 0 {
		return 0
	}
	return min(worker.MaxSamplesMemory, memory/4/int64(slots))
}
