// Package optional has values that may not be known.
package optional

// Value is a value of T, or that it is not known. The zero Value is not known.
type Value[T any] struct {
	value T
	known bool
}

// Known is a value that is known.
func Known[T any](v T) Value[T] { return Value[T]{v, true} }

// Get is the value, and whether it is known; if not, the value is the zero one of T.
func (v Value[T]) Get() (value T, known bool) { return v.value, v.known }
