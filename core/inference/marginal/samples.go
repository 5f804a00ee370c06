package marginal

import (
	"context"
	"errors"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/policy"
	"foible/core/search"
	"foible/core/sweep"
)

// store has the samples of a stage of a sweep for one search noise.
type samples struct {
	samplesKey
	of       [][]*table         // [goal][tau]; nil as long as not asked for
	size     int                // events
	expected []event            // of a search for a goal that another one may be taken for
	levels   map[family]*levels // with which inference begins
}

type samplesKey struct {
	stage     string
	seed      uint64
	noise     float64
	unlimited bool
	draws     int // of the longest searches
	batches   int
	stray     bool
}

// maxEvents bounds the samples kept for later parameter sets of a stimulus.
const maxEvents = 4 << 20

// samplesFor finds or makes the store of samples.
func (m *Inference) samplesFor(key samplesKey) *samples {
	for i, s := range m.samples {
		if s.samplesKey == key {
			copy(m.samples[1:i+1], m.samples[:i])
			m.samples[0] = s
			return s
		}
	}
	s := &samples{samplesKey: key, of: make([][]*table, len(m.path.Task.Goals)), expected: expected(key.unlimited), levels: map[family]*levels{}}
	m.samples = append([]*samples{s}, m.samples...)
	size := 0
	for i, s := range m.samples {
		if size += s.size; size > m.keep && i > 0 {
			m.samples = m.samples[:i]
			break
		}
	}
	m.outcomes, m.segments = nil, nil // they may be of what is gone
	return s
}

// table finds or makes a table, sampled up to a level. The error is that of ctx, if it
// ends before.
func (m *Inference) tableOf(ctx context.Context, s *samples, tau, goal, level int) (*table, error) {
	if s.of[goal] == nil {
		s.of[goal] = make([]*table, len(m.steps))
	}
	t := s.of[goal][tau]
	if t == nil {
		t = &table{original: goal < m.path.Candidates, seed: m.seeds(s.stage, tau, goal, s.noise, s.seed)}
		if s.stray {
			var err error
			if t.stray, err = m.stray(ctx, tau, goal); err != nil {
				return nil, err
			}
		}
		s.of[goal][tau] = t
	}
	return t, m.sampler.reach(ctx, s, t, tau, goal, level)
}

// stray says of a plan from the state after tau actions whether it ends off every
// shortest path to a goal; nil where that is not known. The error is that of ctx, if it
// ends before.
func (m *Inference) stray(ctx context.Context, tau, goal int) (func(to ground.StateID, length int) bool, error) {
	if !m.asked {
		far, err := policy.NewDistances(ctx, m.path.Task, sweep.PathStates)
		if err != nil && !errors.Is(err, policy.ErrTooLarge) {
			return nil, err
		}
		m.asked, m.far = true, far
	}
	if m.far == nil {
		return nil, nil
	}
	to, err := m.far.To(ctx, goal)
	if err != nil {
		return nil, err
	}
	before := to(m.path.States[tau])
	if before < 0 { // no plan is any good
		return nil, nil
	}
	return func(end ground.StateID, length int) bool {
		after := to(end)
		return after < 0 || length+after > before
	}, nil
}

// draws that searches need for a budget; one for an unlimited one, of which the end alone counts.
func draws(p *agent.Parameters) int {
	if p.Unlimited {
		return 1
	}
	n := leastLong
	for p.Budget().AtLeast(n+1) > negligibleTail {
		n *= 2
	}
	return n
}

// Marginal inference samples searches into tables. A table is of a goal, a step
// tau at which a plan may be made, and a search noise. It serves every budget,
// since a search tells what the plan of each budget would be, and every goal and
// action noise, which play no part in a search.

// Sizes of samples. A batch of an original goal's table has firstSearches at level
// 0 and twice as many at each further level. Another goal, for which it may be taken,
// is one of many: its table has one search at level 0, which stands for all batches,
// two at level 1, one a batch at level apart, and from there on twice as many a level.
const (
	firstSearches = 8
	lastLevel     = 10 // of an original goal
	apart         = 2
	lastConfused  = 12
)

// Sizes of searches. After some draws every other search is given up and counts no
// more, and those that go on count twice; again after twice as many draws, and so
// on: what a plan is after so many draws is of little weight, or it is much the same
// as before. Which ones are given up is a matter of their numbers, or of chance.
const (
	thinFrom  = 96
	leastLong = 320 // draws of the longest searches, at least
)

// negligibleTail is a probability of larger budgets that are taken for the largest one looked at.
const negligibleTail = 1e-4

// searches of each batch that has any, up to a level.
func searches(level int, original bool) int {
	if original {
		return firstSearches << level
	}
	return 1 << max(0, level-apart)
}

// near is how far batches of a table keep from their mean, as a part of what they
// differ by: so near that products of tables are as linear in them as errors by the
// delta method take them to be, and no batch has a part of a mean that is mere chance.
const near = 1.0 / 16

// event is a part of what searches tell of plans: how many of the plans of a
// budget have a meeting, if the budget is just so many draws or, otherwise, at
// least so many.
type event struct {
	of      int32 // twice the draw, and 1 if just so many draws
	meeting search.Meeting
	plans   float32
}

func (e *event) draw() int { return int(e.of / 2) }

// sampled are the searches for a goal from the state after tau actions.
type table struct {
	seed     [2]uint64
	original bool
	levels   []level
	most     []int                                    // by level: actions that some plan gets right, up to there
	effort   []float64                                // by level: successors that a search generates, up to there
	stray    func(to ground.StateID, length int) bool // nil where it is not asked or not known
	known    []event                                  // of one search, if all tell the same: there is no need to search
}

// in reports whether a batch has any search of its own at a level.
func (t *table) in(level, batch int) bool {
	return t.original || level >= apart || batch < 1<<level
}

// allSearches are those of all batches, up to a level.
func allSearches(level, batches int, original bool) int {
	if !original && level < apart {
		return min(batches, 1<<level)
	}
	return batches * searches(level, original)
}

// expected is what a search for another goal is likely to tell: no action agrees.
func expected(unlimited bool) []event {
	if unlimited {
		return []event{{2 * 1, 0, 1}}
	}
	return []event{{2*1 + 1, search.NoPlan, 1}, {2 * 2, 0, 1}}
}

// level has the searches that a level adds: the events of each batch, by draw.
type level [][]event

// right is the greatest number of actions that events get right.
func right(events []event) (most int) {
	for i := range events {
		most = max(most, events[i].meeting.Matched())
	}
	return most
}

// cost is how many searches a table has at a level.
func (m *Inference) cost(s *samples, goal, level int) float64 {
	return float64(allSearches(level, s.batches, goal < m.path.Candidates))
}

// effortAt is what a search takes, up to a level; 1 of a table without searches.
func (t *table) effortAt(level int) float64 {
	if t.known != nil {
		return 1
	}
	return t.effort[level]
}
