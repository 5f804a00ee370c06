package active

import (
	"cmp"
	"math"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/ledger"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What users see of a sweep that a coordinator has taken up.

// forecastInterval is how long a forecast stands: who watches asks more often.
const forecastInterval = 500 * time.Millisecond

// maxShownStimuli bounds the stimuli whose progress is shown one by one.
const maxShownStimuli = 200

// forecast is when a sweep will end, as said at a moment.
type forecast struct {
	at        time.Time
	low, high time.Duration
	ok        bool
}

// remaining is how much work is left of a sweep, in seconds of one slot, as found at a moment; +Inf: not known.
type remaining struct {
	at   time.Time
	work float64
}

// remainingWork is found anew as often as forecasts are. The caller holds mu.
func (r *Sweep) remainingWork(now time.Time) float64 {
	if now.Sub(r.remaining.at) >= forecastInterval {
		work, ok := r.eta.Remaining(now)
		if !ok {
			work = math.Inf(1)
		}
		r.remaining = remaining{now, work}
	}
	return r.remaining.work
}

// rivals are those of the running sweeps that are given jobs at the same time as this one.
func (r *Sweep) rivals(now time.Time, runs []*Sweep) []cost.Rival {
	var all []cost.Rival
	weight := r.Weight()
	for _, other := range runs {
		if other == r {
			continue
		}
		jobs := other.Weight() / weight
		other.mu.Lock()
		if other.eta != nil && other.state == store.Running {
			if work := other.remainingWork(now); work > 0 {
				all = append(all, cost.Rival{Jobs: jobs, JobTime: other.eta.JobTime(), Work: work})
			}
		}
		other.mu.Unlock()
	}
	return all
}

// count is the progress. The caller holds mu.
func (r *Sweep) count() *foiblev1.Progress {
	_, _, elsewhere := r.env.Others.Sum(r.ID)
	t := r.tallied
	t.Add(elsewhere.Tally)
	s := r.ledger.Snapshot()
	p := &foiblev1.Progress{
		Cells: int64(s.Cells), CellsDone: int64(s.CellsDone), Jobs: int64(s.Jobs), JobsDone: int64(s.JobsDone),
		JobsFailed: int64(s.JobsFailed), JobsLeased: int64(len(r.leases)) + elsewhere.Leased,
		Duplicates: t.Duplicates, Retries: t.Retries, LeasesLost: t.Lost, Copies: t.Copies, CellsVerified: t.Verified, CellsVerifiedAlone: t.Alone, Failures: s.Reasons,
		CellsFailed: int64(s.CellsFailed), FailedCells: failedCells(s.Causes),
		Stages: parts(s.Stages), Models: parts(s.Models), Best: r.bestFits(s.Best),
	}
	if store.Unended(r.state) {
		p.Troubles = r.troubles.Shown()
	}
	p.WorkerSeconds = t.Seconds
	if earlier := min(r.replayed, p.JobsDone-t.Timed); earlier > 0 && t.Timed > 0 {
		p.WorkerSeconds += t.Seconds / float64(t.Timed) * float64(earlier)
		p.WorkerSecondsEstimated = true
	}
	if len(r.Plan.Stimuli) <= maxShownStimuli {
		p.Stimuli = parts(s.Stimuli)
	}
	if f := r.final; f != nil && p.JobsDone < f.GetJobsDone() { // another coordinator was faster
		p.Cells, p.CellsDone = f.GetCells(), f.GetCellsDone()
		p.JobsDone, p.JobsFailed, p.Failures = f.GetJobsDone(), f.GetJobsFailed(), f.GetFailures()
		p.CellsFailed, p.FailedCells = f.GetCellsFailed(), f.GetFailedCells()
		p.Stages, p.Models, p.Stimuli, p.Best = f.GetStages(), f.GetModels(), f.GetStimuli(), f.GetBest()
	}
	return p
}

func parts(of []sweep.Part) []*foiblev1.PartProgress {
	all := make([]*foiblev1.PartProgress, len(of))
	for i, p := range of {
		all[i] = &foiblev1.PartProgress{
			Name: p.Name, Cells: int64(p.Cells), CellsDone: int64(p.CellsDone), Jobs: int64(p.Jobs), JobsDone: int64(p.JobsDone),
		}
	}
	return all
}

// failedCells are messages of why cells could not be computed.
func failedCells(causes []ledger.Cause) []*foiblev1.FailedCells {
	var ms []*foiblev1.FailedCells
	for _, c := range causes {
		ms = append(ms, &foiblev1.FailedCells{Model: c.Model, Reason: c.Reason, Cells: int64(c.Cells)})
	}
	return ms
}

// bestFits are messages of the best parameter sets: parameters and overall correlation only.
func (r *Sweep) bestFits(best []ledger.Best) []*foiblev1.Fit {
	var fits []*foiblev1.Fit
	for _, b := range best {
		fit := codec.Fit(&result.Fit{Overall: b.Overall})
		fits = append(fits, &foiblev1.Fit{
			ParameterSet: codec.ParameterSet(&r.Plan.Sets[b.Set]), Overall: fit.GetOverall(), Number: int32(b.Set + 1), Incomplete: !b.Complete,
		})
	}
	return fits
}

// Counted is the progress.
func (r *Sweep) Counted() *foiblev1.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count()
}

