package samples

import (
	"context"
	"errors"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
)

// Store has the samples of a stimulus, and draws them. Not safe for concurrent use.
type Store struct {
	Limits
	path     *observed.Path
	stimulus string   // its id
	goals    []string // their names
	sampler  sampler
	kept     []*Samples // most recently used first

	distances      *policy.Distances // nil until tried, or where there are too many states
	distancesTried bool
}

// Limits of a store.
type Limits struct {
	// Events are kept for later parameter sets, up to this number.
	Events int
	// ThinFrom is the length in draws from which on searches are thinned out: every other
	// one ends then and no longer counts, while those that go on count twice; again after
	// twice as many draws, and so on. The plan after that many draws has little weight, or
	// is much the same as before.
	ThinFrom int
	// PathStates is the greatest number of states of a task whose shortest paths are looked for.
	PathStates int
}

// DefaultLimits are those of inference.
func DefaultLimits() Limits {
	return Limits{Events: 4 << 20, ThinFrom: 96, PathStates: result.PathStates}
}

// bytesPerEvent is the memory that an event takes.
const bytesPerEvent = 12

// SetMemory sets how many events are kept by the bytes that they take.
func (l *Limits) SetMemory(bytes int) { l.Events = bytes / bytesPerEvent }

// New makes an empty store with default limits. Samples depend on the id of the stimulus
// and the names of the goals of its task.
func New(p *observed.Path, stimulus string, goals []string) *Store {
	s := &Store{Limits: DefaultLimits(), path: p, stimulus: stimulus, goals: goals}
	s.sampler.path, s.sampler.rng = p, rand.New(&s.sampler.pcg)
	return s
}

// Key says which samples are meant.
type Key struct {
	Stage     string
	Seed      uint64
	Noise     float64 // of searches
	Unlimited bool    // searches have no budget, and only their end counts
	Draws     int     // of the longest searches
	Batches   int
	OffPath   bool // it is asked whether plans leave the shortest paths
}

// Samples are the searches of one stage of a sweep with one search noise, in tables. A
// table belongs to a goal and to a step τ at which a plan may be made. It serves every
// budget, because a search without a budget passes through the plans of all budgets, and
// every goal and action noise, which have no part in a search.
type Samples struct {
	Key
	store  *Store
	tables [][]*Table // [goal][τ]; nil until needed
	events int        // in all tables
	// unexpected is what a search for a goal of confusion most likely finds.
	unexpected []Event
}

// For finds or makes samples. If it makes some, it gives up those used longest ago where
// there are more than may be kept; dropped are these.
func (s *Store) For(key Key) (found *Samples, dropped []*Samples) {
	for i, old := range s.kept {
		if old.Key == key {
			copy(s.kept[1:i+1], s.kept[:i])
			s.kept[0] = old
			return old, nil
		}
	}
	found = &Samples{Key: key, store: s, tables: make([][]*Table, len(s.path.Task.Goals)), unexpected: noMatch(key.Unlimited)}
	s.kept = append([]*Samples{found}, s.kept...)
	events := 0
	for i, one := range s.kept {
		if events += one.events; events > s.Events && i > 0 {
			s.kept, dropped = s.kept[:i], s.kept[i:]
			break
		}
	}
	return found, dropped
}

// Table finds or makes the table of a goal and a step, sampled up to a level. The error is
// that of ctx, if it ends before; the samples are then of no more use.
func (s *Samples) Table(ctx context.Context, goal, tau, level int) (*Table, error) {
	if s.tables[goal] == nil {
		s.tables[goal] = make([]*Table, len(s.store.path.States)-1)
	}
	t := s.tables[goal][tau]
	if t == nil {
		t = &Table{goal: goal, tau: tau, original: s.original(goal), seed: s.seed(goal, tau)}
		if s.OffPath {
			var err error
			if t.offPath, err = s.store.LeavesPath(ctx, tau, goal); err != nil {
				return nil, err
			}
		}
		s.tables[goal][tau] = t
	}
	s.store.sampler.thinFrom = s.store.ThinFrom
	return t, s.store.sampler.extend(ctx, s, t, level)
}

// seed of a table.
func (s *Samples) seed(goal, tau int) [2]uint64 {
	r := random.SampleStream(&random.Searches{
		Seed: s.Seed, Stage: s.Stage, Stimulus: s.store.stimulus, Tau: tau, Goal: s.store.goals[goal], SearchNoise: s.Noise,
	})
	return [2]uint64{r.Uint64(), r.Uint64()}
}

// original reports whether a goal is a candidate.
func (s *Samples) original(goal int) bool { return goal < s.store.path.Candidates }

// Searches is how many the table of a goal has at a level, in all batches.
func (s *Samples) Searches(goal, level int) float64 {
	return float64(tableSearches(level, s.Batches, s.original(goal)))
}

// Unexpected is what a search of these samples finds whose plans match no action: what one
// for a goal of confusion most likely finds. It is not to be changed.
func (s *Samples) Unexpected() []Event { return s.unexpected }

// Effort is the work of a search of a table that is sampled up to a level, in successors; 1
// where nothing is searched.
func (s *Samples) Effort(goal, tau, level int) float64 {
	t := s.tables[goal][tau]
	if t.certain != nil {
		return 1
	}
	return t.effort[level]
}

// LeavesPath says of a plan made at τ, by its end and its length, whether that end is on no
// shortest path to a goal; nil where distances are not known. The error is that of ctx, if
// it ends before.
func (s *Store) LeavesPath(ctx context.Context, tau, goal int) (func(end ground.StateID, length int) bool, error) {
	if !s.distancesTried {
		d, err := policy.NewDistances(ctx, s.path.Task, s.PathStates)
		if err != nil && !errors.Is(err, policy.ErrTooLarge) {
			return nil, err
		}
		s.distancesTried, s.distances = true, d
	}
	if s.distances == nil {
		return nil, nil
	}
	to, err := s.distances.To(ctx, goal)
	if err != nil {
		return nil, err
	}
	before := to(s.path.States[tau])
	if before < 0 { // the goal cannot be reached: no plan leaves a path to it
		return nil, nil
	}
	return func(end ground.StateID, length int) bool {
		after := to(end)
		return after < 0 || length+after > before
	}, nil
}

// PathsKnown reports whether shortest paths were looked for, and the states were few enough.
func (s *Store) PathsKnown() bool { return s.distances != nil }
