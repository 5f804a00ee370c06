package memory

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

func TestSlurm(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want uint64
	}{
		{nil, 0},
		{map[string]string{"SLURM_MEM_PER_NODE": "4096"}, 4 << 30},
		{map[string]string{"SLURM_MEM_PER_CPU": "1024"}, 1 << 30},
		{map[string]string{"SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_PER_TASK": "8"}, 8 << 30},
		{map[string]string{"SLURM_MEM_PER_NODE": "0"}, 0},
		{map[string]string{"SLURM_MEM_PER_NODE": "much"}, 0},
	} {
		if got := slurm(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: %d bytes, want %d", test.env, got, test.want)
		}
	}
}

func TestDefault(t *testing.T) {
	t.Setenv("SLURM_MEM_PER_NODE", "100")
	b, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if b.Bytes != 80<<20 || b.Source != "what Slurm has granted" {
		t.Errorf("%d bytes by %s, want 80 MiB by Slurm", b.Bytes, b.Source)
	}
}

// A guard asks for memory that can be given back first, then for work to be given up, and takes its limit back.
func TestGuard(t *testing.T) {
	const limit = 256 << 20
	before := debug.SetMemoryLimit(-1)
	var cache atomic.Pointer[[limit / 4]byte]
	held := make([]byte, limit/2)
	cache.Store(new([limit / 4]byte))
	relieved, shed := make(chan struct{}, 1), make(chan struct{}, 1)
	tell := func(c chan struct{}) {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	g := Guard{Limit: limit, Relieve: func() { cache.Store(nil); tell(relieved) }, Shed: func() { tell(shed) }}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { g.Run(ctx); close(ended) }()

	wait := func(what string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatalf("a minute has passed without %s", what)
		}
	}
	runtime.GC()
	wait("asking for the cache", relieved)
	select {
	case <-shed:
		t.Error("work is to be given up though the cache was enough")
	default:
	}
	more := make([]byte, limit/2)
	runtime.GC()
	wait("asking for work to be given up", shed)
	stop()
	wait("an end", ended)
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit of the runtime is %d afterwards, was %d", got, before)
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(more)
}
