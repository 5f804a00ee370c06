package follow

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// screen is a sweep on a terminal: a Bubble Tea model, which messages change and View draws.
type screen struct {
	id     string
	quit   string                 // what q does
	change func(pause bool) error // pauses the sweep, or resumes it; nil: that is not offered
	width  int
	height int

	sweep  *foiblev1.Sweep // nil at first
	at     time.Time       // when it was shown
	said   string          // "" once the sweep is shown again
	asked  bool            // whether to pause, or to resume, and not answered yet
	failed string          // why that was not done
	left   bool            // q was pressed
	ended  bool
	countdown
}

// Messages of a screen.
type (
	shownMsg struct {
		sweep *foiblev1.Sweep
		at    time.Time
	}
	saidMsg    string
	endedMsg   struct{}
	changedMsg struct{ err error }
)

func newScreen(id string) *screen { return &screen{id: id, width: 80, height: 24} }

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (s *screen) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
	case tea.KeyPressMsg:
		return s, s.press(m.String())
	case shownMsg:
		s.sweep, s.at, s.said = m.sweep, m.at, ""
	case saidMsg:
		s.said = string(m)
	case changedMsg:
		if m.err != nil {
			s.failed = m.err.Error()
		}
	case endedMsg:
		s.ended = true
		return s, tea.Quit
	}
	return s, nil
}

func (s *screen) press(key string) tea.Cmd {
	pausing := s.pausing()
	s.failed = ""
	switch {
	case key == "q" || key == "ctrl+c":
		s.left = true
		return tea.Quit
	case s.asked && (key == "y" || key == "enter"):
		s.asked = false
		return func() tea.Msg { return changedMsg{s.change(pausing)} }
	case s.asked:
		s.asked = false
	case key == "p" && s.change != nil && s.sweep != nil && connect.HasNotEnded(s.sweep.GetState()):
		s.asked = true
	}
	return nil
}

// pausing says whether p pauses; else it resumes.
func (s *screen) pausing() bool { return s.sweep.GetState() != foiblev1.SweepState_SWEEP_STATE_PAUSED }

// View implements [tea.Model].
func (s *screen) View() tea.View { return tea.NewView(s.text()) }

