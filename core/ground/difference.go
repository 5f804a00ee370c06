package ground

import "math/bits"

// Difference is how far apart two states are: the number of facts that are true
// in only one of them, and the sum of squared differences of the fluents. A
// fluent that has a value in only one of them counts as a fact.
func (t *Task) Difference(a, b StateID) (facts int, squares float64) {
	x, y := t.states.record(a), t.states.record(b)
	for i := range t.states.fluents {
		if x[i] == y[i] {
			continue
		}
		v, w := value(x[i]), value(y[i])
		if v == undefined || w == undefined {
			facts++
			continue
		}
		d := v.float() - w.float()
		squares += float64(d * d)
	}
	for i := t.states.fluents; i < len(x); i++ {
		facts += bits.OnesCount64(x[i] ^ y[i])
	}
	return facts, squares
}
