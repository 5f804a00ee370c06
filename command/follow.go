package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// retryInterval is how long to wait for a coordinator that has gone.
const retryInterval = time.Second

// viewer shows a sweep.
type viewer interface {
	// show takes the sweep as it stands.
	show(m *foiblev1.Sweep)
	// say takes what else is to be known.
	say(text string)
	// close ends what show began. The sweep has ended, or, if it is nil, the watching has.
	close(m *foiblev1.Sweep)
}

// watched is a sweep to be watched.
type watched struct {
	id        string
	mayReturn bool // its coordinator, if it goes away
	// before is the number of cells that had results when it was begun; below 0: when the watching begins.
	before int64
	// foretold is how long it is to take, until the coordinator knows; nil: not known.
	foretold *foretold
}

// watch shows the progress of a sweep until it has ended, and returns it. It waits for a coordinator that goes away
// meanwhile, if that may come back, and for one of several without a word at first.
func watch(ctx context.Context, term *Terminal, c *client, w watched) (*foiblev1.Sweep, error) {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	shown, began := newViewer(ctx, term, c, &w, quit), time.Now()
	first, last, err := followSweep(ctx, c, w.id, w.mayReturn, shown)
	shown.close(last)
	if err == nil {
		if w.before < 0 {
			w.before = first.GetProgress().GetCellsDone()
		}
		term.say("%s", summary(w.before, last, time.Since(began)))
		if text := verified(last); text != "" {
			term.say("%s", text)
		}
	}
	return last, err
}

// viewer is a screen on a terminal that can redraw lines, and lines elsewhere.
func newViewer(ctx context.Context, term *Terminal, c *client, w *watched, quit context.CancelFunc) viewer {
	clock := countdown{foretold: w.foretold, began: time.Now()}
	if !redraws(term.Err) {
		l := newLines(term.Err)
		l.countdown = clock
		return l
	}
	id := w.id
	s := newScreen(id)
	s.countdown = clock
	s.quit = "q stops; the same command goes on from here"
	if w.mayReturn {
		s.quit = "q quits, the sweep goes on"
		s.change = func(pause bool) error {
			if pause {
				_, err := c.sweeps.PauseSweep(ctx, &foiblev1.PauseSweepRequest{SweepId: id})
				return c.explain(err)
			}
			_, err := c.sweeps.ResumeSweep(ctx, &foiblev1.ResumeSweepRequest{SweepId: id})
			return c.explain(err)
		}
	}
	return startTerminal(term, s, quit)
}

