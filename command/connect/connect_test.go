package connect

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
)

// Only within one machine may encryption be left out.
func TestHostPort(t *testing.T) {
	for address, want := range map[string]struct{ secure, insecure bool }{
		"127.0.0.1:1": {true, true}, "localhost:1": {true, true}, "[::1]:1": {true, true}, "127.1.2.3:1": {true, true},
		"0.0.0.0:1": {true, false}, ":1": {true, false}, "[::]:1": {true, false}, "10.0.0.1:1": {true, false}, "example.org:1": {true, false},
		"": {}, "7410": {}, "::1:1": {},
	} {
		for insecure, ok := range map[bool]bool{false: want.secure, true: want.insecure} {
			err := CheckAddress("--listen", address, insecure)
			if usage := (*cli.UsageError)(nil); (err == nil) != ok || err != nil && !errors.As(err, &usage) {
				t.Errorf("%q, insecure %v: got %v", address, insecure, err)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	c := &Client{Target: Target{Address: DefaultAddress}}
	if err := c.Explain(nil); err != nil {
		t.Errorf("got %v", err)
	}
	if err := c.Explain(status.FromContextError(context.Canceled).Err()); !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	for code, want := range map[codes.Code]string{
		codes.Unavailable:       "no coordinator answers at 127.0.0.1:7410; start one with `foible coordinator`, or say where it is with --coordinator",
		codes.Unimplemented:     "what answers at 127.0.0.1:7410 is no coordinator of this version of Foible; say where it is with --coordinator",
		codes.ResourceExhausted: "first; second",
	} {
		if err := c.Explain(status.Error(code, "first\nsecond")); err == nil || err.Error() != want {
			t.Errorf("%v: got %v", code, err)
		}
	}
}

func TestExplainUnreached(t *testing.T) {
	c := &Client{Target: Target{Address: "there:7410"}}
	for said, want := range map[string]string{
		"name resolver error: produced zero addresses":                                                                    "no machine of that name",
		`connection error: desc = "transport: Error while dialing: dial tcp: lookup there: no such host"`:                 "no machine of that name",
		`connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:7410: i/o timeout"`:                 "firewall",
		`connection error: desc = "transport: authentication handshake failed: context deadline exceeded"`:                "firewall",
		`connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:7410: connect: no route to host"`:   "firewall",
		`connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:7410: connect: connection refused"`: "see that one runs on there, as `foible coordinator --listen :7410` does there",
	} {
		err := c.Explain(status.Error(codes.Unavailable, said))
		if err == nil || !strings.HasPrefix(err.Error(), "no coordinator answers at there:7410") || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "or say where it is with --coordinator") {
			t.Errorf("%s: got %v", said, err)
		}
	}
}
