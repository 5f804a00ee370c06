package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

// JobOptions are what Slurm is asked for a worker. A sweep's directory keeps them as JSON.
type JobOptions struct {
	CPUs int `json:"cpus_per_worker"` // each a slot

	// These are as sbatch takes them; "" is what the site takes by itself.
	Time      string `json:"time,omitempty"`
	Memory    string `json:"mem,omitempty"`
	Partition string `json:"partition,omitempty"`
	Account   string `json:"account,omitempty"`

	Options []string `json:"sbatch_options,omitempty"` // more options of sbatch
}

// ours are the options of sbatch that may not be passed through, since coordinator and workers rest on them.
var ours = []string{
	"--job-name", "-J", "--array", "-a", "--output", "-o", "--error", "-e", "--signal", "--requeue", "--no-requeue", "--open-mode",
	"--parsable", "--wrap", "--wait", "-W", "--ntasks", "-n", "--cpus-per-task", "-c", "--chdir", "-D", "--dependency", "-d", "--test-only",
	"--clusters", "-M", "--kill-on-invalid-dep", "--nodes", "-N",
}

// flagOptions are the flags of Foible that stand for options of sbatch. Two ways to say the same could disagree.
var flagOptions = map[string]string{
	"--time": "--time", "-t": "--time", "--mem": "--mem", "--partition": "--partition", "-p": "--partition", "--account": "--account", "-A": "--account",
}

func (o *JobOptions) validate() error {
	if _, err := serve.Slots("--cpus-per-worker", o.CPUs); err != nil || o.CPUs == 0 {
		return cli.Usagef("--cpus-per-worker %d: must be 1 to %d", o.CPUs, serve.MaxSlots)
	}
	if limit, ok := scheduler.ParseTime(o.Time); ok && limit > 0 && limit < minTime {
		return cli.Usagef("--time %s: a worker needs at least %d minutes: it works until %v before the end", o.Time, int(minTime.Minutes()), noticeTime)
	}
	for _, option := range o.Options {
		name, _, _ := strings.Cut(option, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' {
			name = name[:2] // -J and its value in one
		}
		switch {
		case !strings.HasPrefix(option, "-"):
			return cli.Usagef("--sbatch-option %q: write it as sbatch takes it, e.g. --sbatch-option=--qos=long", option)
		case slices.Contains(ours, name):
			return cli.Usagef("--sbatch-option %q: Foible sets %s itself; leave it out", option, name)
		case flagOptions[name] != "":
			return cli.Usagef("--sbatch-option %q: Foible has a flag for that; say %s", option, flagOptions[name])
		}
	}
	return nil
}

// sbatch are the options for sbatch that the user has chosen; those of a worker, or of a coordinator, which needs little
// memory whatever its workers need.
func (o *JobOptions) sbatch(coordinator bool) []string {
	var options []string
	add := func(name, value string) {
		if value != "" {
			options = append(options, name+"="+value)
		}
	}
	add("--time", o.Time)
	add("--partition", o.Partition)
	add("--account", o.Account)
	if !coordinator {
		add("--mem", o.Memory)
	}
	return append(options, o.Options...)
}

// override changes the options to those of the flags that were given, and says what differs, e.g. "--mem 4G instead of 2G".
func (o *JobOptions) override(with *JobOptions, given func(flag string) bool) (changes []string) {
	changed := func(flag, before, now string) {
		switch {
		case before == now:
		case before == "":
			changes = append(changes, fmt.Sprintf("%s %s", flag, now))
		case now == "":
			changes = append(changes, fmt.Sprintf("no %s instead of %s", flag, before))
		default:
			changes = append(changes, fmt.Sprintf("%s %s instead of %s", flag, now, before))
		}
	}
	if given("cpus-per-worker") {
		changed("--cpus-per-worker", fmt.Sprint(o.CPUs), fmt.Sprint(with.CPUs))
		o.CPUs = with.CPUs
	}
	for _, f := range []struct {
		flag    string
		at, now *string
	}{
		{"time", &o.Time, &with.Time}, {"mem", &o.Memory, &with.Memory}, {"partition", &o.Partition, &with.Partition}, {"account", &o.Account, &with.Account},
	} {
		if given(f.flag) {
			changed("--"+f.flag, *f.at, *f.now)
			*f.at = *f.now
		}
	}
	if given("sbatch-option") {
		changed("--sbatch-option", strings.Join(o.Options, " "), strings.Join(with.Options, " "))
		o.Options = slices.Clone(with.Options)
	}
	return changes
}

// change changes the options for workers to those of the flags that were given, if sbatch would take them, and says what
// differs. The record is not written.
func (r *sweepRecord) change(ctx context.Context, d sweepDir, with *JobOptions, given func(flag string) bool) ([]string, error) {
	changes := r.override(with, given)
	if len(changes) == 0 {
		return nil, nil
	}
	return changes, commands.Check(ctx, d.path(workerScript), sbatchOptions(r, d, false)...)
}

// sbatchOptions are all options of sbatch for a worker or the coordinator.
func sbatchOptions(r *sweepRecord, d sweepDir, coordinator bool) []string {
	options := []string{
		"--ntasks=1", "--requeue", "--open-mode=append", "--chdir=" + string(d),
		// The program is the batch script's process, hence B; SIGTERM is left to preemption and scancel.
		fmt.Sprintf("--signal=B:USR1@%d", int(noticeTime.Seconds())),
	}
	if coordinator {
		options = append(options, "--cpus-per-task=1", "--output="+d.path(logsDir, "coordinator.log"))
	} else {
		options = append(options, fmt.Sprintf("--cpus-per-task=%d", r.CPUs), "--output="+d.path(logsDir, "worker-%A_%a.log"))
	}
	return append(options, r.sbatch(coordinator)...)
}

// outdated are the tasks that were submitted with other options than workers are submitted with now.
func (r *sweepRecord) outdated(d sweepDir, tasks []scheduler.Task) (pending, begun []scheduler.Task) {
	now := sbatchOptions(r, d, false)
	for _, t := range tasks {
		switch j := r.job(t.Name); {
		case j == nil || slices.Equal(j.Options, now):
		case t.Pending():
			pending = append(pending, t)
		default:
			begun = append(begun, t)
		}
	}
	return pending, begun
}

// otherOptions says which options of workers have changed, and what became of the workers with the options before.
type otherOptions struct {
	changes                    []string
	replaced, waiting, running int // workers
}

// say prints it.
func (o *otherOptions) say(term *terminal.Terminal, d sweepDir) {
	if len(o.changes) > 0 {
		term.Say("Workers are submitted with %s from now on.", strings.Join(o.changes, ", "))
	}
	if o.replaced > 0 {
		term.Say("%s that waited with other options: replaced.", words.Count(o.replaced, "worker"))
	}
	if o.waiting > 0 {
		term.Say("%s still waiting with other options, since you may have no more jobs; the same command again replaces them when there is space.", words.Count(o.waiting, "worker"))
	}
	if o.running > 0 {
		term.Say("%s running with the options of before, also after a requeue. To replace them too: foible cluster slurm scale --dir %s 0, and then the number that you want.", words.Count(o.running, "worker"), words.Quoted(string(d)))
	}
}
