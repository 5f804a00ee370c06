// Package limits bounds how much memory, disk and time of a coordinator its users and workers can use. [Limits.Table] is the
// one list of all limits: flags, documentation and checks are made from it.
package limits

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/files"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Bounds of a gRPC message in bytes.
const (
	MaxRequestBytes  = 8 << 20  // of a request: the result of a job is a little smaller at most
	MaxResponseBytes = 64 << 20 // of a response
)

// Limits are bounds of a coordinator. [Limits.Table] says what each is for. Start from Default.
type Limits struct {
	// Access bounds connections and calls.
	Access access.Limits
	// Web bounds what browsers can use up.
	Web web.Limits

	StudyBytes    int64
	StudyFiles    int
	TransferBytes int64
	TransferTime  time.Duration

	SweepBytes    int64
	SweepSettings int
	SweepStimuli  int
	SweepCells    int
	SweepJobs     int

	Sweeps       int
	Settings     int
	Jobs         int
	StoredSweeps int
	Watchers     int
}

// Default limits suit a lab: a thousand workers, some dozens of users, and sweeps of a million jobs.
func Default() Limits {
	study := files.StudyLimits()
	return Limits{
		Access: access.DefaultLimits(), Web: web.DefaultLimits(),
		StudyBytes: study.TotalBytes, StudyFiles: study.Files, TransferBytes: 256 << 20, TransferTime: 10 * time.Minute,
		SweepBytes: 1 << 20, SweepSettings: 500_000, SweepStimuli: 10_000, SweepCells: 50_000_000, SweepJobs: 2_000_000,
		Sweeps: 250, Settings: 2_000_000, Jobs: 4_000_000, StoredSweeps: 10_000, Watchers: 500,
	}
}

// Row is one row of the table of limits: what a flag of `foible coordinator` sets.
type Row struct {
	Flag    string // its name
	Meaning string // its help; the word in backquotes stands for the value
	Value   Value
}

// Value reads and writes a limit as text.
type Value interface {
	String() string
	Set(text string) error
	Type() string
	// Positive says whether the limit lets anything through.
	Positive() bool
}