// follow shows a sweep until it has ended, and returns it as it was at first and is at last; nil with an error.
func followSweep(ctx context.Context, c *client, id string, mayReturn bool, shown viewer) (first, last *foiblev1.Sweep, err error) {
	var lost time.Time // since when nobody has answered
	said := false
	pause, silence := retryInterval, time.Duration(0)
	if len(c.target.addresses()) > 1 {
		pause, silence = failoverPause, failoverTime
	}
	for {
		err := watchSweep(ctx, c, id, func(m *foiblev1.Sweep) {
			if first == nil {
				first = m
			}
			last, said, lost = m, false, time.Time{}
			shown.show(m)
		})
		switch {
		case err == nil:
			return first, last, nil
		case last == nil || !mayReturn || status.Code(err) != codes.Unavailable || c.refusal() != nil:
			return nil, nil, c.explain(err)
		case lost.IsZero():
			lost = time.Now()
		}
		if !said && time.Since(lost) >= silence {
			said = true
			if full := (*StalledError)(nil); errors.As(c.explain(err), &full) {
				shown.say("The coordinator waits: " + full.Reason + ".")
			} else {
				shown.say("The coordinator does not answer; trying until it does.")
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, ErrInterrupted
		}
	}
}

// watch calls back for a sweep now and at its changes, until it has ended.
func watchSweep(ctx context.Context, c *client, id string, each func(*foiblev1.Sweep)) error {
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

// summary says what was done of a sweep, of which so many cells had results before.
func summary(before int64, last *foiblev1.Sweep, took time.Duration) string {
	text := fmt.Sprintf("%s in %s", words.Count(last.GetProgress().GetCellsDone()-before, "cell"), took.Round(100*time.Millisecond))
	switch {
	case before > 0 && last.GetExtends() != "":
		return text + fmt.Sprintf("; %s were there already, most of them from %s, which it extends", words.Thousands(before), last.GetExtends())
	case before > 0:
		return text + fmt.Sprintf("; %s were there already", words.Thousands(before))
	}
	return text
}

// countdown is what a pilot has foretold, which stands until the coordinator knows more.
type countdown struct {
	foretold *foretold // nil: nothing
	began    time.Time
}

// eta says when a sweep ends, as a range, or that this is not known yet; "" where nothing goes on.
func (c *countdown) eta(m *foiblev1.Sweep, now time.Time) string {
	p := m.GetProgress()
	switch {
	case m.GetEtaHigh() != nil:
		return "ETA " + spans(m.GetEtaLow().AsDuration(), m.GetEtaHigh().AsDuration())
	case stateText(m) != stateRunning || p.GetWorkers() == 0 || p.GetCellsDone() == p.GetCells():
		return ""
	case c.foretold != nil && now.Sub(c.began).Seconds() < c.foretold.low:
		left := func(seconds float64) time.Duration {
			return time.Duration(seconds*float64(time.Second)) - now.Sub(c.began)
		}
		return "ETA " + spans(left(c.foretold.low), left(c.foretold.high)) + " by the pilot"
	}
	return "ETA not known yet"
}

// spans is a range of times.
func spans(from, to time.Duration) string {
	if low, high := span(from), span(to); low != high {
		return low + " to " + high
	}
	return span(to)
}

// span is a time to two digits or so, in the units in which people think of it.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(1, int(d.Round(time.Second)/time.Second)))
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d.Round(time.Minute)/time.Minute)
	case d < 48*time.Hour:
		d = d.Round(5 * time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days", d.Round(24*time.Hour)/(24*time.Hour))
}

// trouble says what did not go as planned; "" if nothing.
func trouble(p *foiblev1.Progress) []string {
	all := failed(p)
	if n := p.GetRetries(); n > 0 {
		all = append(all, words.Count(int(n), "job")+" tried again")
	}
	if n := p.GetCopies(); n > 0 {
		all = append(all, words.Count(int(n), "job")+" given to a second worker")
	}
	if n := p.GetLeasesLost(); n > 0 {
		all = append(all, words.Count(int(n), "lease")+" lost")
	}
	if n := p.GetDuplicates(); n > 0 {
		all = append(all, words.Count(int(n), "repeated result")+" refused")
	}
	return all
}

// failed says how many jobs failed, and how many cells of others; nothing if none.
func failed(p *foiblev1.Progress) []string {
	var all []string
	if n := p.GetJobsFailed(); n > 0 {
		all = append(all, words.Count(int(n), "job")+" failed")
	}
	if n := p.GetCellsFailed(); n > 0 {
		all = append(all, words.Count(int(n), "cell")+" could not be computed")
	}
	return all
}

// causes of failures, in words: of cells first.
func causes(p *foiblev1.Progress) []string {
	all := map[string]int64{} // cells of each model
	for _, part := range p.GetModels() {
		all[part.GetName()] = part.GetCells()
	}
	var texts []string
	for _, f := range p.GetFailedCells() {
		if n := f.GetCells(); n >= all[f.GetModel()] {
			texts = append(texts, fmt.Sprintf("%s: no fit: %s (%s)", f.GetModel(), f.GetReason(), words.Count(int(n), "cell")))
		} else {
			texts = append(texts, fmt.Sprintf("%s: %s of %s could not be computed: %s", f.GetModel(), words.Thousands(n), words.Count(int(all[f.GetModel()]), "cell"), f.GetReason()))
		}
	}
	return append(texts, p.GetFailures()...)
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

// sayNext says what a sweep that has not ended waits for, if it does.
func sayNext(ctx context.Context, term *Terminal, c *client, m *foiblev1.Sweep) {
	switch stateName(m) {
	case stateInPart:
		term.say("%s tries again what failed.", c.retryAdvice(m.GetSweepId()))
	case statePaused:
		term.say("It is paused; `foible resume%s %s` lets it go on.", c.flags(), m.GetSweepId())
	case stateRunning:
		sayWorkers(term, c, m)
		if m.GetExtends() == "" {
			return
		}
		if from, err := c.sweep(ctx, m.GetExtends()); err == nil && (stateName(from) == stateRunning || stateName(from) == statePaused) {
			term.say("It begins when %s, which it extends and which is %s, has ended.", m.GetExtends(), stateName(from))
		}
	}
}

// sayHow says which commands are next.
func sayHow(term *Terminal, c *client, m *foiblev1.Sweep) {
	term.say("`foible watch%s %s` follows it, `foible results%[1]s %[2]s` writes its tables and figures.", c.flags(), m.GetSweepId())
}

// sayRetried says what of a sweep is tried again; nothing if that is nothing.
func sayRetried(term *Terminal, m *foiblev1.Sweep, r *foiblev1.Retried) {
	if r == nil {
		return
	}
	var what []string
	if n := int(r.GetJobs()); n > 0 {
		what = append(what, words.Count(n, "failed job"))
	}
	if n := int(r.GetCells()); n > 0 {
		what = append(what, words.Count(n, "cell")+" that could not be computed")
	}
	is := "are"
	if r.GetJobs()+r.GetCells() == 1 {
		is = "is"
	}
	when := ""
	if m.GetRetryDue() {
		when = " when all other jobs of the sweep are done"
	}
	term.say("%s %s tried again%s.", strings.Join(what, " and "), is, when)
}
