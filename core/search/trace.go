package search

import (
	"context"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
)

// Meeting says how a partial plan meets the states that were observed after it
// was made: for how many actions it leads to them, and whether it ends there or
// leads elsewhere next. A plan that goes on after the last observed state counts
// as ending there. Meetings are small numbers from 0.
type Meeting uint16

const (
	meetingEnds    Meeting = 1 << iota // as far as it agrees; otherwise it differs next
	meetingOffPath                     // what Trail.OffPath says
	meetingOne                         // an action that agrees
)

// Matched is the number of actions that lead to the observed states.
func (m Meeting) Matched() int { return int(m / meetingOne) }

// Ends reports whether the plan ends after these; otherwise it leads elsewhere next.
func (m Meeting) Ends() bool { return m&meetingEnds != 0 }

// OffPath reports what [Trail.OffPath] said of the plan.
func (m Meeting) OffPath() bool { return m&meetingOffPath != 0 }

// NoPlan is the meeting of an empty plan.
const NoPlan = meetingEnds

// Trail is what partial plans are compared with.
type Trail struct {
	Observed []ground.StateID // states after the start
	// OffPath says something of a path that is not empty, by its end and its length, to be
	// told of the plans that have such paths; nil if nothing is to be told.
	OffPath func(end ground.StateID, length int) bool
}

// Turn is a draw of a search from which on its partial plan meets what was
// observed in another way, until the next turn.
type Turn struct {
	Draw    int32
	Meeting Meeting
}

// Trace searches as [Searcher.Run] does, and tells for every draw how the path to
// the node drawn meets the states observed: the plan of a search whose budget ends
// there. So one search serves all budgets up to its own. If it ends before, solved
// or exhausted (which leaves no plan), at a draw that is returned, what the last
// turn tells is true of all larger budgets; otherwise ended is 0. The turns are left in the
// memory of buffer.
//
// Where the options say so, Trace gives up at the first draw that is a matter of
// chance: ended is -1, and the turns are of no use. The error is that of ctx, if it
// ends before.
func (s *Searcher) Trace(ctx context.Context, q *Query, rng *rand.Rand, buffer []Turn) (turns []Turn, ended int, err error) {
	turns = append(buffer[:0], Turn{1, NoPlan})
	if s.task.Satisfies(q.From, q.Goal) {
		return turns, 1, nil
	}
	s.begin(q.From, q.Noise, rng)
	for len(s.met) < len(s.nodes) {
		s.met = append(s.met, 0)
	}
	s.met[q.From] = NoPlan
	var result Result
	last, drawn := NoPlan, q.From
	for draw := int32(2); int(draw) <= q.Budget; draw++ {
		if err := interrupted(ctx, int(draw)); err != nil {
			return turns, 0, err
		}
		s.expand(drawn, q.Heuristic, &result)
		if s.open.size == 0 {
			if last != NoPlan {
				turns = append(turns, Turn{draw, NoPlan})
			}
			return turns, int(draw), nil
		}
		if q.Sure && s.choice() {
			return turns, -1, nil
		}
		var h0 int32
		drawn, h0 = s.draw()
		for len(s.met) < len(s.nodes) {
			s.met = append(s.met, 0)
		}
		meeting := s.meet(drawn, q.Observed, result.Reopened > 0)
		s.met[drawn] = meeting
		if q.OffPath != nil && q.OffPath(drawn, s.length(drawn, result.Reopened > 0)) {
			meeting |= meetingOffPath
		}
		if meeting != last {
			turns = append(turns, Turn{draw, meeting})
			last = meeting
		}
		if h0 == 0 && s.task.Satisfies(drawn, q.Goal) {
			return turns, int(draw), nil
		}
	}
	return turns, 0, nil
}

// Tally sums up, by draw and meeting, probabilities that a plan has the meeting if
// the budget ends at the draw.
type Tally struct {
	width int       // meetings are below it
	at    []float64 // [draw][meeting]
	last  int       // no later draw has anything
	most  Meeting   // nor a greater meeting
}

