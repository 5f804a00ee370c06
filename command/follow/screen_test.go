package follow

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/command/internal/commandtest"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

var update = flag.Bool("update", false, "write the golden files")

// press is a key that has been pressed.
func press(key string) tea.KeyPressMsg {
	if key == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: rune(key[0]), Text: key}
}

// A conversation with the screen: after each message what it draws, of short answers the last lines.
func TestScreen(t *testing.T) {
	s := newScreen("lamps-0123abcd")
	s.quit = "q quits, the sweep goes on"
	var changed []bool
	s.change = func(pause bool) error {
		changed = append(changed, pause)
		if pause {
			return nil
		}
		return errors.New("it has ended")
	}
	var drawn strings.Builder
	draw := func(title string, m tea.Msg, all bool) {
		if m != nil {
			for _, next := s.Update(m); next != nil; {
				answer := next()
				if _, quits := answer.(tea.QuitMsg); quits {
					break
				}
				_, next = s.Update(answer)
			}
		}
		text := s.View().Content
		if !all {
			text = "..." + text[strings.LastIndex(text, "\n\n")+1:]
		}
		drawn.WriteString("== " + title + "\n" + text)
	}
	whole := func(title string, m tea.Msg) { draw(title, m, true) }
	foot := func(title string, m tea.Msg) { draw(title, m, false) }
	at := commandtest.Moment.Add(33 * time.Second)
	whole("begin", nil)
	whole("shown", shownMsg{commandtest.Shown(), at})
	foot("asked to pause", press("p"))
	foot("not after all", press("n"))
	foot("asked again", press("p"))
	foot("yes", press("y"))
	paused := commandtest.Shown()
	paused.State, paused.EtaLow, paused.EtaHigh, paused.Progress.JobsLeased = foiblev1.SweepState_SWEEP_STATE_PAUSED, nil, nil, 0
	whole("paused", shownMsg{paused, at})
	foot("asked to resume", press("p"))
	foot("resume fails", press("y"))
	foot("the coordinator is lost", saidMsg("The coordinator does not answer; trying until it does."))
	foot("it is back", shownMsg{commandtest.Shown(), at})
	whole("narrow", tea.WindowSizeMsg{Width: 40, Height: 16})
	whole("wide", tea.WindowSizeMsg{Width: 100, Height: 50})
	ended := commandtest.Shown()
	ended.State, ended.EndTime, ended.EtaLow, ended.EtaHigh = foiblev1.SweepState_SWEEP_STATE_FAILED, timestamppb.New(commandtest.Moment.Add(80*time.Second)), nil, nil
	foot("any key", press("x"))
	whole("ended", shownMsg{ended, at.Add(time.Hour)})
	foot("and left there", endedMsg{})
	if len(changed) != 2 || !changed[0] || changed[1] {
		t.Errorf("paused and resumed: %v", changed)
	}

	golden := filepath.Join("testdata", "screen.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(drawn.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if drawn.String() != string(want) {
		t.Errorf("it is drawn otherwise; `go test ./command -run TestScreen -update` writes what there is now:\n%s", drawn.String())
	}
}

// q and Ctrl-C leave, also while something is asked.
func TestScreenQuits(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		s := newScreen("a")
		s.Update(shownMsg{commandtest.Shown(), commandtest.Moment})
		s.Update(press("p"))
		_, next := s.Update(press(key))
		if next == nil || !s.left {
			t.Fatalf("%s does not quit", key)
		}
		if _, quits := next().(tea.QuitMsg); !quits {
			t.Errorf("%s does not quit", key)
		}
	}
}

// What is drawn fits any terminal.
func TestScreenFits(t *testing.T) {
	for width := 1; width < 120; width += 7 {
		for height := 3; height < 40; height += 3 {
			s := newScreen("lamps-0123abcd")
			s.quit = "q quits"
			s.Update(tea.WindowSizeMsg{Width: width, Height: height})
			s.Update(shownMsg{commandtest.Shown(), commandtest.Moment})
			lines := strings.Split(strings.TrimSuffix(s.View().Content, "\n"), "\n")
			if len(lines) > height {
				t.Errorf("%d x %d: %d lines", width, height, len(lines))
			}
			for _, line := range lines {
				if n := len([]rune(line)); n > width {
					t.Errorf("%d x %d: a line of %d: %s", width, height, n, line)
				}
			}
		}
	}
}
