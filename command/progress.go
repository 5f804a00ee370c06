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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	foiblev1 "foible/proto/foible/v1"
)

// retryInterval is how long to wait for a coordinator that has gone.
const retryInterval = time.Second

// watch shows the progress of a sweep until it has ended, and returns it. It waits for a coordinator that goes away
// meanwhile, if that may come back, and for one of several without a word at first.
func (e *Env) watch(ctx context.Context, c *client, id string, mayReturn bool) (*foiblev1.Sweep, error) {
	shown := newProgress(e.Err)
	var last *foiblev1.Sweep
	var lost time.Time // since when nobody has answered
	said := false
	pause, silence := retryInterval, time.Duration(0)
	if len(c.target.addresses()) > 1 {
		pause, silence = failoverPause, failoverTime
	}
	for {
		err := c.watch(ctx, id, func(m *foiblev1.Sweep) {
			last, said, lost = m, false, time.Time{}
			shown.update(m.GetProgress(), stateName(m) == statePaused)
		})
		switch {
		case err == nil:
			shown.finish(last.GetProgress())
			return last, nil
		case last == nil || !mayReturn || status.Code(err) != codes.Unavailable || c.refusal() != nil:
			shown.stop()
			return nil, c.explain(err)
		case lost.IsZero():
			lost = time.Now()
		}
		if !said && time.Since(lost) >= silence {
			said = true
			e.say("The coordinator does not answer; trying until it does.")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			shown.stop()
			return nil, ErrInterrupted
		}
	}
}

// watch calls back for a sweep now and at its changes, until it has ended.
func (c *client) watch(ctx context.Context, id string, each func(*foiblev1.Sweep)) error {
	stream, err := c.sweeps.WatchSweep(ctx, &foiblev1.WatchSweepRequest{SweepId: id})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(m.GetSweep())
	}
}

// Where there is no terminal, a line is printed for each tenth of the cells,
// but not too often, and once in a while all the same.
const (
	leastLineInterval = time.Second
	mostLineInterval  = 30 * time.Second
)

// progress is a bar on a terminal, and lines elsewhere.
type progress struct {
	out     io.Writer
	bar     *progressbar.ProgressBar // nil: lines
	now     func() time.Time
	began   time.Time
	first   int64 // cells done when it began
	printed time.Time
	tenth   int64 // of the cells, when a line was last printed
	paused  bool
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, now: time.Now, began: time.Now(), first: -1}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(f),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), // text says it
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

func (p *progress) update(m *foiblev1.Progress, paused bool) {
	turned := paused != p.paused
	p.paused = paused
	if p.first < 0 {
		p.first = m.GetCellsDone()
	}
	if p.bar != nil {
		p.bar.ChangeMax64(m.GetCells() + 1) // the bar ends with the sweep, not with its last cell
		_ = p.bar.Set64(m.GetCellsDone())
		p.bar.Describe(p.text(m))
		return
	}
	tenth := 10 * m.GetCellsDone() / max(1, m.GetCells())
	since := p.now().Sub(p.printed)
	if turned || since >= mostLineInterval || since >= leastLineInterval && tenth > p.tenth {
		p.printed, p.tenth = p.now(), tenth
		fmt.Fprintln(p.out, p.text(m))
	}
}

// text says how far it is, how fast, and how long it may take.
func (p *progress) text(m *foiblev1.Progress) string {
	text := fmt.Sprintf("cells %d/%d", m.GetCellsDone(), m.GetCells())
	elapsed := p.now().Sub(p.began).Seconds()
	switch done := m.GetCellsDone() - p.first; {
	case p.paused:
		text += ", paused"
	case m.GetCellsDone() == m.GetCells():
		text += ", comparing with people"
	case done > 0 && elapsed > 0:
		rate := float64(done) / elapsed
		left := time.Duration(float64(m.GetCells()-m.GetCellsDone()) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s cells/s, ETA %s", rounded(rate), max(time.Second, left.Round(time.Second)))
	}
	if m.GetWorkers() == 0 {
		text += ", no worker is connected"
	}
	if m.GetJobsFailed() > 0 {
		text += ", " + count(int(m.GetJobsFailed()), "job") + " failed"
	}
	return text
}

// rounded is a rate to three digits, written out.
func rounded(rate float64) string {
	switch {
	case rate >= 100:
		return fmt.Sprintf("%.0f", rate)
	case rate >= 10:
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.2f", rate)
}

func (p *progress) finish(m *foiblev1.Progress) {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	before := ""
	if p.first > 0 {
		before = fmt.Sprintf("; %d were there already", p.first)
	}
	fmt.Fprintf(p.out, "%s in %s%s\n", count(int(m.GetCellsDone()-p.first), "cell"), p.now().Sub(p.began).Round(100*time.Millisecond), before)
}

// stop leaves the bar where it is.
func (p *progress) stop() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.out)
	}
}
