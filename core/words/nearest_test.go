package words_test

import (
	"testing"

	"foible.dev/foible/core/words"
)

func TestNearest(t *testing.T) {
	known := []string{"alpha", "action_noise", "search_noise", "1-1", "12", "gem1", "gem2", "block-words-2021-19786ccb64"}
	for name, want := range map[string]string{
		"alhpa":                  "alpha", // letters swapped
		"Alpha":                  "alpha",
		"acton_noise":            "action_noise",
		"noise":                  "",
		"01-01":                  "1-1", // a spreadsheet's zeros
		"12.0":                   "12",
		"gem3":                   "", // another gem
		"gme1":                   "gem1",
		"block-words-2021-19786": "block-words-2021-19786ccb64", // the beginning
		"al":                     "",                            // too short to tell
		"":                       "",
	} {
		if got := words.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got, want := words.Options("sip", []string{"marginal", "sips"}), `marginal, sips; did you mean "sips"?`; got != want {
		t.Errorf("Options = %s, want %s", got, want)
	}
}