// Table lists all limits, in the order of the documentation. Setting a value changes l.
func (l *Limits) Table() []Row {
	a, w := &l.Access, &l.Web
	return []Row{
		{"max-study-bytes", "`size` of a study's bundle, at most " + words.Bytes(files.StudyLimits().TotalBytes), (*byteValue)(&l.StudyBytes)},
		{"max-study-files", "`number` of files of a study", (*countValue)(&l.StudyFiles)},
		{"max-transfer-bytes", "`size` of all studies that are being sent or fetched, which are in memory for that time", (*byteValue)(&l.TransferBytes)},
		{"max-transfer-time", "`time` that sending or fetching a study may take", (*timeValue)(&l.TransferTime)},
		{"max-sweep-bytes", "`size` of the message that asks for a sweep", (*byteValue)(&l.SweepBytes)},
		{"max-sweep-settings", "`number` of parameter sets of a sweep", (*countValue)(&l.SweepSettings)},
		{"max-sweep-stimuli", "`number` of stimuli of a sweep", (*countValue)(&l.SweepStimuli)},
		{"max-sweep-cells", "`number` of cells of a sweep", (*countValue)(&l.SweepCells)},
		{"max-sweep-jobs", "`number` of jobs of a sweep", (*countValue)(&l.SweepJobs)},
		{"max-sweeps", "`number` of sweeps that have not ended", (*countValue)(&l.Sweeps)},
		{"max-settings", "`number` of parameter sets of all sweeps that have not ended", (*countValue)(&l.Settings)},
		{"max-jobs", "`number` of jobs of all sweeps that have not ended", (*countValue)(&l.Jobs)},
		{"max-stored-sweeps", "`number` of sweeps in the data directory, ended ones included", (*countValue)(&l.StoredSweeps)},
		{"max-watchers", "`number` of calls that watch sweeps at once", (*countValue)(&l.Watchers)},

		{"max-handshake-time", "`time` that a connection may take to show a token", (*timeValue)(&a.Handshake)},
		{"max-strangers", "`number` of connections that have shown no token yet; one more takes the place of the oldest of the address that has most", (*countValue)(&a.Strangers)},
		{"max-stranger-calls", "`number` of calls that a connection may begin before it has shown a token", (*countValue)(&a.StrangerCalls)},
		{"max-connections", "`number` of connections that have shown a token", (*countValue)(&a.Connections)},
		{"max-connections-per-token", "`number` of connections with one token", (*countValue)(&a.ConnectionsPerToken)},
		{"max-streams-per-connection", "`number` of calls that a connection has at once; more wait at the caller", (*countValue)(&a.StreamsPerConnection)},
		{"max-refusals-per-connection", "`number` of refused calls after which a connection is closed", (*countValue)(&a.Refusals)},
		{"max-calls", "`number` of users' calls at once, without streams; each may hold a message of " + words.Bytes(MaxRequestBytes), (*countValue)(&a.Calls)},
		{"max-calls-per-address", "`number` of such calls from one address", (*countValue)(&a.CallsPerHost)},
		{"max-streams", "`number` of users' streams at once, such as those of watch and results", (*countValue)(&a.Streams)},
		{"max-streams-per-address", "`number` of such streams from one address", (*countValue)(&a.StreamsPerHost)},
		{"user-calls", "`calls a second` of users on one connection; after a pause, ten times as many at once, as with all rates", (*rateValue)(&a.UserCalls.Connection)},
		{"user-calls-per-address", "`calls a second` of users from one address with one token", (*rateValue)(&a.UserCalls.Host)},
		{"user-calls-per-token", "`calls a second` of users with one token", (*rateValue)(&a.UserCalls.Token)},
		{"worker-calls", "`calls a second` of a worker's connection", (*rateValue)(&a.WorkerCalls.Connection)},
		{"worker-calls-per-address", "`calls a second` of workers from one address with one token", (*rateValue)(&a.WorkerCalls.Host)},
		{"worker-calls-per-token", "`calls a second` of workers with one token", (*rateValue)(&a.WorkerCalls.Token)},

		{"web-max-connections", "`number` of connections of browsers", (*countValue)(&w.Connections)},
		{"web-max-pages", "`number` of open pages that are kept up to date", (*countValue)(&w.Streams)},
		{"web-max-studies", "`size` of the bundles of all studies that the dashboard keeps open", (*byteValue)(&w.StudyBytes)},
		{"web-logins", "`refusals a second` of tokens from one address, after which no reason is given; the right token always lets in", (*rateValue)(&w.Logins)},
	}
}

// Validate says what is wrong with limits.
func (l *Limits) Validate() error {
	var errs []error
	for _, row := range l.Table() {
		if !row.Value.Positive() {
			errs = append(errs, fmt.Errorf("--%s %v: must be more than 0", row.Flag, row.Value))
		}
	}
	if most := files.StudyLimits().TotalBytes; l.StudyBytes > most {
		errs = append(errs, fmt.Errorf("--max-study-bytes %s: must be at most %s, which is what workers open", words.Bytes(l.StudyBytes), words.Bytes(most)))
	}
	if l.TransferBytes < l.StudyBytes {
		errs = append(errs, fmt.Errorf("--max-transfer-bytes %s: must be at least --max-study-bytes, %s", words.Bytes(l.TransferBytes), words.Bytes(l.StudyBytes)))
	}
	if l.SweepBytes > MaxRequestBytes {
		errs = append(errs, fmt.Errorf("--max-sweep-bytes %s: must be at most %s", words.Bytes(l.SweepBytes), words.Bytes(MaxRequestBytes)))
	}
	return errors.Join(errs...)
}