// text is what is drawn, not higher than the terminal. Where there is no room, stimuli are left out first.
func (s *screen) text() string {
	var lines []string
	foot := s.foot()
	if s.sweep == nil {
		lines = []string{"Sweep " + s.id + ": asking the coordinator"}
	} else {
		lines = append(lines, s.head(), "")
		lines = append(lines, s.stages()...)
		lines = append(lines, "")
		lines = append(lines, s.pace()...)
		lines = append(lines, "")
		lines = append(lines, s.models()...)
		room := s.height - len(lines) - len(foot) - 2
		if stimuli := s.stimuli(); len(stimuli) > 0 && room > 1 {
			if len(stimuli) > room {
				stimuli = append(stimuli[:room-1], fmt.Sprintf("and %s more", words.Count(len(stimuli)-room+1, "line")))
			}
			lines = append(append(lines, ""), stimuli...)
		}
	}
	lines = append(lines, foot...)
	if s.height > 0 && len(lines) > s.height {
		lines = append(lines[:max(0, s.height-len(foot))], foot...)
	}
	for i, line := range lines {
		lines[i] = words.Line(line)
		if runes := []rune(lines[i]); len(runes) > s.width {
			lines[i] = string(runes[:max(0, s.width-1)]) + "…"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *screen) head() string {
	m := s.sweep
	end := s.at
	if m.GetEndTime() != nil {
		end = m.GetEndTime().AsTime()
	}
	text := fmt.Sprintf("Sweep %s: %s, made %s ago", s.id, connect.StateText(m), span(end.Sub(m.GetCreateTime().AsTime())))
	if m.GetEndTime() != nil {
		text = fmt.Sprintf("Sweep %s: %s, %s after it was made", s.id, connect.StateText(m), span(end.Sub(m.GetCreateTime().AsTime())))
	}
	return text
}

// Names of the parts of stages, as they are shown.
var stageWords = map[string]string{
	"fit": "fit", "fit_scores": "  compared", "top_up": "topping up", "top_up_scores": "  compared", "report": "report", "report_scores": "  compared",
}

func (s *screen) stages() []string {
	var lines []string
	for _, p := range s.sweep.GetProgress().GetStages() {
		done, all, noun := p.GetCellsDone(), p.GetCells(), "cell"
		if all == 0 {
			done, all, noun = p.GetJobsDone(), p.GetJobs(), "job"
		}
		lines = append(lines, fmt.Sprintf("%-11s %s  %s of %s", stageWords[p.GetName()], bar(done, all, s.barWidth()), words.Thousands(done), words.Count(all, noun)))
	}
	return lines
}

func (s *screen) barWidth() int { return max(10, min(40, s.width-50)) }

// bar is a part of a whole, as a bar and in percent, rounded down: all is done at 100 % and not before.
func bar(done, all int64, width int) string {
	all = max(all, 1)
	full := int(int64(width) * done / all)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full) + fmt.Sprintf(" %3d %%", 100*done/all)
}

// pace is how fast it goes, with what, and what does not go well.
func (s *screen) pace() []string {
	m, p := s.sweep, s.sweep.GetProgress()
	var lines []string
	if m.GetStalled() != "" {
		lines = append(lines, m.GetStalled())
	}
	if m.GetWaitsFor() != "" {
		lines = append(lines, "waits for "+m.GetWaitsFor()+", which it extends, to end")
	}
	if connect.HasNotEnded(m.GetState()) {
		first := fmt.Sprintf("%s, %s, %s with workers", words.Count(int(p.GetWorkers()), "worker"), words.Count(int(p.GetSlots()), "slot"), words.Count(int(p.GetJobsLeased()), "job"))
		if rate := p.GetCellsPerSecond(); rate > 0 {
			first += fmt.Sprintf("; %s cells/s", rounded(rate))
		}
		if eta := s.eta(m, s.at); eta != "" {
			first += "; " + eta
		}
		lines = append(lines, first)
	}
	if trouble := trouble(p); len(trouble) > 0 {
		lines = append(lines, strings.Join(trouble, ", "))
	}
	if troubles := p.GetTroubles(); len(troubles) > 0 {
		lines = append(lines, "now: "+troubles[0])
	}
	if reasons := Causes(p); len(reasons) > 0 {
		lines = append(lines, "failed: "+reasons[0])
	}
	return lines
}

func (s *screen) models() []string {
	p := s.sweep.GetProgress()
	best := map[string]*foiblev1.Fit{}
	for _, fit := range p.GetBest() {
		best[fit.GetParameterSet().GetModel()] = fit
	}
	lines := []string{fmt.Sprintf("%-15s %-16s  %5s  %s", "Model", "Done", "r", "best so far")}
	for _, part := range p.GetModels() {
		r, settings := "", ""
		if fit := best[part.GetName()]; fit != nil {
			r = words.Fixed(fit.GetOverall().GetPearsonR(), 3)
			if set, err := codec.ReadParameterSet(fit.GetParameterSet()); err == nil {
				settings = set.Settings()
			}
			if fit.GetNumber() > 0 { // older coordinators do not say
				settings = fmt.Sprintf("#%d %s", fit.GetNumber(), settings)
			}
			if fit.GetIncomplete() {
				settings += " (lacks points)"
			}
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-15s %s  %5s  %s", part.GetName(), bar(part.GetCellsDone(), part.GetCells(), 10), r, settings), " "))
	}
	return lines
}

// stimuli are side by side, as many as there is room for.
func (s *screen) stimuli() []string {
	parts := s.sweep.GetProgress().GetStimuli()
	name := 0
	for _, p := range parts {
		name = max(name, len([]rune(p.GetName())))
	}
	columns := max(1, (s.width+2)/(name+8))
	var lines []string
	for i, p := range parts {
		cell := fmt.Sprintf("%-*s %3d %%", name, p.GetName(), 100*p.GetCellsDone()/max(1, p.GetCells()))
		if i%columns == 0 {
			lines = append(lines, cell)
		} else {
			lines[len(lines)-1] += "  " + cell
		}
	}
	return lines
}

// foot says what the keys do; nothing once it is over.
func (s *screen) foot() []string {
	keys := s.quit
	switch {
	case s.ended || s.left:
		return nil
	case s.asked && s.pausing():
		keys = "Pause the sweep? What workers have is finished first. y: yes, any other key: no"
	case s.asked:
		keys = "Resume the sweep? y: yes, any other key: no"
	case s.change == nil || s.sweep == nil || !connect.HasNotEnded(s.sweep.GetState()):
	case s.pausing():
		keys += "; p pauses it"
	default:
		keys += "; p resumes it"
	}
	foot := []string{""}
	for _, line := range []string{s.said, s.failed, keys} {
		if line != "" {
			foot = append(foot, line)
		}
	}
	return foot
}

// terminal is a screen that is being shown.
type redrawing struct {
	program *tea.Program
	gone    chan struct{} // closed when it is shown no more
}

// startTerminal shows a screen; what is pressed to quit calls quit.
func startTerminal(term *terminal.Terminal, s *screen, quit context.CancelFunc) *redrawing {
	t := &redrawing{program: tea.NewProgram(s, tea.WithOutput(terminal.Underlying(term.Err)), tea.WithoutSignalHandler()), gone: make(chan struct{})}
	below := term.Logs.Redirect(func(line string) { t.program.Println(words.Plain(line)) })
	go func() {
		defer close(t.gone)
		defer below()
		_, err := t.program.Run()
		if err != nil || s.left {
			quit()
		}
	}()
	return t
}

func (t *redrawing) show(m *foiblev1.Sweep) { t.program.Send(shownMsg{m, time.Now()}) }
func (t *redrawing) say(text string)        { t.program.Send(saidMsg(text)) }

func (t *redrawing) close(m *foiblev1.Sweep) {
	if m != nil {
		t.show(m)
	}
	t.program.Send(endedMsg{})
	<-t.gone
}
