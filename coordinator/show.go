package coordinator

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"foible/core/sweep"
	foiblev1 "foible/proto/foible/v1"
)

// What users see of a sweep that a coordinator has taken up.

// forecastInterval is how long a forecast stands: who watches asks more often.
const forecastInterval = 500 * time.Millisecond

// maxShownStimuli bounds the stimuli of which the progress is shown one by one.
const maxShownStimuli = 200

// forecast is when a sweep will end, as said at a moment.
type forecast struct {
	at        time.Time
	low, high time.Duration
	ok        bool
}

// count is the progress. The caller holds mu.
func (r *sweepRun) count() *foiblev1.Progress {
	_, _, elsewhere := r.c.others.sum(r.id)
	t := r.tallied
	t.add(elsewhere.tally)
	p := &foiblev1.Progress{
		Cells: int64(r.plan.Cells()), CellsDone: int64(r.progress.CellsDone()),
		Jobs: int64(r.plan.Jobs()), JobsDone: int64(r.progress.JobsDone()),
		JobsFailed: int64(r.failures), JobsLeased: int64(len(r.leases)) + elsewhere.Leased,
		Duplicates: t.Duplicates, Retries: t.Retries, LeasesLost: t.Lost, Failures: slices.Clone(r.reasons),
		Stages: parts(r.progress.Stages()), Models: parts(r.progress.Models()), Best: r.bestFits(),
	}
	p.WorkerSeconds = t.Seconds
	if earlier := min(r.replayed, p.JobsDone-t.Timed); earlier > 0 && t.Timed > 0 {
		p.WorkerSeconds += t.Seconds / float64(t.Timed) * float64(earlier)
		p.WorkerSecondsEstimated = true
	}
	if len(r.plan.Stimuli) <= maxShownStimuli {
		p.Stimuli = parts(r.progress.Stimuli())
	}
	if f := r.final; f != nil && p.JobsDone < f.GetJobsDone() { // another coordinator was faster
		p.Cells, p.CellsDone = f.GetCells(), f.GetCellsDone()
		p.JobsDone, p.JobsFailed, p.Failures = f.GetJobsDone(), f.GetJobsFailed(), f.GetFailures()
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

// bestFit is a model's fit of the highest r in its last round so far: parameters and overall alone.
type bestFit struct {
	fit   *foiblev1.Fit
	round int
	set   int // index in the plan
}

// compare keeps of each model the fit of the highest r in the last round, the first of equals in the plan. The caller
// holds mu, or alone has r.
func (r *sweepRun) compare(job *sweep.Job, fits []*foiblev1.Fit) {
	for i, fit := range fits {
		if fit.GetOverall().PearsonR == nil {
			continue
		}
		model, set := fit.GetParameterSet().GetModel(), job.Index(i)
		best, ok := r.best[model]
		by := cmp.Or(
			cmp.Compare(job.Round, best.round),
			cmp.Compare(fit.GetOverall().GetPearsonR(), best.fit.GetOverall().GetPearsonR()),
			cmp.Compare(best.set, set),
		)
		if !ok || by > 0 {
			r.best[model] = bestFit{&foiblev1.Fit{ParameterSet: fit.GetParameterSet(), Overall: fit.GetOverall()}, job.Round, set}
		}
	}
}

// bestFits are those of the models that have one, in the plan's order. The caller holds mu.
func (r *sweepRun) bestFits() []*foiblev1.Fit {
	var fits []*foiblev1.Fit
	for _, m := range r.plan.Models() {
		if best, ok := r.best[m.Name]; ok {
			fits = append(fits, best.fit)
		}
	}
	return fits
}

// counted is the progress.
func (r *sweepRun) counted() *foiblev1.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count()
}

// snapshot is the sweep as it stands.
func (r *sweepRun) snapshot() *foiblev1.Sweep {
	workers, slots := r.c.connectedAnywhere()
	s := proto.CloneOf(r.spec)
	now, elsewhere, stalled := time.Now(), r.c.slotsElsewhere(), r.c.stalled()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.State, s.Priority, s.EndTime = r.state, cmp.Or(r.priority, DefaultPriority), r.endTime
	s.Progress = r.count()
	s.Progress.Workers, s.Progress.Slots = int32(workers), int32(slots)
	if r.eta == nil || !unended(r.state) {
		return s
	}
	if stalled != "" {
		s.Stalled = stalled
		return s
	}
	s.Progress.CellsPerSecond = r.eta.Rate(now)
	if f := r.foresee(now, elsewhere); f.ok {
		s.EtaLow, s.EtaHigh = durationpb.New(f.low), durationpb.New(f.high)
	}
	return s
}

// foresee says when the sweep will end. The caller holds mu.
func (r *sweepRun) foresee(now time.Time, elsewhere int) forecast {
	if now.Sub(r.forecast.at) >= forecastInterval {
		r.eta.Elsewhere(now, elsewhere)
		f := forecast{at: now}
		f.low, f.high, f.ok = r.eta.Range(now)
		r.forecast = f
	}
	return r.forecast
}

// measure is what the metrics say of the sweep: the sweepGauges, and when it will end.
func (r *sweepRun) measure() (values []float64, f forecast) {
	now, elsewhere := time.Now(), r.c.slotsElsewhere()
	r.mu.Lock()
	defer r.mu.Unlock()
	values = make([]float64, len(sweepGauges))
	for i, g := range sweepGauges {
		values[i] = g.value(r)
	}
	return values, r.foresee(now, elsewhere)
}
