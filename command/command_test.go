package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/core/words"
)

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{
		"study": "study", "/a/b-c_1.2": "/a/b-c_1.2", "étude": "étude",
		"": "''", "my study": "'my study'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "~": "'~'",
	} {
		if got := words.Quoted(path); got != want {
			t.Errorf("words.Quoted(%q) = %s, want %s", path, got, want)
		}
	}
}

// Only within one machine may encryption be left out.
func TestHostPort(t *testing.T) {
	for address, want := range map[string]struct{ secure, insecure bool }{
		"127.0.0.1:1": {true, true}, "localhost:1": {true, true}, "[::1]:1": {true, true}, "127.1.2.3:1": {true, true},
		"0.0.0.0:1": {true, false}, ":1": {true, false}, "[::]:1": {true, false}, "10.0.0.1:1": {true, false}, "example.org:1": {true, false},
		"": {}, "7410": {}, "::1:1": {},
	} {
		for insecure, ok := range map[bool]bool{false: want.secure, true: want.insecure} {
			err := hostPort("--listen", address, insecure)
			if usage := (*UsageError)(nil); (err == nil) != ok || err != nil && !errors.As(err, &usage) {
				t.Errorf("%q, insecure %v: got %v", address, insecure, err)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	c := &client{target: Target{Address: DefaultAddress}}
	if err := c.explain(nil); err != nil {
		t.Errorf("got %v", err)
	}
	if err := c.explain(status.FromContextError(context.Canceled).Err()); !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	for code, want := range map[codes.Code]string{
		codes.Unavailable:       "no coordinator answers at 127.0.0.1:7410; start one with `foible coordinator`, or say where it is with --coordinator",
		codes.Unimplemented:     "what answers at 127.0.0.1:7410 is no coordinator of this version of Foible; say where it is with --coordinator",
		codes.ResourceExhausted: "first; second",
	} {
		if err := c.explain(status.Error(code, "first\nsecond")); err == nil || err.Error() != want {
			t.Errorf("%v: got %v", code, err)
		}
	}
}

func TestExplainUnreached(t *testing.T) {
	c := &client{target: Target{Address: "there:7410"}}
	for said, want := range map[string]string{
		"name resolver error: produced zero addresses":                                                                    "no machine of that name",
		`connection error: desc = "transport: Error while dialing: dial tcp: lookup there: no such host"`:                 "no machine of that name",
		`connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:7410: i/o timeout"`:                 "firewall",
		`connection error: desc = "transport: authentication handshake failed: context deadline exceeded"`:                "firewall",
		`connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:7410: connect: no route to host"`:   "firewall",
		`connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:7410: connect: connection refused"`: "see that one runs on there, as `foible coordinator --listen :7410` does there",
	} {
		err := c.explain(status.Error(codes.Unavailable, said))
		if err == nil || !strings.HasPrefix(err.Error(), "no coordinator answers at there:7410") || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "or say where it is with --coordinator") {
			t.Errorf("%s: got %v", said, err)
		}
	}
}

func TestOpenStudy(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("block-words", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("block-words", studyFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "doors-keys-gems", "block-words", "block-words/study.yaml", "./block-words/"} {
		if _, err := openStudy(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"block-word", "block-words/empty", "block-words/study.yaml/x"} {
		if _, err := openStudy(name); err == nil {
			t.Errorf("%q is a study", name)
		}
	}
}
