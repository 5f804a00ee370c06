package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	foiblev1 "foible.dev/foible/proto/foible/v1"

	"foible.dev/foible/core/words"
)

// List prints all sweeps of a coordinator; in JSON, if asked.
func List(ctx context.Context, term *Terminal, t Target, asJSON bool) error {
	c, err := dialWarning(term, t)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return c.explain(err)
	}
	if asJSON {
		list := make([]sweepJSON, len(all.GetSweeps()))
		for i, m := range all.GetSweeps() {
			list[i] = newSweepJSON(m)
		}
		return term.printJSON(list)
	}
	if len(all.GetSweeps()) == 0 {
		term.say("The coordinator has no sweeps yet; make one with `foible submit%s STUDY`.", c.flags())
		return nil
	}
	printSweeps(term, all.GetSweeps())
	return nil
}

// printSweeps prints a line for each sweep, and below the table what keeps some from going on.
func printSweeps(term *Terminal, all []*foiblev1.Sweep) {
	table := newTable("Sweep", "State", "Done", "Priority", "Made")
	for _, m := range all {
		table.add(m.GetSweepId(), stateText(m), cells(m), words.Thousands(m.GetPriority()), madeAt(m))
	}
	term.table(table)
	if i := slices.IndexFunc(all, func(m *foiblev1.Sweep) bool { return m.GetStalled() != "" }); i >= 0 {
		term.print("Sweeps are %s: %s.", stateStalled, all[i].GetStalled())
	}
	for _, m := range all {
		if m.GetDamage() != "" {
			term.print("%s is damaged: %s.", m.GetSweepId(), m.GetDamage())
		}
	}
}

// madeAt is when a sweep was made; of one whose record is lost, that is not known.
func madeAt(m *foiblev1.Sweep) string {
	if m.GetCreateTime() == nil {
		return "unknown"
	}
	return m.GetCreateTime().AsTime().Local().Format(time.DateTime)
}

func (term *Terminal) printJSON(v any) error {
	out := json.NewEncoder(term.Out)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// EndedError says that a sweep which was watched did not succeed.
type EndedError struct {
	Cancelled bool // else some of it failed
	Message   string
}

func (e *EndedError) Error() string { return e.Message }

// WatchOptions say which sweep to watch.
type WatchOptions struct {
	Coordinator Target
	Sweep       string // its id
	Notify      Notify
}

// Watch shows the progress of a sweep until it ends, also over a coordinator that is started again. The error is an
// EndedError if it has not succeeded.
func Watch(ctx context.Context, term *Terminal, o WatchOptions) error {
	if err := o.Notify.check(); err != nil {
		return err
	}
	id := o.Sweep
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	m, err := c.sweep(ctx, id)
	if err != nil {
		return err
	}
	sayNext(ctx, term, c, m)
	if m, err = watch(ctx, term, c, watched{id: id, mayReturn: true, before: -1}); err != nil {
		if errors.Is(err, ErrInterrupted) {
			term.say("The sweep goes on; `foible watch%s %s` watches it again.", c.flags(), id)
		}
		return err
	}
	notify(ctx, term, o.Notify, c, m)
	results := fmt.Sprintf("`foible results%s %s", c.flags(), id)
	if m.GetDamage() != "" {
		return &EndedError{Message: fmt.Sprintf("the sweep is damaged: %s", m.GetDamage())}
	}
	switch m.GetState() {
	case foiblev1.SweepState_SWEEP_STATE_SUCCEEDED:
		term.say("The sweep has succeeded; %s` writes its tables and figures.", results)
		return nil
	case foiblev1.SweepState_SWEEP_STATE_FAILED:
		return &EndedError{Message: fmt.Sprintf("%s; %s` writes what there is, and why, and %s tries again what failed", strings.Join(failed(m.GetProgress()), ", "), results, c.retryAdvice(id))}
	case foiblev1.SweepState_SWEEP_STATE_CANCELLED:
		return &EndedError{Cancelled: true, Message: fmt.Sprintf("the sweep was cancelled with %s done; %s --partial` writes what there is", cells(m), results)}
	}
	return fmt.Errorf("version %s left the sweep unfinished; submit it again", m.GetVersion())
}

// Pause lets a sweep give out no more jobs.
func Pause(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.PauseSweep(ctx, &foiblev1.PauseSweepRequest{SweepId: id})
	})
}

// Resume lets a paused sweep go on.
func Resume(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.ResumeSweep(ctx, &foiblev1.ResumeSweepRequest{SweepId: id})
	})
}

// Cancel ends a sweep before it is done.
func Cancel(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.CancelSweep(ctx, &foiblev1.CancelSweepRequest{SweepId: id})
	})
}

// MaxPriority is the highest priority of a sweep; the lowest is 1.
const MaxPriority = 1000

// SetPriority changes a sweep's share of the workers.
func SetPriority(ctx context.Context, term *Terminal, t Target, id, priority string) error {
	n, err := strconv.Atoi(priority)
	if err != nil || n < 1 || n > MaxPriority {
		return usagef("priority %q: must be a whole number from 1 to %d", priority, MaxPriority)
	}
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.SetSweepPriority(ctx, &foiblev1.SetSweepPriorityRequest{SweepId: id, Priority: int32(n)})
	})
}

// swept is a response with the sweep as it stands.
type swept interface{ GetSweep() *foiblev1.Sweep }

// control changes a sweep, and prints how it stands.
func control(ctx context.Context, term *Terminal, t Target, id string, call func(*client) (swept, error)) error {
	c, err := dialWarning(term, t)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	response, err := call(c)
	if err != nil {
		return c.explainSweep(ctx, id, err)
	}
	printSweep(term, response.GetSweep())
	sayNext(ctx, term, c, response.GetSweep())
	return nil
}

// ExtendOptions say which sweep to extend, by which values.
type ExtendOptions struct {
	Coordinator Target
	Sweep       string   // its id
	Set         []string // axis=value[,value...] for every model of the sweep that has the axis
}

// Extend makes a sweep of a larger grid, and prints its id.
func Extend(ctx context.Context, term *Terminal, o ExtendOptions) error {
	if len(o.Set) == 0 {
		return usagef("say which values to add with --set axis=value,value")
	}
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	from, err := c.sweep(ctx, o.Sweep)
	if err != nil {
		return err
	}
	added := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{}}
	for name := range from.GetConfig().GetModels() {
		added.Models[name] = &foiblev1.ModelConfig{}
	}
	if err := setAll(added, o.Set); err != nil {
		return err
	}
	for name, model := range added.GetModels() {
		if proto.Size(model) == 0 {
			delete(added.Models, name)
		}
	}
	made, err := c.sweeps.ExtendSweep(ctx, &foiblev1.ExtendSweepRequest{SweepId: o.Sweep, Models: added.GetModels()})
	if err != nil {
		return c.explainSweep(ctx, o.Sweep, err)
	}
	m := made.GetSweep()
	if made.GetExisted() {
		term.say("This sweep is there already, %s, with %s done.", stateName(m), cells(m))
	} else if before, _, err := planOf(from); err == nil {
		term.say("It has %s more than %s, whose cells are kept.", words.Count(int(m.GetProgress().GetCells())-before.Cells(), "cell"), o.Sweep)
	}
	fmt.Fprintln(term.Out, m.GetSweepId())
	sayNext(ctx, term, c, m)
	sayHow(term, c, m)
	return nil
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

// explainSweep makes an error of a call about a sweep readable.
func (c *client) explainSweep(ctx context.Context, id string, err error) error {
	if status.Code(err) == codes.NotFound {
		return c.noSweep(ctx, id)
	}
	return c.explain(err)
}
