package follow

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"foible.dev/foible/command/connect"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Where there is no terminal, a line is printed for each tenth of the cells,
// but not too often, and once in a while all the same.
const (
	leastLineInterval = time.Second
	mostLineInterval  = 30 * time.Second
)

// lines shows a sweep where lines cannot be redrawn.
type lines struct {
	out     io.Writer
	now     func() time.Time
	printed time.Time
	tenth   int64 // of the cells, when a line was last printed
	state   foiblev1.SweepState
	stalled string // or what is waited for
	countdown
}

func newLines(out io.Writer) *lines { return &lines{out: out, now: time.Now} }

func (l *lines) show(m *foiblev1.Sweep) {
	p := m.GetProgress()
	tenth := 10 * p.GetCellsDone() / max(1, p.GetCells())
	held := m.GetStalled() + m.GetWaitsFor()
	since, turned := l.now().Sub(l.printed), m.GetState() != l.state || held != l.stalled
	if turned || since >= mostLineInterval || since >= leastLineInterval && tenth > l.tenth {
		l.printed, l.tenth, l.state, l.stalled = l.now(), tenth, m.GetState(), held
		fmt.Fprintln(l.out, lineOf(m, l.eta(m, l.now())))
	}
}

func (l *lines) say(text string) { fmt.Fprintln(l.out, words.Line(text)) }

func (l *lines) close(*foiblev1.Sweep) {}

// toppingUp says whether contenders are being run again.
func toppingUp(p *foiblev1.Progress) bool {
	return slices.ContainsFunc(p.GetStages(), func(part *foiblev1.PartProgress) bool {
		return part.GetName() == sweep.TopUpStage && part.GetCellsDone() < part.GetCells()
	})
}

// lineOf says in a line how far a sweep is, how fast, how long it may take, and what went wrong.
func lineOf(m *foiblev1.Sweep, eta string) string {
	p := m.GetProgress()
	said := []string{fmt.Sprintf("cells %s/%s", words.Thousands(p.GetCellsDone()), words.Thousands(p.GetCells()))}
	switch {
	case !connect.HasNotEnded(m.GetState()):
		said = append(said, connect.StateName(m))
	case connect.StateName(m) == connect.StatePaused:
		said = append(said, "paused")
	case m.GetStalled() != "":
		said = append(said, connect.StateStalled+": "+m.GetStalled())
	case m.GetWaitsFor() != "":
		said = append(said, connect.StateWaiting+" for "+m.GetWaitsFor()+" to end")
	case p.GetCellsDone() == p.GetCells():
		said = append(said, "comparing with people")
	default:
		if toppingUp(p) {
			said = append(said, "topping up")
		}
		if rate := p.GetCellsPerSecond(); rate > 0 && p.GetCellsDone() > 0 {
			said = append(said, rounded(rate)+" cells/s")
		}
		if eta != "" {
			said = append(said, eta)
		}
	}
	if p.GetWorkers() == 0 && connect.HasNotEnded(m.GetState()) {
		said = append(said, "no worker is connected")
	}
	return words.Line(strings.Join(append(said, trouble(p)...), ", "))
}
