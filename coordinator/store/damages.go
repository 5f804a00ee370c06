package store

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// submitAgain is what to do about a damaged sweep.
const submitAgain = "submit it again: what can be read is kept, the rest is computed again"

// Damages are what is damaged of sweeps in the store. Such a sweep is not touched. It is safe for concurrent use.
type Damages struct {
	log hclog.Logger

	mu      sync.Mutex // guards bySweep
	bySweep map[string]string
}

// NewDamages are none.
func NewDamages(log hclog.Logger) *Damages { return &Damages{log: log, bySweep: map[string]string{}} }

// Set notes what is damaged of a sweep, and logs it.
func (d *Damages) Set(id string, damage error) {
	d.log.Error("sweep is damaged; "+submitAgain, "sweep", id, "damage", damage)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bySweep[id] = fmt.Sprintf("%v; %s", damage, submitAgain)
}

// Of says what is damaged of a sweep, and what to do about it; "" if no damage is known.
func (d *Damages) Of(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bySweep[id]
}

// Clear forgets the damage of a sweep, which has been made anew.
func (d *Damages) Clear(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.bySweep, id)
}

// Sweeps are the sweeps with something damaged.
func (d *Damages) Sweeps() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := make([]string, 0, len(d.bySweep))
	for id := range d.bySweep {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
