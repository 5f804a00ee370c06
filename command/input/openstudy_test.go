package input

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpenStudy(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("block-words", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("block-words", StudyFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "doors-keys-gems", "block-words", "block-words/study.yaml", "./block-words/"} {
		if _, err := OpenStudy(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"block-word", "block-words/empty", "block-words/study.yaml/x"} {
		if _, err := OpenStudy(name); err == nil {
			t.Errorf("%q is a study", name)
		}
	}
}
