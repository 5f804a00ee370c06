package terminal

import (
	"bytes"
	"io"
	"testing"
)

// Characters arrive whole, however they are cut into writes.
func TestPlainOfParts(t *testing.T) {
	const text = "é – 目 😀\x1b\n\u202e ende"
	for size := 1; size <= len(text); size++ {
		var got bytes.Buffer
		w := Plain(&got)
		for rest := text; rest != ""; {
			n, err := io.WriteString(w, rest[:min(size, len(rest))])
			if err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
			rest = rest[n:]
		}
		if want := "é – 目 😀\\u001b\n\\u202e ende"; got.String() != want {
			t.Errorf("in parts of %d bytes: %q, want %q", size, &got, want)
		}
	}
}
