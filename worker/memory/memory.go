// Package memory keeps a process within a budget of memory: it finds out how
// much there is, and acts before live memory outgrows what is allowed.
//
// Read [Default] first, then [Guard].
package memory

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Budget is how much memory a process may use.
type Budget struct {
	Bytes  int64
	Source string // where the number comes from, for messages
}

// share of the memory that there is which a process uses by default. The rest is
// for the system, and for what the garbage collector has not returned yet.
const share = 0.8

// Default is four fifths of what there is: the smallest of the machine's memory,
// the limit of the process's cgroup, and what Slurm has granted to the job on
// this node. The error is of a system that tells none of these.
func Default() (Budget, error) {
	smallest := Budget{Bytes: math.MaxInt64}
	consider := func(bytes uint64, source string) {
		if bytes > 0 && bytes < uint64(smallest.Bytes) {
			smallest = Budget{int64(bytes), source}
		}
	}
	if n, err := memlimit.FromSystem(); err == nil {
		consider(n, "the machine's memory")
	}
	if n, err := memlimit.FromCgroup(); err == nil {
		consider(n, "the limit of the control group")
	}
	consider(slurm(os.Getenv), "what Slurm has granted")
	if smallest.Source == "" {
		return Budget{}, fmt.Errorf("cannot tell how much memory there is; say it with a number")
	}
	smallest.Bytes = int64(share * float64(smallest.Bytes))
	return smallest, nil
}

// slurm is the memory that Slurm has granted on this node, in bytes; 0 if it says nothing.
// See the output environment variables of sbatch(1), which are in MiB.
func slurm(getenv func(string) string) uint64 {
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(getenv(name), 10, 32)
		if err != nil {
			return 0
		}
		return n
	}
	if n := number("SLURM_MEM_PER_NODE"); n > 0 {
		return n << 20
	}
	return number("SLURM_MEM_PER_CPU") * max(1, number("SLURM_CPUS_PER_TASK")) << 20
}

// Guard watches the live memory of this process, and acts when it nears the budget.
type Guard struct {
	// Limit is the budget in bytes.
	Limit int64
	// Relieve drops what can be made again. It is called at most once for each collection of garbage.
	Relieve func()
	// Shed gives up some work. It is called when Relieve was not enough, at most once
	// for each collection of garbage.
	Shed func()
}

// Where a guard acts, as shares of its limit.
const (
	relieveAt = 0.6
	shedAt    = 0.85
)

// interval is the pause between two looks: short, since a gigabyte is allocated in half a second.
const interval = 50 * time.Millisecond

// Run sets the soft limit of Go's runtime, watches until ctx ends, and takes the limit back.
func (g *Guard) Run(ctx context.Context) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(g.Limit))
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var seen uint64 // the collection that was dealt with last
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if live, collections := Live(); collections != seen && float64(live) > relieveAt*float64(g.Limit) {
			seen = g.act(live, collections)
		}
	}
}

// act frees memory, and returns the collection of garbage that tells what came of it.
func (g *Guard) act(live, collections uint64) uint64 {
	shedAt := shedAt * float64(g.Limit)
	g.Relieve()
	if float64(live) <= shedAt {
		return collections
	}
	runtime.GC()
	if live, collections = Live(); float64(live) > shedAt {
		g.Shed()
	}
	return collections
}

// Live is the memory in bytes that the last collection of garbage found in use, with
// stacks, and the number of collections so far.
func Live() (bytes, collections uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64(), samples[2].Value.Uint64()
}
