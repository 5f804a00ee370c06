package replica_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/coordinator/replica"
)

func TestOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there, third := replica.New(), replica.New(), replica.New()
		say := func(from *replica.Others, p replica.Presence) []byte {
			t.Helper()
			m, err := from.Message(p)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		load := replica.Load{Leased: 2, Tally: replica.Tally{Copies: 1, Seconds: 1.5}}
		first := say(there, replica.Presence{Workers: 1, Slots: 4, Sweeps: map[string]replica.Load{"s": load}, Aside: []string{"w"}, Settings: replica.Settings{Version: "1"}})
		if p := here.Hear(first); p == nil || p.Version != "1" || p.Sweeps["s"] != load {
			t.Errorf("heard %+v", p)
		}
		if here.Hear(first) != nil {
			t.Error("who has been heard before is news")
		}
		if here.Hear(say(here, replica.Presence{Workers: 9})) != nil || here.Hear([]byte("{")) != nil {
			t.Error("its own message, or one that cannot be read, is taken up")
		}
		time.Sleep(3 * replica.Interval)
		here.Hear(say(third, replica.Presence{Workers: 2, Slots: 2, Sweeps: map[string]replica.Load{"s": load}, Aside: []string{"a"}}))
		workers, slots, sum := here.Sum("s")
		if workers != 3 || slots != 6 || sum.Leased != 4 || sum.Copies != 2 || sum.Seconds != 3 {
			t.Errorf("%d workers, %d slots, %+v", workers, slots, sum)
		}
		if aside := here.Aside(); !slices.Equal(aside, []string{"a", "w"}) {
			t.Errorf("%q", aside)
		}
		time.Sleep(2 * replica.Interval) // the first one says nothing any more
		if workers, _, sum := here.Sum("other"); workers != 2 || sum != (replica.Load{}) {
			t.Errorf("%d workers, %+v", workers, sum)
		}
	})
}

func TestSettings(t *testing.T) {
	own := replica.Settings{Authority: "a", Version: "1", Lease: time.Second}
	if d := own.Differs(own); d != nil {
		t.Errorf("the same differ: %q", d)
	}
	other := replica.Settings{Authority: "b", Version: "2", Lease: time.Minute}
	for i, want := range []string{"another authority", `version "2", this one of "1"`, "lease is 1m0s, this one's 1s"} {
		if d := other.Differs(own); len(d) != 3 || !strings.Contains(d[i], want) {
			t.Errorf("%q lacks %q", d, want)
		}
	}
}
