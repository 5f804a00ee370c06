package store

import (
	"errors"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
)

// ErrRecordDamaged says that the record of a sweep cannot be read.
var ErrRecordDamaged = errors.New("its record is damaged")

// named is an error of the engine that a service has a name for.
type named struct{ err, name error }

func (e named) Error() string   { return e.err.Error() }
func (e named) Unwrap() []error { return []error{e.err, e.name} }

// Sentinel gives an engine's error the service's name for it.
func Sentinel(err error) error {
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return named{err, service.ErrNotFound}
	case errors.Is(err, engine.ErrInvalid):
		return named{err, service.ErrInvalid}
	case errors.Is(err, engine.ErrUnavailable), errors.Is(err, engine.ErrStalled):
		return named{err, service.ErrUnavailable}
	case errors.Is(err, engine.ErrClosed):
		return named{err, service.ErrStopping}
	}
	return err
}

// Passing says whether an error says nothing of what is stored.
func Passing(err error) bool {
	return errors.Is(err, engine.ErrUnavailable) || errors.Is(err, engine.ErrStalled) || errors.Is(err, engine.ErrClosed)
}