// NewTally makes an empty tally of a number of draws, for a number of observed states.
func NewTally(draws, observed int) *Tally {
	width := 4 * (observed + 1)
	return &Tally{width: width, at: make([]float64, (draws+1)*width)}
}

// Add adds to a sum.
func (t *Tally) Add(draw int, m Meeting, p float64) {
	t.at[draw*t.width+int(m)] += p
	t.last, t.most = max(t.last, draw), max(t.most, m)
}

// Drain empties a tally: yield gets what is not 0, by draw and meeting.
func (t *Tally) Drain(yield func(draw int, m Meeting, sum float64)) {
	for draw := 1; draw <= t.last; draw++ {
		row := t.at[draw*t.width:][:t.most+1]
		for m, sum := range row {
			if sum != 0 {
				yield(draw, Meeting(m), sum)
				row[m] = 0
			}
		}
	}
	t.last, t.most = 0, 0
}

// Weigh searches as [Searcher.Trace] does, and tells more: to a tally it adds for
// every draw the probabilities of the meetings of all nodes that may be drawn,
// given those drawn before (Rao-Blackwell), times the weight of the draw. If the
// search ends within its budget, all budgets from some draw on, the one after the
// last at most, have one meeting, which is returned; otherwise the draw is 0.
// The error is that of ctx, if it ends before; the tally then has a part of the sums.
func (s *Searcher) Weigh(ctx context.Context, q *Query, rng *rand.Rand, weight func(draw int) float64, t *Tally) (draw int, m Meeting, err error) {
	t.Add(1, NoPlan, weight(1))
	if s.task.Satisfies(q.From, q.Goal) {
		return 2, NoPlan, nil
	}
	s.begin(q.From, q.Noise, rng)
	s.classes.begin(s, q, t.width)
	s.classes.on = q.Noise > 0 // priorities are not known to be any chances
	defer func() { s.classes.on = false }()
	var result Result
	drawn := q.From
	for draw := 2; ; draw++ {
		if err := interrupted(ctx, draw); err != nil {
			return 0, 0, err
		}
		s.expand(drawn, q.Heuristic, &result)
		switch { // a search that is over after its last draw has ended, too
		case s.open.size == 0:
			return draw, NoPlan, nil
		case draw > q.Budget:
			return 0, 0, nil
		}
		if result.Reopened > 0 {
			s.classes.on = false // the paths of open nodes may have changed
		}
		if s.classes.on {
			s.weighOpen(draw, weight(draw), t)
		}
		var h0 int32
		drawn, h0 = s.draw()
		meeting := s.classes.of(s, drawn)
		if !s.classes.on {
			t.Add(draw, meeting, weight(draw))
		}
		if h0 == 0 && s.task.Satisfies(drawn, q.Goal) {
			return draw + 1, meeting, nil
		}
	}
}

// classes sorts open nodes by their meetings.
type classes struct {
	on     bool
	trail  Trail
	class  []Meeting // by state, of nodes known
	width  int
	count  []int32   // [f][meeting]
	low    int       // least f counted
	high   int       // greatest
	seen   []Meeting // with some node, of this search
	isSeen []bool    // by meeting
	// Weights of all nodes of a meeting, if the least f open is base; stale ones are to be
	// summed up anew.
	base    int
	weights []float64
	stale   []bool
	total   float64 // of all, when they were last summed up
}

func (c *classes) begin(s *Searcher, q *Query, width int) {
	if c.width != width {
		c.width, c.count, c.isSeen, c.seen = width, nil, make([]bool, width), c.seen[:0]
		c.weights, c.stale = make([]float64, width), make([]bool, width)
		c.low, c.high = 0, -1
	}
	c.base = -1
	for f := c.low; f <= c.high; f++ {
		clear(c.count[f*width : (f+1)*width])
	}
	for _, m := range c.seen {
		c.isSeen[m] = false
	}
	c.seen, c.low, c.high = c.seen[:0], 1<<30, -1
	c.on, c.trail = true, q.Trail
	c.grow(len(s.nodes))
	c.class[q.From] = NoPlan
}

func (c *classes) grow(n int) {
	if n > len(c.class) {
		c.class = append(c.class, make([]Meeting, max(n, 2*len(c.class))-len(c.class))...)
	}
}

