package look

import (
	"fmt"
	"strings"
	"testing"
)

func TestLooksDiffer(t *testing.T) {
	names := []string{"full", "boltzmann", "goal-lesioned", "plan-lesioned", "action-lesioned", "another"}
	for i, a := range names {
		for _, b := range names[:i] {
			s, u := Of(a), Of(b)
			if s.Color == u.Color {
				t.Errorf("%s and %s have one colour", a, b)
			}
			if fmt.Sprint(s.Marker) == fmt.Sprint(u.Marker) || fmt.Sprint(s.Dashes) == fmt.Sprint(u.Dashes) {
				t.Errorf("%s and %s differ by colour alone", a, b)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	s := Ink(Small, Black)
	for _, c := range []struct {
		txt  string
		most int
		want string
	}{
		{"", 3, ""},
		{"one two", 3, "one two"},
		{"one two three four five six", 3, "one two three|four five six"},
		{"one two three four five six seven eight nine", 2, "one two three|four five six s…"},
		{"onetwothreefourfivesixseven", 3, "onetwothreef…"},
	} {
		if got := strings.Join(Wrap(s, c.txt, 50, c.most), "|"); got != c.want {
			t.Errorf("wrap(%q) = %q, want %q", c.txt, got, c.want)
		}
	}
}
