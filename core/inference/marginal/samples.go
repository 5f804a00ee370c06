package marginal

import (
	"context"
	"errors"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/search"
)

// samples are the searches of one stage of a sweep with one search noise, in tables. A
// table belongs to a goal and to a step τ at which a plan may be made. It serves every
// budget, because a search without a budget passes through the plans of all budgets, and
// every goal and action noise, which have no part in a search.
type samples struct {
	samplesKey
	tables     [][]*table // [goal][τ]; nil until needed
	events     int        // in all tables
	unexpected []event    // what a search for a goal of confusion most likely finds
	levels     map[family]*levels
}

type samplesKey struct {
	stage     string
	seed      uint64
	noise     float64
	unlimited bool
	draws     int // of the longest searches
	batches   int
	offPath   bool // it is asked whether plans leave the shortest paths
}

// maxEvents bounds the samples kept for later parameter sets of a stimulus.
const maxEvents = 4 << 20

// samplesFor finds or makes samples, and gives up those used longest ago if there are too many.
func (m *Inference) samplesFor(key samplesKey) *samples {
	for i, s := range m.samples {
		if s.samplesKey == key {
			copy(m.samples[1:i+1], m.samples[:i])
			m.samples[0] = s
			return s
		}
	}
	s := &samples{samplesKey: key, tables: make([][]*table, len(m.path.Task.Goals)), unexpected: noMatch(key.unlimited), levels: map[family]*levels{}}
	m.samples = append([]*samples{s}, m.samples...)
	events := 0
	for i, s := range m.samples {
		if events += s.events; events > m.keep && i > 0 {
			m.samples = m.samples[:i]
			break
		}
	}
	m.outcomes, m.segments = nil, nil // they may be made of what is gone
	return s
}

// table finds or makes a table, sampled up to a level. The error is that of ctx, if it
// ends before.
func (m *Inference) table(ctx context.Context, s *samples, goal, tau, level int) (*table, error) {
	if s.tables[goal] == nil {
		s.tables[goal] = make([]*table, len(m.steps))
	}
	t := s.tables[goal][tau]
	if t == nil {
		t = &table{goal: goal, tau: tau, original: goal < m.path.Candidates, seed: m.seeds(s.stage, tau, goal, s.noise, s.seed)}
		if s.offPath {
			var err error
			if t.offPath, err = m.leavesPath(ctx, tau, goal); err != nil {
				return nil, err
			}
		}
		s.tables[goal][tau] = t
	}
	return t, m.sampler.extend(ctx, s, t, level)
}

// leavesPath says of a plan made at τ, by its end and its length, whether that end is on no
// shortest path to a goal; nil where distances are not known. The error is that of ctx, if
// it ends before.
func (m *Inference) leavesPath(ctx context.Context, tau, goal int) (func(end ground.StateID, length int) bool, error) {
	if !m.distancesTried {
		d, err := policy.NewDistances(ctx, m.path.Task, result.PathStates)
		if err != nil && !errors.Is(err, policy.ErrTooLarge) {
			return nil, err
		}
		m.distancesTried, m.distances = true, d
	}
	if m.distances == nil {
		return nil, nil
	}
	to, err := m.distances.To(ctx, goal)
	if err != nil {
		return nil, err
	}
	before := to(m.path.States[tau])
	if before < 0 { // the goal cannot be reached: no plan leaves a path to it
		return nil, nil
	}
	return func(end ground.StateID, length int) bool {
		after := to(end)
		return after < 0 || length+after > before
	}, nil
}

// A table is sampled up to a level. A table of an original goal has firstSearches for each
// batch at level 0, and twice as many at each further level. A goal of confusion is one of
// many: its table has one search at level 0, which stands for all batches, two at level 1,
// one for each batch at ownLevel, and from there on twice as many at each level.
const (
	firstSearches  = 8
	ownLevel       = 2
	maxLevel       = 10 // of an original goal
	maxHiddenLevel = 12 // of a goal of confusion
)

// batchSearches is the number of searches that a batch has up to a level, if it has any.
func batchSearches(level int, original bool) int {
	if original {
		return firstSearches << level
	}
	return 1 << max(0, level-ownLevel)
}

// tableSearches is the number of searches of all batches up to a level.
func tableSearches(level, batches int, original bool) int {
	if !original && level < ownLevel {
		return min(batches, 1<<level)
	}
	return batches * batchSearches(level, original)
}

// searches is the number that the table of a goal has at a level.
func (m *Inference) searches(s *samples, goal, level int) float64 {
	return float64(tableSearches(level, s.batches, goal < m.path.Candidates))
}

// Long searches are thinned out: after thinFrom draws every other search ends and no longer
// counts, while those that go on count twice; again after twice as many draws, and so on.
// The plan after that many draws has little weight, or is much the same as before.
const (
	thinFrom = 96
	minDraws = 320 // of the longest searches
)

// negligibleTail is the probability of budgets that are greater than the greatest one looked at.
const negligibleTail = 1e-4

// draws is the length of the longest searches for a budget. Of a search without a budget
// only the end counts, which is noted at draw 1.
func draws(p *agent.Parameters) int {
	if p.Unlimited {
		return 1
	}
	n := minDraws
	for p.Budget().AtLeast(n+1) > negligibleTail {
		n *= 2
	}
	return n
}

// event is a part of what searches found: a number of plans (a fraction, or negative, where
// searches are weighed) that meet the observed path in the same way. It counts for budgets
// of exactly a draw if at is odd, and of that draw or more if it is even.
type event struct {
	at      int32 // twice the draw, plus 1 for exactly
	meeting search.Meeting
	plans   float32
}

func (e *event) draw() int { return int(e.at / 2) }

func atLeast(draw int, m search.Meeting, plans float64) event {
	return event{int32(2 * draw), m, float32(plans)}
}

func exactly(draw int, m search.Meeting, plans float64) event {
	return event{int32(2*draw + 1), m, float32(plans)}
}

// table has the searches for a goal from the state after τ actions.
type table struct {
	goal, tau  int
	seed       [2]uint64
	original   bool // the goal is a candidate
	levels     []level
	maxMatched []int                                     // [level]: most actions that a plan matches, up to there
	effort     []float64                                 // [level]: mean number of successors that a search generates, up to there
	offPath    func(end ground.StateID, length int) bool // nil where not asked or not known
	certain    []event                                   // what every search finds, where chance has no part; levels are then empty
}

// level has the events that a level adds to each batch.
type level [][]event

// in reports whether a batch has searches of its own up to a level.
func (t *table) in(level, batch int) bool {
	return t.original || level >= ownLevel || batch < 1<<level
}

// effortAt is the work of a search up to a level, in successors; 1 where nothing is searched.
func (t *table) effortAt(level int) float64 {
	if t.certain != nil {
		return 1
	}
	return t.effort[level]
}

// noMatch is what a search finds whose plans match no action.
func noMatch(unlimited bool) []event {
	if unlimited {
		return []event{atLeast(1, 0, 1)}
	}
	return []event{exactly(1, search.NoPlan, 1), atLeast(2, 0, 1)}
}

// maxMatched is the greatest number of actions that plans of events match.
func maxMatched(events []event) (most int) {
	for i := range events {
		most = max(most, events[i].meeting.Matched())
	}
	return most
}
