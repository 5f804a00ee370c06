package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A study that is damaged on the disk, whichever of its bytes, is there again when it is put again. The bytes of the length of a
// subject are an exception: the server takes what follows for something else. There, the error says what to do.
func TestDamagedStudyIsPutAgain(t *testing.T) {
	dir := t.TempDir()
	bundle := bytes.Repeat([]byte("study"), 40)
	e, err := Open(t.Context(), Config{Dir: dir})
	if err == nil {
		err = e.PutStudy(t.Context(), "abc", bundle)
	}
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	block := filepath.Join("jetstream", "$G", "streams", "OBJ_studies", "msgs", "1.blk")
	content, err := os.ReadFile(filepath.Join(dir, block))
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[int]bool{} // places of the length of a subject
	for _, subject := range []string{"$O.studies.C", "$O.studies.M"} {
		lengths[bytes.Index(content, []byte(subject))-2] = true
	}
	unreadable := 0
	try := func(t *testing.T, at int) {
		image := t.TempDir()
		if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(content)
		flipped[at] ^= 4
		if err := os.WriteFile(filepath.Join(image, block), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Open(t.Context(), Config{Dir: image})
		if err != nil {
			t.Fatalf("byte %d of %d: %v", at, len(content), err)
		}
		if got, err := e.Study(t.Context(), "abc"); err != nil {
			unreadable++
		} else if !bytes.Equal(got, bundle) {
			t.Errorf("byte %d of %d: another study is read", at, len(content))
		}
		err = e.PutStudy(t.Context(), "abc", bundle)
		beyond := lengths[at] && errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), "remove "+filepath.Join(image, "jetstream"))
		if err != nil && !beyond {
			t.Errorf("byte %d of %d: %v", at, len(content), err)
		}
		if got, err := e.Study(t.Context(), "abc"); !beyond && (err != nil || !bytes.Equal(got, bundle)) {
			t.Errorf("byte %d of %d, put again: %d bytes, %v", at, len(content), len(got), err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	for at := 0; at < len(content); at += 11 {
		if !lengths[at] && !lengths[at-1] {
			try(t, at)
		}
	}
	for at := range lengths { // parts of the study are waited for in vain
		inFalseTime(t, func(t *testing.T) { try(t, at) })
	}
	if unreadable == 0 {
		t.Error("no flipped byte was noticed")
	}
}
