package ground

import (
	"context"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
)

// StateID names an interned state. Ids are dense, in order of interning: no result may
// depend on their order.
type StateID int32

// OperatorID is an index into Task.Operators.
type OperatorID int32

// Operator is a ground action.
type Operator struct {
	Name string
	Args []string

	guard   guard
	effects effects
}

// String is "(pickup key1)".
func (o Operator) String() string {
	return "(" + strings.Join(append([]string{o.Name}, o.Args...), " ") + ")"
}

// Successor is a state that an operator leads to.
type Successor struct {
	Operator OperatorID
	State    StateID
}

// Task is a grounded problem with the states met so far. It is not safe for concurrent
// use.
type Task struct {
	Problem   *pddl.Problem
	Goals     []pddl.Formula
	Operators []Operator // by action in order of declaration, then by arguments in that order

	operatorIDs map[string]OperatorID
	goals       []goal
	successors  [][]Successor // by state; nil is not yet known
	chunk       []Successor   // room for successors

	// The vocabulary: symbols are indexes into the domain's lists.
	objects        map[*pddl.Object]int
	objectNames    []string
	objectTypes    []*pddl.Type
	objectValues   []*expression // constants
	objectLists    map[*pddl.Parameter][]int
	predicates     map[*pddl.Predicate]int32
	functions      map[*pddl.Function]int32
	changed        map[*pddl.Predicate]bool // directly, by an effect
	assigned       map[*pddl.Function]bool
	derived        map[*pddl.Predicate]*rules
	static         *tuples // facts of predicates that no action changes
	dynamic        *tuples // facts that are bits of a state
	numbers        *tuples // fluents that are words of a state
	constants      *tuples // fluents that no action assigns
	constantValues []value
	instanceIDs    *tuples
	instances      []derivedInstance
	building       int // depth of instances being built
	limits         limits
	cost           expense
	frozen         bool // numbers, and the facts that operators mention, are complete

	states  *states
	initial StateID

	// The loaded state, and room to make successors in.
	loaded  StateID
	load    uint64 // counts loads
	current []uint64
	fluents []uint64 // of current
	facts   []uint64 // of current
	next    []uint64
	args    []value
	fired   []*group
	written []writing
	found   []Successor
}

// goal is a compiled goal. truths caches it by state, unless guard.rest is empty.
type goal struct {
	guard  guard
	never  bool
	truths []goalTruth
}

type goalTruth uint8

const (
	notEvaluated goalTruth = iota
	notSatisfied
	satisfied
)

// Initial is the initial state.
func (t *Task) Initial() StateID { return t.initial }

// Len is the number of interned states.
func (t *Task) Len() int { return t.states.count }

// Successors are those by the operators that are applicable in s, in order of
// OperatorID. An operator may lead to s itself. The slice is the task's own.
func (t *Task) Successors(s StateID) []Successor {
	if int(s) < len(t.successors) {
		if found := t.successors[s]; found != nil {
			return found
		}
	}
	return t.findSuccessors(s)
}

func (t *Task) findSuccessors(s StateID) []Successor {
	t.loadState(s)
	found := t.found[:0]
	for i := range t.Operators {
		op := &t.Operators[i]
		if !t.passes(&op.guard) {
			continue
		}
		if ok, _ := t.apply(&op.effects); ok {
			found = append(found, Successor{OperatorID(i), t.states.intern(t.next)})
		}
	}
	t.found = found
	for len(t.successors) < t.states.count {
		t.successors = append(t.successors, nil)
	}
	t.successors[s] = t.keep(found)
	return t.successors[s]
}

// keep copies successors into a chunk.
func (t *Task) keep(found []Successor) []Successor {
	if t.chunk == nil || len(found) > cap(t.chunk)-len(t.chunk) {
		t.chunk = make([]Successor, 0, max(4096, len(found)))
	}
	start := len(t.chunk)
	t.chunk = append(t.chunk, found...)
	return t.chunk[start:len(t.chunk):len(t.chunk)]
}

// Apply is the state that an operator leads to; not ok if it is not applicable.
func (t *Task) Apply(s StateID, op OperatorID) (StateID, bool) {
	successors := t.Successors(s)
	i, ok := slices.BinarySearchFunc(successors, op, func(x Successor, op OperatorID) int { return int(x.Operator - op) })
	if !ok {
		return 0, false
	}
	return successors[i].State, true
}

// Satisfies reports whether a goal, by its index in Goals, holds.
func (t *Task) Satisfies(s StateID, goal int) bool {
	g := &t.goals[goal]
	if g.never || !g.guard.admits(t.states.record(s)[t.states.fluents:]) {
		return false
	}
	if len(g.guard.rest) == 0 {
		return true
	}
	if int(s) >= len(g.truths) {
		g.truths = append(g.truths, make([]goalTruth, t.states.count-len(g.truths))...)
	}
	if g.truths[s] == notEvaluated {
		t.loadState(s)
		g.truths[s] = notSatisfied
		if t.all(g.guard.rest) == yes {
			g.truths[s] = satisfied
		}
	}
	return g.truths[s] == satisfied
}

// Enumerate interns the states that can be reached, breadth first, and reports whether
// it has all of them. It stops after the first state whose successors make more than
// limit states; 0 is no limit. The error is that of ctx, if it ends before.
func (t *Task) Enumerate(ctx context.Context, limit int) (complete bool, err error) {
	return t.explore(ctx, limit, func(s StateID) { t.Successors(s) })
}

// explore interns states, breadth first, as expand does those that follow a state. What it
// returns is as of Enumerate.
func (t *Task) explore(ctx context.Context, limit int, expand func(StateID)) (complete bool, err error) {
	const every = 1 << 10 // states between looks at ctx: some milliseconds
	for s := 0; s < t.states.count; s++ {
		if limit > 0 && t.states.count > limit {
			return false, nil
		}
		if s%every == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		expand(StateID(s))
	}
	return limit <= 0 || t.states.count <= limit, nil
}

// Count interns the states that can be reached as Enumerate does, but does not keep which
// leads to which, so that it needs a fraction of the memory.
func (t *Task) Count(ctx context.Context, limit int) (complete bool, err error) {
	return t.explore(ctx, limit, func(s StateID) {
		t.loadState(s)
		for i := range t.Operators {
			if op := &t.Operators[i]; t.passes(&op.guard) {
				if ok, _ := t.apply(&op.effects); ok {
					t.states.intern(t.next)
				}
			}
		}
	})
}

// Operator finds an operator by name and arguments.
func (t *Task) Operator(step pddl.Step) (OperatorID, bool) {
	id, ok := t.operatorIDs[operatorKey(step.Name, step.Args)]
	return id, ok
}

func operatorKey(name string, args []string) string {
	return strings.ToLower(strings.Join(append([]string{name}, args...), " "))
}

// loadState makes s the state that conditions are evaluated in.
func (t *Task) loadState(s StateID) {
	if t.loaded == s {
		return
	}
	t.loaded = s
	t.load++
	copy(t.current, t.states.record(s))
}

// internFact interns a fact met while applying effects.
func (t *Task) internFact(symbol int32, args []value) int32 {
	id := t.dynamic.intern(symbol, args)
	if int(id) >= t.states.facts() {
		words := t.states.stride - t.states.fluents
		t.states.widen(words)
		t.current = append(t.current, make([]uint64, words)...)
		t.next = append(t.next, make([]uint64, words)...)
		t.fluents, t.facts = t.current[:t.states.fluents], t.current[t.states.fluents:]
	}
	return id
}
