package ground

// tuples interns (symbol, arguments): facts by predicate, fluents by function. Ids are
// dense, in order of interning.
type tuples struct {
	symbols []int32
	starts  []int32 // of the arguments; one more than symbols
	values  []value
	slots   []int32 // id+1 by hash, 0 is empty; the length is a power of two
}

func newTuples() *tuples { return &tuples{starts: []int32{0}, slots: make([]int32, 64)} }

func (t *tuples) len() int { return len(t.symbols) }

func (t *tuples) args(id int32) []value { return t.values[t.starts[id]:t.starts[id+1]] }

// find is the id of a tuple, -1 if it was never interned.
func (t *tuples) find(symbol int32, args []value) int32 {
	mask := uint64(len(t.slots) - 1)
	for i := hashTuple(symbol, args) & mask; ; i = (i + 1) & mask {
		id := t.slots[i] - 1
		if id < 0 || t.is(id, symbol, args) {
			return id
		}
	}
}

func (t *tuples) is(id, symbol int32, args []value) bool {
	if t.symbols[id] != symbol {
		return false
	}
	for i, v := range t.args(id) {
		if v != args[i] {
			return false
		}
	}
	return true
}

// intern is the id of a tuple, a new one if need be.
func (t *tuples) intern(symbol int32, args []value) int32 {
	if id := t.find(symbol, args); id >= 0 {
		return id
	}
	id := int32(len(t.symbols))
	t.symbols = append(t.symbols, symbol)
	t.values = append(t.values, args...)
	t.starts = append(t.starts, int32(len(t.values)))
	if 2*len(t.symbols) > len(t.slots) {
		t.slots = make([]int32, 2*len(t.slots))
		for old := range id {
			t.place(old)
		}
	}
	t.place(id)
	return id
}

func (t *tuples) place(id int32) {
	mask := uint64(len(t.slots) - 1)
	i := hashTuple(t.symbols[id], t.args(id)) & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = id + 1
}

func hashTuple(symbol int32, args []value) uint64 {
	h := mix(uint64(symbol) + 1)
	for _, v := range args {
		h = mix(h ^ uint64(v))
	}
	return h
}

// mix spreads every bit of h over all of them.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