// Study returns the limits of the bundle of a study.
func (l *Limits) Study() files.Limits {
	return files.Limits{FileBytes: l.StudyBytes, TotalBytes: l.StudyBytes, Files: l.StudyFiles}
}

// Beyond refuses what exceeds a limit.
func Beyond(flag string, n, most int, what string) error {
	return fmt.Errorf("%w: %s %s, and the limit is %s (--%s of the coordinator)", service.ErrExhausted, words.Thousands(n), what, words.Thousands(most), flag)
}

// CheckSweep says which limit the specification of a sweep exceeds. It takes no time however much the sweep asks for.
func (l *Limits) CheckSweep(spec *foiblev1.Sweep) error {
	if n := proto.Size(spec); int64(n) > l.SweepBytes {
		return fmt.Errorf("%w: its configuration and stimuli have %s, and the limit is %s (--max-sweep-bytes of the coordinator)",
			service.ErrTooLarge, words.Bytes(n), words.Bytes(l.SweepBytes))
	}
	stimuli, settings := len(spec.GetStimuli()), codec.MostSettings(spec.GetConfig())
	switch cells := float64(stimuli) * float64(settings); {
	case stimuli > l.SweepStimuli:
		return Beyond("max-sweep-stimuli", stimuli, l.SweepStimuli, "stimuli in a sweep")
	case settings > l.SweepSettings:
		return Beyond("max-sweep-settings", settings, l.SweepSettings, "parameter sets in a sweep")
	case cells > float64(l.SweepCells):
		return Beyond("max-sweep-cells", int(cells), l.SweepCells, "cells in a sweep")
	}
	return nil
}

// CheckUnended says which limit the plans of the sweeps that have not ended exceed together.
func (l *Limits) CheckUnended(plans []*sweep.Plan) error {
	settings, jobs := 0, 0
	for _, p := range plans {
		settings, jobs = settings+len(p.Sets), jobs+p.Jobs()
	}
	switch {
	case len(plans) > l.Sweeps:
		return Beyond("max-sweeps", len(plans), l.Sweeps, "sweeps that have not ended")
	case settings > l.Settings:
		return Beyond("max-settings", settings, l.Settings, "parameter sets in sweeps that have not ended")
	case jobs > l.Jobs:
		return Beyond("max-jobs", jobs, l.Jobs, "jobs in sweeps that have not ended")
	}
	return nil
}

type countValue int

func (v *countValue) String() string { return strconv.Itoa(int(*v)) }
func (v *countValue) Type() string   { return "int" }
func (v *countValue) Positive() bool { return *v > 0 }
func (v *countValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	*v = countValue(n)
	return err
}

type byteValue int64

func (v *byteValue) String() string { return words.Bytes(int64(*v)) }
func (v *byteValue) Type() string   { return "size" }
func (v *byteValue) Positive() bool { return *v > 0 }
func (v *byteValue) Set(text string) error {
	n, err := words.ParseBytes(text)
	*v = byteValue(n)
	return err
}

type timeValue time.Duration

func (v *timeValue) String() string { return time.Duration(*v).String() }
func (v *timeValue) Type() string   { return "duration" }
func (v *timeValue) Positive() bool { return *v > 0 }
func (v *timeValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	*v = timeValue(d)
	return err
}

// rateValue is a rate and a burst ten times as large.
type rateValue access.Rate

func (v *rateValue) String() string { return strconv.FormatFloat(float64(v.PerSecond), 'g', -1, 64) }
func (v *rateValue) Type() string   { return "float64" }
func (v *rateValue) Positive() bool { return v.PerSecond > 0 && v.Burst > 0 }
func (v *rateValue) Set(text string) error {
	perSecond, err := strconv.ParseFloat(text, 64)
	if err == nil && !(perSecond > 0 && perSecond <= 1e6) {
		err = errors.New("must be above 0 and at most a million")
	}
	*v = rateValue(access.PerSecond(rate.Limit(perSecond)))
	return err
}
