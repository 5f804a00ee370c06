// Package server starts a NATS server in this process, or connects to the NATS servers of a
// site. What is kept on them, and how, is left to package engine.
package server

import "errors"

var (
	// ErrInUse: another process has the directory open.
	ErrInUse = errors.New("in use by another coordinator")
	// ErrLogin: the servers do not accept the user that Servers name.
	ErrLogin = errors.New("NATS refuses the login")
	// ErrUntrusted: a server's certificate is of no authority that Servers name, or of another server.
	ErrUntrusted = errors.New("the NATS server is not trusted")
	// ErrInvalid: a server that cannot hold what the engine stores.
	ErrInvalid = errors.New("invalid")
)

// MaxPayload is the largest message that servers must take, in bytes.
const MaxPayload = 8 << 20
