package domaintest

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/picture"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

// PictureFunc draws a state.
type PictureFunc func(t *ground.Task, s ground.StateID, past []ground.StateID) (*picture.Picture, error)

var size = regexp.MustCompile(`^<svg [^>]*viewBox="[^"]*"`)

// Pictures draws every state that a plan passes through, with and without the
// trail: well-formed documents with a title, all of one size, the same bytes
// each time, and understood by a storyboard.
func Pictures(t *testing.T, name string, draw PictureFunc, task *ground.Task, plan []pddl.Step) {
	t.Helper()
	states, _, err := task.Validate(plan)
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for k, s := range states {
		for _, past := range [][]ground.StateID{nil, states[:k]} {
			p, err := draw(task, s, past)
			if err != nil {
				t.Fatalf("%s, step %d: %v", name, k, err)
			}
			svg := p.SVG()
			if again, _ := draw(task, s, past); again.SVG() != svg {
				t.Fatalf("%s, step %d: other bytes the second time", name, k)
			}
			if err := wellFormed(svg); err != nil || !strings.Contains(svg, "<title>") || strings.Contains(svg, "NaN") {
				t.Fatalf("%s, step %d: %v in\n%s", name, k, err, svg)
			}
			if _, err := figure.Storyboard(figure.Story{Scenes: []figure.Scene{{Step: k, Picture: p}}}); err != nil {
				t.Fatalf("%s: %v in\n%s", name, err, svg)
			}
			if first == "" {
				first = size.FindString(svg)
			}
			if got := size.FindString(svg); got == "" || got != first {
				t.Fatalf("%s, step %d: size %q, was %q", name, k, got, first)
			}
		}
	}
}

func wellFormed(svg string) error {
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Golden compares a picture with testdata/name; the flag -update rewrites that.
func Golden(t *testing.T, name string, p *picture.Picture) {
	t.Helper()
	svg := p.SVG()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if svg != string(want) {
		t.Errorf("%s has changed: look at it, then -update", file)
	}
}
