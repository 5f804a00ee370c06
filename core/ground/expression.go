package ground

// expression is a compiled term.
type expression struct {
	kind        expressionKind
	constant    value
	fluent      int32
	left, right *expression
}

type expressionKind uint8

const (
	constantValue expressionKind = iota
	fluentValue
	negated
	sum
	difference
	product
	quotient
)

var arithmetic = map[string]expressionKind{"+": sum, "-": difference, "*": product, "/": quotient}

func constant(v value) *expression { return &expression{kind: constantValue, constant: v} }

// operation is a compiled arithmetic operation, folded if it can be. Of a negation,
// right is nil.
func operation(kind expressionKind, left, right *expression) *expression {
	e := &expression{kind: kind, left: left, right: right}
	if left.kind == constantValue && (right == nil || right.kind == constantValue) {
		return constant(e.value(nil))
	}
	return e
}

// value evaluates in a state. Undefined operands, division by zero and overflow make it
// undefined.
func (e *expression) value(fluents []uint64) value {
	switch e.kind {
	case constantValue:
		return e.constant
	case fluentValue:
		return value(fluents[e.fluent])
	case negated:
		return number(-e.left.value(fluents).float())
	}
	return calculate(e.kind, e.left.value(fluents), e.right.value(fluents))
}

func calculate(kind expressionKind, left, right value) value {
	a, b := left.float(), right.float()
	switch kind {
	case sum:
		return number(a + b)
	case difference:
		return number(a - b)
	case product:
		return number(float64(a * b))
	default:
		return number(a / b)
	}
}
