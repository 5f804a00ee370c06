package words_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"foible.dev/foible/core/words"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                        {"", ""},
		"plain, ä – 目 😀":          {"plain, ä – 目 😀", "plain, ä – 目 😀"},
		"two\nlines\tand a tab":   {"two\nlines\tand a tab", `two\nlines\tand a tab`},
		"\x1b[2J\x1b]0;title\x07": {`\u001b[2J\u001b]0;title\u0007`, `\u001b[2J\u001b]0;title\u0007`},
		"a\rb\x00\x7f\u009bm":     {`a\u000db\u0000\u007f\u009bm`, `a\u000db\u0000\u007f\u009bm`},
		"gpj.\u202eexe\u2066":     {`gpj.\u202eexe\u2066`, `gpj.\u202eexe\u2066`},
		"bad \xff\xc3 bytes \xe2": {`bad \u00ff\u00c3 bytes \u00e2`, `bad \u00ff\u00c3 bytes \u00e2`},
		"a sound \ufffd stays":    {"a sound \ufffd stays", "a sound \ufffd stays"},
	} {
		if got := [2]string{words.Plain(text), words.Line(text)}; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What is plain stays so, and JSON means the same as before.
func FuzzPlain(f *testing.F) {
	f.Add("a\x1b\u009b\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		plain := words.Plain(text)
		if again := words.Plain(plain); again != plain || !utf8.ValidString(plain) {
			t.Errorf("%q becomes %q, then %q", text, plain, again)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if json.Unmarshal(encoded, &before) != nil || json.Unmarshal([]byte(words.Plain(string(encoded))), &after) != nil || before != after {
			t.Errorf("%q is %q in JSON, and %q after it was made plain", text, before, after)
		}
	})
}
