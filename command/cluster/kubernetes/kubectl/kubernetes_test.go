package kubectl

import (
	"errors"
	"strings"
	"testing"
)

// What kubectl 1.32 and 1.33 say, and what is made of it.
func TestErrors(t *testing.T) {
	const memcache = `E1128 05:36:51.019316   11548 memcache.go:265] "Unhandled Error" err="couldn't get current server API group list: Get \"https://127.0.0.1:9/api?timeout=32s\": dial tcp 127.0.0.1:9: connect: connection refused"` + "\n"
	for _, c := range []struct{ name, said, shown, advice string }{
		{
			"refused", strings.Repeat(memcache, 5) + "The connection to the server 127.0.0.1:9 was refused - did you specify the right host or port?\n",
			"The connection to the server 127.0.0.1:9 was refused - did you specify the right host or port?", unreachable,
		},
		{
			"no such host", "Unable to connect to the server: dial tcp: lookup there.invalid: no such host\n",
			"Unable to connect to the server: dial tcp: lookup there.invalid: no such host", unreachable,
		},
		{
			"slow", "Unable to connect to the server: context deadline exceeded\n",
			"Unable to connect to the server: context deadline exceeded", unreachable,
		},
		{
			"no context", "Error in configuration: context was not found for specified context: there\n",
			"Error in configuration: context was not found for specified context: there", noContext,
		},
		{"no context, four times", strings.Repeat("context \"there\" does not exist\n", 4), `context "there" does not exist`, noContext},
		{
			"nothing to scale", `Error from server (NotFound): deployments.apps "foible-worker" not found` + "\n",
			`Error from server (NotFound): deployments.apps "foible-worker" not found`, "start it with `foible cluster kubernetes apply`, or name another namespace with --namespace",
		},
		{"a log alone", memcache, strings.TrimSpace(memcache), ""},
	} {
		err := &Error{Command: "get", Said: oneLine(c.said), Err: errors.New("exit status 1")}
		if err.Said != c.shown || err.advice() != c.advice {
			t.Errorf("%s: %q with the advice %q, want %q with %q", c.name, err.Said, err.advice(), c.shown, c.advice)
		}
	}
}
