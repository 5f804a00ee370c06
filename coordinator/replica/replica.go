// Package replica keeps what the other coordinators on the same servers say of themselves. Coordinators share the work
// through what is stored. What they say is only for display, forecasts, warnings, and the job size of a new sweep.
package replica

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// Interval is how often a coordinator says how it stands.
	Interval = time.Second
	// forgetAfter is how long a coordinator that says nothing counts.
	forgetAfter = 4 * Interval
)

// Presence is what a coordinator says of itself.
type Presence struct {
	ID      string          `json:"id"` // set by Others.Message
	Workers int             `json:"workers"`
	Slots   int             `json:"slots"`
	Sweeps  map[string]Load `json:"sweeps,omitempty"` // by id; those for which a Load is not zero
	Aside   []string        `json:"aside,omitempty"`  // its workers that keep failing, in words
	Settings

	at time.Time // when it was heard
}

// Settings are what all coordinators on the same servers must have in common.
type Settings struct {
	Authority string        `json:"authority,omitempty"` // its hash; "": calls need no token
	Version   string        `json:"version,omitempty"`
	Lease     time.Duration `json:"lease,omitempty"`
}

// Differs says how the settings of another coordinator differ from those of this one, and what to do.
func (s *Settings) Differs(own Settings) []string {
	var all []string
	if s.Authority != own.Authority {
		all = append(all, "it has another authority, and refuses the workers and users of this one; give all of them the same directory access")
	}
	if s.Version != own.Version {
		all = append(all, fmt.Sprintf("it is of version %q, this one of %q; start all of them with the same", s.Version, own.Version))
	}
	if s.Lease != own.Lease {
		all = append(all, fmt.Sprintf("its lease is %v, this one's %v; start all of them with the same --lease", s.Lease, own.Lease))
	}
	return all
}

// Load is what a coordinator knows about a sweep because it has the workers.
type Load struct {
	Leased int64 `json:"leased,omitempty"` // jobs that its workers have
	Tally
}

// Tally counts, since a coordinator started, what happened to the jobs of a sweep and cannot be read from results.
type Tally struct {
	Duplicates int64   `json:"duplicates,omitempty"` // results refused because there was one
	Retries    int64   `json:"retries,omitempty"`    // jobs scheduled again
	Copies     int64   `json:"copies,omitempty"`     // jobs given to another worker too, because they took too long
	Lost       int64   `json:"lost,omitempty"`       // leases whose worker was not heard of
	Verified   int64   `json:"verified,omitempty"`   // cells that were computed twice, with the same numbers,
	Alone      int64   `json:"alone,omitempty"`      // and how many of them by one worker
	Timed      int64   `json:"timed,omitempty"`      // results with a known computing time,
	Seconds    float64 `json:"seconds,omitempty"`    // and how long in all
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Duplicates += o.Duplicates
	t.Retries += o.Retries
	t.Copies += o.Copies
	t.Lost += o.Lost
	t.Verified += o.Verified
	t.Alone += o.Alone
	t.Timed += o.Timed
	t.Seconds += o.Seconds
}

// Others is what the other coordinators said last. It is safe for concurrent use.
type Others struct {
	id string // of this coordinator

	mu   sync.Mutex // guards said
	said map[string]*Presence
}

// New returns Others that have said nothing.
func New() *Others { return &Others{id: rand.Text(), said: map[string]*Presence{}} }

// Message is what this coordinator is to say.
func (o *Others) Message(p Presence) ([]byte, error) {
	p.ID = o.id
	return json.Marshal(p)
}

// Hear takes up a message, and returns it if it is the first one of its coordinator; else nil. A message of this
// coordinator, or one that cannot be read, is ignored.
func (o *Others) Hear(said []byte) *Presence {
	p := &Presence{at: time.Now()}
	if err := json.Unmarshal(said, p); err != nil || p.ID == o.id {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.said[p.ID] != nil
	o.said[p.ID] = p
	if known {
		return nil
	}
	return p
}

// Sum is what the others have together: workers, their slots, and the load of a sweep.
func (o *Others) Sum(sweep string) (workers, slots int, load Load) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, p := range o.said {
		if time.Since(p.at) > forgetAfter {
			delete(o.said, id)
			continue
		}
		workers, slots = workers+p.Workers, slots+p.Slots
		load.Leased += p.Sweeps[sweep].Leased
		load.Add(p.Sweeps[sweep].Tally)
	}
	return workers, slots, load
}

// Aside are the workers of others that keep failing, in words.
func (o *Others) Aside() (all []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.said {
		if time.Since(p.at) <= forgetAfter {
			all = append(all, p.Aside...)
		}
	}
	slices.Sort(all)
	return all
}
