package kubectl

import (
	"maps"
	"testing"
)

func TestImage(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for text, want := range map[string]object{
		"foible":                              {"newName": "foible"},
		"foible:1":                            {"newName": "foible", "newTag": "1"},
		"example.org:5000/foible":             {"newName": "example.org:5000/foible"},
		"example.org:5000/lab/foible:1":       {"newName": "example.org:5000/lab/foible", "newTag": "1"},
		"example.org/foible@" + digest:        {"newName": "example.org/foible", "digest": digest},
		"example.org:50/foible:1@" + digest:   {"newName": "example.org:50/foible", "digest": digest},
		"example.org/foible:v1.0_a@" + digest: {"newName": "example.org/foible", "digest": digest},
	} {
		want["name"] = "foible"
		if !ValidImage(text) {
			t.Errorf("%q is refused", text)
		}
		if got := image(text); !maps.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "a b", "foible:", "foible@1", "-foible", "https://example.org/foible", "example.org/LAB/foible"} {
		if ValidImage(text) {
			t.Errorf("%q is taken", text)
		}
	}
}