// Snapshot is the sweep as it stands.
func (r *Sweep) Snapshot() *foiblev1.Sweep {
	workers, slots := r.env.ConnectedAnywhere()
	troubles := append(r.env.Crew.Troubles(), r.env.Others.Aside()...)
	s := proto.CloneOf(r.Spec)
	s.Damage = r.env.Damages.Of(r.ID)
	now, stalled := time.Now(), r.env.Stalled()
	around := r.around(now)
	waits := r.env.Home.WaitsFor(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.State, s.Priority, s.EndTime = r.state, cmp.Or(r.priority, store.DefaultPriority), r.endTime
	s.RetryDue = r.retryDue
	s.Progress = r.count()
	s.Progress.Workers, s.Progress.Slots = int32(workers), int32(slots)
	if r.eta == nil || !store.Unended(r.state) {
		return s
	}
	troubles = append(troubles, s.Progress.GetTroubles()...)
	s.Progress.Troubles = troubles[:min(len(troubles), crew.MaxShown)]
	if stalled != "" {
		s.Stalled = stalled
		return s
	}
	s.Progress.CellsPerSecond = r.eta.Rate(now)
	if r.state == store.Running {
		s.WaitsFor = waits
	}
	if f := r.foresee(now, around); f.ok {
		s.EtaLow, s.EtaHigh = durationpb.New(f.low), durationpb.New(f.high)
	}
	return s
}

// surroundings are what the end of a sweep depends on besides the sweep.
type surroundings struct {
	slots  int // of other coordinators
	rivals []cost.Rival
}

// around is what surrounds the sweep; nil while its last forecast stands.
func (r *Sweep) around(now time.Time) *surroundings {
	r.mu.Lock()
	stands := now.Sub(r.forecast.at) < forecastInterval
	r.mu.Unlock()
	if stands {
		return nil
	}
	return &surroundings{r.env.slotsElsewhere(), r.rivals(now, r.env.Home.Running())}
}

// foresee says when the sweep will end. The caller holds mu.
func (r *Sweep) foresee(now time.Time, around *surroundings) forecast {
	if around != nil {
		r.eta.Elsewhere(now, around.slots)
		r.eta.Compete(now, around.rivals)
		f := forecast{at: now}
		f.low, f.high, f.ok = r.eta.Range(now)
		r.forecast = f
	}
	return r.forecast
}

// Measured is what the metrics say of a sweep.
type Measured struct {
	Cells, CellsDone, CellsFailed, Jobs, JobsDone, JobsFailed int
	Leased                                                    int           // jobs that workers of this coordinator have
	Queued                                                    int           // jobs that can be done, have no result, and are with no worker of this coordinator
	Low, High                                                 time.Duration // the sweep ends in such a time
	Foreseen                                                  bool          // else Low and High are not known
}

// Measure is what the metrics say of the sweep.
func (r *Sweep) Measure() Measured {
	now := time.Now()
	around := r.around(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	f, counts := r.foresee(now, around), r.ledger.Counts()
	return Measured{
		Cells: r.Plan.Cells(), CellsDone: r.ledger.CellsDone(), CellsFailed: counts.CellsFailed,
		Jobs: r.Plan.Jobs(), JobsDone: r.ledger.JobsDone(), JobsFailed: counts.JobsFailed,
		Leased: len(r.leases), Queued: max(0, r.ledger.Waiting()-len(r.leases)),
		Low: f.low, High: f.high, Foreseen: f.ok,
	}
}

// Compete tells the sweep of the others that run.
func (r *Sweep) Compete(now time.Time, runs []*Sweep) {
	rivals := r.rivals(now, runs)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.eta != nil {
		r.eta.Compete(time.Now(), rivals)
	}
}
