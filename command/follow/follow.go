// Package follow shows the progress of a sweep until it ends, on a terminal or
// line by line, and notifies the user then. It describes a sweep in words and
// in JSON. Read [Watch] first.
package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// RetryInterval is how long to wait for a coordinator that has gone.
const RetryInterval = time.Second

// viewer shows a sweep.
type viewer interface {
	// show takes the sweep as it stands.
	show(m *foiblev1.Sweep)
	// say takes what else is to be known.
	say(text string)
	// close ends what show began. The sweep has ended, or, if it is nil, the watching has.
	close(m *foiblev1.Sweep)
}

// Options is a sweep to be watched.
type Options struct {
	ID        string
	MayReturn bool // its coordinator, if it goes away
	// before is the number of cells that had results when it was begun; below 0: when the watching begins.
	Before int64
	// foretold is how long it is to take, until the coordinator knows; nil: not known.
	Foretold *Forecast
}

// Watch shows the progress of a sweep until it has ended, and returns it. It waits for a coordinator that goes away
// meanwhile, if that may come back, and for one of several without a word at first.
func Watch(ctx context.Context, term *terminal.Terminal, c *connect.Client, w Options) (*foiblev1.Sweep, error) {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	shown, began := newViewer(ctx, term, c, &w, quit), time.Now()
	first, last, err := followSweep(ctx, c, w.ID, w.MayReturn, shown)
	shown.close(last)
	if err == nil {
		if w.Before < 0 {
			w.Before = first.GetProgress().GetCellsDone()
		}
		term.Say("%s", summary(w.Before, last, time.Since(began)))
		if text := connect.VerifiedText(last); text != "" {
			term.Say("%s", text)
		}
	}
	return last, err
}

// viewer is a screen on a terminal that can redraw lines, and lines elsewhere.
func newViewer(ctx context.Context, term *terminal.Terminal, c *connect.Client, w *Options, quit context.CancelFunc) viewer {
	clock := countdown{foretold: w.Foretold, began: time.Now()}
	if !terminal.Redraws(term.Err) {
		l := newLines(term.Err)
		l.countdown = clock
		return l
	}
	id := w.ID
	s := newScreen(id)
	s.countdown = clock
	s.quit = "q stops; the same command goes on from here"
	if w.MayReturn {
		s.quit = "q quits, the sweep goes on"
		s.change = func(pause bool) error {
			if pause {
				_, err := c.Sweeps.PauseSweep(ctx, &foiblev1.PauseSweepRequest{SweepId: id})
				return c.Explain(err)
			}
			_, err := c.Sweeps.ResumeSweep(ctx, &foiblev1.ResumeSweepRequest{SweepId: id})
			return c.Explain(err)
		}
	}
	return startTerminal(term, s, quit)
}

// follow shows a sweep until it has ended, and returns it as it was at first and is at last; nil with an error.
func followSweep(ctx context.Context, c *connect.Client, id string, mayReturn bool, shown viewer) (first, last *foiblev1.Sweep, err error) {
	var lost time.Time // since when nobody has answered
	said := false
	pause, silence := RetryInterval, time.Duration(0)
	if len(c.Target.Addresses()) > 1 {
		pause, silence = connect.FailoverPause, connect.FailoverTime
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
		case last == nil || !mayReturn || status.Code(err) != codes.Unavailable || c.Refusal() != nil:
			return nil, nil, c.Explain(err)
		case lost.IsZero():
			lost = time.Now()
		}
		if !said && time.Since(lost) >= silence {
			said = true
			if full := (*connect.StalledError)(nil); errors.As(c.Explain(err), &full) {
				shown.say("The coordinator waits: " + full.Reason + ".")
			} else {
				shown.say("The coordinator does not answer; trying until it does.")
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, cli.ErrInterrupted
		}
	}
}

// watch calls back for a sweep now and at its changes, until it has ended.
func watchSweep(ctx context.Context, c *connect.Client, id string, each func(*foiblev1.Sweep)) error {
	stream, err := c.Sweeps.WatchSweep(ctx, &foiblev1.WatchSweepRequest{SweepId: id})
	if err != nil {
		return err
	}
	return connect.Each(stream, func(m *foiblev1.WatchSweepResponse) { each(m.GetSweep()) })
}

// summary says in a line what a sweep came to. before is the number of cells that had results earlier.
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
	foretold *Forecast // nil: nothing
	began    time.Time
}

// eta says when a sweep ends, as a range, or that this is not known yet; "" where nothing goes on.
func (c *countdown) eta(m *foiblev1.Sweep, now time.Time) string {
	p := m.GetProgress()
	switch {
	case m.GetEtaHigh() != nil:
		return "ETA " + spans(m.GetEtaLow().AsDuration(), m.GetEtaHigh().AsDuration())
	case connect.StateText(m) != connect.StateRunning || p.GetWorkers() == 0 || p.GetCellsDone() == p.GetCells():
		return ""
	case c.foretold != nil && now.Sub(c.began).Seconds() < c.foretold.Low:
		left := func(seconds float64) time.Duration {
			return time.Duration(seconds*float64(time.Second)) - now.Sub(c.began)
		}
		return "ETA " + spans(left(c.foretold.Low), left(c.foretold.High)) + " by the pilot"
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
	all := Failed(p)
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

// Failed says how many jobs failed, and how many cells of others; nothing if none.
func Failed(p *foiblev1.Progress) []string {
	var all []string
	if n := p.GetJobsFailed(); n > 0 {
		all = append(all, words.Count(int(n), "job")+" failed")
	}
	if n := p.GetCellsFailed(); n > 0 {
		all = append(all, words.Count(int(n), "cell")+" could not be computed")
	}
	return all
}

// Causes of failures, in words: of cells first.
func Causes(p *foiblev1.Progress) []string {
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

// SayNext says what a sweep that has not ended waits for, if it does.
func SayNext(ctx context.Context, term *terminal.Terminal, c *connect.Client, m *foiblev1.Sweep) {
	switch connect.StateName(m) {
	case connect.StateInPart:
		term.Say("%s tries again what failed.", c.RetryAdvice(m.GetSweepId()))
	case connect.StatePaused:
		term.Say("It is paused; `foible resume%s %s` lets it go on.", c.Flags(), m.GetSweepId())
	case connect.StateRunning:
		sayWorkers(term, c, m)
		if m.GetExtends() == "" {
			return
		}
		if from, err := c.Sweep(ctx, m.GetExtends()); err == nil && (connect.StateName(from) == connect.StateRunning || connect.StateName(from) == connect.StatePaused) {
			term.Say("It begins when %s, which it extends and which is %s, has ended.", m.GetExtends(), connect.StateName(from))
		}
	}
}

// SayHow says which commands are next.
func SayHow(term *terminal.Terminal, c *connect.Client, m *foiblev1.Sweep) {
	term.Say("`foible watch%s %s` follows it, `foible results%[1]s %[2]s` writes its tables and figures.", c.Flags(), m.GetSweepId())
}

// SayRetried says what of a sweep is tried again; nothing if that is nothing.
func SayRetried(term *terminal.Terminal, m *foiblev1.Sweep, r *foiblev1.Retried) {
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
	term.Say("%s %s tried again%s.", strings.Join(what, " and "), is, when)
}
