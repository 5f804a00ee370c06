package command

import (
	"testing"

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
