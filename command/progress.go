package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	foiblev1 "foible/proto/foible/v1"
)

// lineInterval is how often progress is printed where there is no terminal.
const lineInterval = 5 * time.Second

// watch shows the progress of a sweep until it has ended, and returns it.
func (e *Env) watch(ctx context.Context, c *client, id string) (*foiblev1.Sweep, error) {
	stream, err := c.sweeps.WatchSweep(ctx, &foiblev1.WatchSweepRequest{SweepId: id})
	if err != nil {
		return nil, c.explain(err)
	}
	shown := newProgress(e.Err)
	var last *foiblev1.Sweep
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) && last != nil {
			shown.finish(last.GetProgress())
			return last, nil
		}
		if err != nil {
			shown.stop()
			return nil, c.explain(err)
		}
		last = m.GetSweep()
		shown.update(last.GetProgress())
	}
}

// progress is a bar on a terminal, and lines elsewhere.
type progress struct {
	out     io.Writer
	bar     *progressbar.ProgressBar // nil: lines
	began   time.Time
	first   int64 // cells done when it began
	printed time.Time
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, began: time.Now(), first: -1}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(f),
			progressbar.OptionSetDescription("cells"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("cells"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond),
		)
	}
	return p
}

func (p *progress) update(m *foiblev1.Progress) {
	if p.first < 0 {
		p.first = m.GetCellsDone()
	}
	if p.bar != nil {
		p.bar.ChangeMax64(max(1, m.GetCells()))
		_ = p.bar.Set64(min(m.GetCellsDone(), m.GetCells()-1)) // the bar ends with the sweep
		return
	}
	if time.Since(p.printed) < lineInterval {
		return
	}
	p.printed = time.Now()
	fmt.Fprintln(p.out, p.line(m))
}

// line says how far it is, how fast, and how long it may take.
func (p *progress) line(m *foiblev1.Progress) string {
	text := fmt.Sprintf("cells %d/%d (%d%%)", m.GetCellsDone(), m.GetCells(), 100*m.GetCellsDone()/max(1, m.GetCells()))
	elapsed := time.Since(p.began).Seconds()
	if done := m.GetCellsDone() - p.first; done > 0 && elapsed > 0 {
		rate := float64(done) / elapsed
		left := time.Duration(float64(m.GetCells()-m.GetCellsDone()) / rate * float64(time.Second))
		text += fmt.Sprintf(", %.3g cells/s, ETA %s", rate, left.Round(time.Second))
	}
	if m.GetWorkers() == 0 {
		text += ", no worker is connected"
	}
	if m.GetJobsFailed() > 0 {
		text += fmt.Sprintf(", %d jobs failed", m.GetJobsFailed())
	}
	return text
}

func (p *progress) finish(m *foiblev1.Progress) {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	fmt.Fprintf(p.out, "%d cells in %s\n", m.GetCells(), time.Since(p.began).Round(100*time.Millisecond))
}

func (p *progress) stop() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.out)
	}
}
