package samples

import (
	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/search"
)

// A table is sampled up to a level. A table of an original goal has firstSearches for each
// batch at level 0, and twice as many at each further level. A goal of confusion is one of
// many: its table has one search at level 0, which stands for all batches, two at level 1,
// one for each batch at OwnLevel, and from there on twice as many at each level.
const (
	OwnLevel       = 2
	MaxLevel       = 10 // of an original goal
	MaxHiddenLevel = 12 // of a goal of confusion

	firstSearches = 8
)

// BatchSearches is the number of searches that a batch has up to a level, if it has any.
func BatchSearches(level int, original bool) int {
	if original {
		return firstSearches << level
	}
	return 1 << max(0, level-OwnLevel)
}

// tableSearches is the number of searches of all batches up to a level.
func tableSearches(level, batches int, original bool) int {
	if !original && level < OwnLevel {
		return min(batches, 1<<level)
	}
	return batches * BatchSearches(level, original)
}

// Table has the searches for a goal from the state after tau actions.
type Table struct {
	goal, tau  int
	seed       [2]uint64
	original   bool // the goal is a candidate
	levels     []level
	maxMatched []int                                     // [level]: most actions that a plan matches, up to there
	effort     []float64                                 // [level]: mean number of successors that a search generates, up to there
	offPath    func(end ground.StateID, length int) bool // nil where not asked or not known
	certain    []Event                                   // what every search finds, where chance has no part; levels are then empty
}

// level has the events that a level adds to each batch.
type level [][]Event

// Original reports whether the goal is a candidate.
func (t *Table) Original() bool { return t.original }

// Certain is what every search finds, where chance has no part, for all batches; such a
// table has no other events. It is nil for other tables.
func (t *Table) Certain() []Event { return t.certain }

// KnowsOffPath reports whether meetings say which plans leave the shortest paths.
func (t *Table) KnowsOffPath() bool { return t.offPath != nil }

// Has reports whether a batch has searches of its own up to a level.
func (t *Table) Has(level, batch int) bool {
	return t.original || level >= OwnLevel || batch < 1<<level
}

// Events are what one level adds to a batch. They are not to be changed.
func (t *Table) Events(level, batch int) []Event { return t.levels[level][batch] }

// MaxMatched is the greatest number of actions that a plan matches, up to a level.
func (t *Table) MaxMatched(level int) int {
	if t.certain != nil {
		return maxMatched(t.certain)
	}
	return t.maxMatched[level]
}

// Contrasts are 1 for half of the batches and -1 for the others, at random by the table's
// seed; one is 0 if their number is odd. They are left in buffer, whose length is that number.
func (t *Table) Contrasts(buffer []float64) []float64 {
	chance := scramble(t.seed[0] ^ t.seed[1])
	for i := range buffer {
		sign := float64(1 - i%2*2)
		if i == len(buffer)-1 && i%2 == 0 {
			sign = 0
		}
		j := int(chance % uint64(i+1)) // a shuffle from the front (Fisher and Yates)
		buffer[i] = buffer[j]
		buffer[j] = sign
		chance = scramble(chance)
	}
	return buffer
}

// Event is a part of what searches found: a number of plans (a fraction, or negative, where
// searches are weighed) that meet the observed path in the same way. It counts for budgets
// of exactly a draw if at is odd, and of that draw or more if it is even.
type Event struct {
	at      int32 // twice the draw, plus 1 for exactly
	meeting search.Meeting
	plans   float32
}

// Draw is the draw of the search from which on, or at which, the event counts.
func (e *Event) Draw() int { return int(e.at / 2) }

func atLeast(draw int, m search.Meeting, plans float64) Event {
	return Event{int32(2 * draw), m, float32(plans)}
}

func exactly(draw int, m search.Meeting, plans float64) Event {
	return Event{int32(2*draw + 1), m, float32(plans)}
}

// noMatch is what a search finds whose plans match no action.
func noMatch(unlimited bool) []Event {
	if unlimited {
		return []Event{atLeast(1, 0, 1)}
	}
	return []Event{exactly(1, search.NoPlan, 1), atLeast(2, 0, 1)}
}

// maxMatched is the greatest number of actions that plans of events match.
func maxMatched(events []Event) (most int) {
	for i := range events {
		most = max(most, events[i].meeting.Matched())
	}
	return most
}

// minDraws is the least length of the longest searches.
const minDraws = 320

// negligibleTail is the probability of budgets that are greater than the greatest one looked at.
const negligibleTail = 1e-4

// Draws is the length of the longest searches for a budget. Of a search without a budget
// only the end counts, which is noted at draw 1.
func Draws(p *agent.Parameters) int {
	if p.Unlimited {
		return 1
	}
	n := minDraws
	for p.Budget().AtLeast(n+1) > negligibleTail {
		n *= 2
	}
	return n
}

// Weights are what a plan of an event adds to the probability of its meeting, by the
// event's at: P(budget ≥ draw) or P(budget = draw), divided by the number of searches.
type Weights []float64

// NewWeights makes them for a distribution of budgets and n searches of samples.
func NewWeights(key *Key, b agent.Budget, n int) Weights {
	w := make(Weights, 2*(key.Draws+1))
	if key.Unlimited {
		w[2*1] = 1 / float64(n)
		return w
	}
	tail := make([]float64, key.Draws+2) // the last is 0: greater budgets count as the greatest looked at
	tail[1] = 1                          // a budget of 0 leaves no plan either
	for draw := 2; draw <= key.Draws; draw++ {
		tail[draw] = b.AtLeast(draw)
	}
	for draw := 1; draw <= key.Draws; draw++ {
		w[2*draw] = tail[draw] / float64(n)
		w[2*draw+1] = (tail[draw] - tail[draw+1]) / float64(n)
	}
	return w
}

// Add adds to the probabilities of meetings, which are the indexes of sums, what events
// come to.
func (w Weights) Add(sums []float64, events []Event) {
	for i := range events {
		e := &events[i]
		sums[e.meeting] += float64(float64(e.plans) * w[e.at])
	}
}
