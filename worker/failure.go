package worker

import (
	"errors"
	"strings"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Failure is an error of an [Executor] that says what is to blame for it. What any other error comes from is not known:
// the job is tried on other workers too.
type Failure struct {
	Kind foiblev1.FailureKind
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Computation says that the job itself cannot be done, on whichever worker and however often it is tried. A nil error
// stays nil.
func Computation(err error) error {
	return blame(foiblev1.FailureKind_FAILURE_KIND_COMPUTATION, err)
}

// Infrastructure says that not the job is to blame but what it ran on: connection, memory, disk. A nil error stays nil.
func Infrastructure(err error) error {
	return blame(foiblev1.FailureKind_FAILURE_KIND_INFRASTRUCTURE, err)
}

func blame(kind foiblev1.FailureKind, err error) error {
	if err == nil {
		return nil
	}
	return &Failure{Kind: kind, Err: err}
}

// failure is the message of an error of an executor.
func failure(err error) *foiblev1.JobResult {
	m := &foiblev1.Failure{Reason: strings.ToValidUTF8(err.Error(), "\uFFFD")} // else it could not be sent
	if of := (*Failure)(nil); errors.As(err, &of) {
		m.Kind = of.Kind
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: m}}
}
