// Package service is the gRPC face of a coordinator: thin adapters from
// messages to what a coordinator does, and the one table of status codes.
package service

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Sentinels that a coordinator wraps and users see as a status code.
var (
	ErrNotFound     = errors.New("not found")
	ErrInvalid      = errors.New("invalid")
	ErrPrecondition = errors.New("not now")
	ErrUnavailable  = errors.New("not just now; try again soon")
	ErrStopping     = errors.New("coordinator is stopping; try again soon")
	ErrTooLarge     = errors.New("too large")
	ErrExhausted    = errors.New("at the coordinator's limit")
)

var statusCodes = []struct {
	err  error
	code codes.Code
}{
	{ErrNotFound, codes.NotFound},
	{ErrInvalid, codes.InvalidArgument},
	{ErrPrecondition, codes.FailedPrecondition},
	{ErrUnavailable, codes.Unavailable},
	{ErrStopping, codes.Unavailable},
	{ErrTooLarge, codes.ResourceExhausted},
	{ErrExhausted, codes.ResourceExhausted},
	{context.Canceled, codes.Canceled},
	{context.DeadlineExceeded, codes.DeadlineExceeded},
}

// StatusOf is the status of an error; what is in no table is INTERNAL.
func StatusOf(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	for _, row := range statusCodes {
		if errors.Is(err, row.err) {
			return status.Error(row.code, err.Error())
		}
	}
	return status.Error(codes.Internal, err.Error())
}
