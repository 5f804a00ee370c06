package serve

import (
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/core/words"
	"foible.dev/foible/worker"
	"foible.dev/foible/worker/memory"
)

// Slots checks a number of worker slots given by a flag; 0 is one a core.
func Slots(flag string, n int) (int, error) {
	if n < 0 || n > MaxSlots {
		return 0, cli.Usagef("%s %d: must be 1 to %d", flag, n, MaxSlots)
	}
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return n, nil
}

// MaxSlots is what a worker accepts.
const MaxSlots = 1024

// minMemory is enough for a worker and one small job, in bytes.
const minMemory = 128 << 20

// MemoryBudget is what a worker may use, in bytes: what --memory says, or else most of
// what there is. 0 is no bound, where nobody knows how much there is.
func MemoryBudget(flag string) (int64, error) {
	if flag == "" {
		budget, err := memory.Default()
		if err != nil {
			return 0, nil // it works without a bound, as long as memory suffices
		}
		return budget.Bytes, nil
	}
	n, err := words.ParseBytes(flag)
	if err != nil {
		return 0, cli.Usagef("--memory: %v", err)
	}
	if n < minMemory {
		return 0, cli.Usagef("--memory %s: must be at least %s", flag, words.Bytes(int64(minMemory)))
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

// MemoryFlag bounds what workers may use.
func MemoryFlag(c *cobra.Command, memory *string) {
	c.Flags().StringVar(memory, "memory", "", "`size` of the memory that this process may use, e.g. 8GiB; near it, fewer jobs are done at once (default: four fifths\nof what the machine, the control group or Slurm grants)")
}

var started = time.Now()