// insert counts a node that has been opened. No node was opened again before, so
// that g is the length of its path.
func (c *classes) insert(s *Searcher, n *node, state ground.StateID, f int32) {
	c.grow(len(s.nodes))
	m := c.class[n.parent].next(state, c.trail.Observed)
	if c.trail.OffPath != nil && c.trail.OffPath(state, int(n.g)) {
		m |= meetingOffPath
	}
	c.class[state] = m
	if !c.isSeen[m] {
		c.isSeen[m], c.stale[m] = true, true
		c.seen = append(c.seen, m)
	}
	at := int(f)
	for (at+1)*c.width > len(c.count) {
		c.count = append(c.count, make([]int32, c.width)...)
	}
	c.count[at*c.width+int(m)]++
	c.low, c.high = min(c.low, at), max(c.high, at)
	if above := at - c.base; above >= 0 && above < s.open.reach { // otherwise the base is to change, or it counts as 0
		c.weights[m] += s.open.weight(above)
	}
}

// remove takes out an open node.
func (c *classes) remove(state ground.StateID, f int32) {
	m := c.class[state]
	c.count[int(f)*c.width+int(m)]--
	c.stale[m] = true
}

// of is the meeting of a node that has been drawn.
func (c *classes) of(s *Searcher, drawn ground.StateID) Meeting {
	if c.on {
		return c.class[drawn]
	}
	m, length := c.walk(s, drawn)
	if c.trail.OffPath != nil && c.trail.OffPath(drawn, length) {
		m |= meetingOffPath
	}
	return m
}

// walk finds the meeting and the length of a path from the nodes' parents.
func (c *classes) walk(s *Searcher, to ground.StateID) (m Meeting, length int) {
	parent := s.nodes[to].parent
	if parent < 0 {
		return NoPlan, 0
	}
	m, length = c.walk(s, parent)
	return m.next(to, c.trail.Observed), length + 1
}

// weighOpen adds the chances of the open nodes' meetings.
func (s *Searcher) weighOpen(draw int, weight float64, t *Tally) {
	o, c := &s.open, &s.classes
	for len(o.buckets[o.low]) == 0 {
		o.low++
	}
	span := o.span()
	var total float64
	for _, m := range c.seen {
		if c.stale[m] || o.low != c.base {
			c.weights[m], c.stale[m] = c.weigh(m, o.low, o.weights[:span]), false
		}
		total += c.weights[m]
	}
	c.base, c.total = o.low, total
	factor := weight / total
	for _, m := range c.seen {
		if c.weights[m] > 0 {
			t.Add(draw, m, c.weights[m]*factor)
		}
	}
}

// weigh sums up the weights of a meeting's nodes.
func (c *classes) weigh(m Meeting, low int, weights []float64) (sum float64) {
	at := low*c.width + int(m)
	for _, w := range weights {
		sum += float64(float64(c.count[at]) * w)
		at += c.width
	}
	return sum
}

// next is the meeting of a path that goes on to a state.
func (m Meeting) next(to ground.StateID, observed []ground.StateID) Meeting {
	m &^= meetingOffPath
	switch {
	case !m.Ends() || m.Matched() == len(observed):
		return m
	case observed[m.Matched()] == to:
		return m + meetingOne
	}
	return m &^ meetingEnds
}

// meet is how the path to a node meets the observed states. The meetings of the
// nodes drawn before are known, and still true unless nodes were opened again.
func (s *Searcher) meet(to ground.StateID, observed []ground.StateID, reopened bool) Meeting {
	parent := s.nodes[to].parent
	if parent < 0 {
		return NoPlan
	}
	m := s.met[parent]
	if reopened {
		m = s.meet(parent, observed, true)
	}
	return m.next(to, observed)
}

// length is the number of actions of the path to a node. It is g unless nodes were
// opened again.
func (s *Searcher) length(to ground.StateID, reopened bool) int {
	if !reopened {
		return int(s.nodes[to].g)
	}
	n := 0
	for ; s.nodes[to].parent >= 0; to = s.nodes[to].parent {
		n++
	}
	return n
}
