package ground

import "math"

// value is an argument of a fact: a number as its bits, or an object as a NaN that
// arithmetic does not produce. Equal values have equal bits: there is no -0.
type value uint64

const (
	objectTag value = 0xFFFC << 48
	undefined value = 0x7FF8<<48 | 1
)

func objectValue(object int) value { return objectTag | value(object) }

// number is the value of v, undefined unless v is finite.
func number(v float64) value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return undefined
	}
	return value(math.Float64bits(v + 0))
}

func (v value) isObject() bool { return v&objectTag == objectTag }

// object is the index of an object value.
func (v value) object() int { return int(v &^ objectTag) }

// float is a number, NaN if v is not one.
func (v value) float() float64 { return math.Float64frombits(uint64(v)) }
