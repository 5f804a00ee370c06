package views

import (
	"math"
	"slices"
	"sync"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// fit is what the dashboard keeps of a parameter set's fit: a hundred thousand of them take a few megabytes.
type fit struct {
	set       int // index into the sweep's parameter sets
	r         float64
	low, high float64 // none unless low < high
	mcse      float64 // NaN where it is not known
	rmse      float64
	n         int
	complete  bool // it has a posterior at every point
	rival     bool // it is compared with the best of its model, see [sweep.Standing.Rival]
}

// FitTable has the fits of a sweep as they come in. Each chunk is read once.
type FitTable struct {
	mu       sync.Mutex // guards what follows
	reading  bool
	read     map[sweep.Chunk]bool
	fits     []fit       // those by which parameter sets rank
	at       map[int]int // places in fits, by parameter set
	reported map[int]fit // of the report, by parameter set
	standing *sweep.Standing
	interval string // what the intervals are by
	version  int    // grows with each change
	shown    Fits
}

// Fits is a FitTable at a moment. Nothing in it changes.
type Fits struct {
	fits     []fit
	best     []fit       // of each model that has one, in the order of [model.Models]
	reported map[int]fit // by parameter set
	points   int         // that a complete parameter set has
	interval string
	version  int
	waiting  bool // more have been scored than have been read
}

// NewFitTable is an empty one.
func NewFitTable(in *Inside) *FitTable {
	points := 0
	for i := range in.Stimuli {
		points += in.Stimuli[i].Points
	}
	return &FitTable{read: map[sweep.Chunk]bool{}, at: map[int]int{}, reported: map[int]fit{}, standing: sweep.NewStanding(points)}
}

// Now is what has been read. missing are chunks that have been scored since, for the caller to
// read: each is to be given to Take, and Read is to be called at the end. While a caller reads,
// there are none for others.
func (t *FitTable) Now(in *Inside) (now Fits, missing []sweep.Chunk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, chunk := range in.Scored {
		if !t.read[chunk] {
			missing = append(missing, chunk)
		}
	}
	if t.shown.version != t.version {
		t.shown = t.snapshot(in.Sets)
	}
	now = t.shown
	now.waiting = len(missing) > 0
	if t.reading {
		return now, nil
	}
	t.reading = now.waiting
	return now, missing
}

// snapshot is what has been read of parameter sets. The caller holds mu.
func (t *FitTable) snapshot(sets []model.ParameterSet) Fits {
	now := Fits{fits: slices.Clone(t.fits), reported: map[int]fit{}, points: t.standing.Points(), interval: t.interval, version: t.version}
	best := map[string]int{}
	for _, m := range model.Models {
		if set, ok := t.standing.Best(m.Name); ok {
			best[m.Name] = set
		}
	}
	for i := range now.fits {
		f := &now.fits[i]
		place, _ := t.standing.Place(f.set)
		f.complete = place.Complete
		of, ok := best[sets[f.set].Model]
		f.rival = ok && t.standing.Rival(f.set, of)
	}
	for _, m := range model.Models {
		if set, ok := best[m.Name]; ok {
			now.best = append(now.best, now.fits[t.at[set]])
		}
	}
	for set, f := range t.reported {
		place, _ := t.standing.Reported(set)
		f.complete = place.Complete
		now.reported[set] = f
	}
	return now
}

// Read says that a caller has read what Now gave it, or as much as it could.
func (t *FitTable) Read() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading = false
}

// Take adds the fits of a chunk, which its score job has come to.
func (t *FitTable) Take(job *sweep.Job, chunk sweep.Chunk, fits []result.Fit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read[chunk] {
		return
	}
	t.read[chunk] = true
	t.version++
	t.standing.AddJob(job, fits)
	for i := range fits {
		f := newFit(job.Index(i), &fits[i])
		if len(fits[i].Intervals) > 0 {
			t.interval = fits[i].Intervals[0].Unit
		}
		if job.Stage == sweep.ReportStage {
			t.reported[f.set] = f
			continue
		}
		if place, _ := t.standing.Place(f.set); place.Round != job.Round {
			continue // another fit of it stands
		}
		if at, ok := t.at[f.set]; ok {
			t.fits[at] = f
			continue
		}
		t.at[f.set] = len(t.fits)
		t.fits = append(t.fits, f)
	}
}

func newFit(set int, of *result.Fit) fit {
	f := fit{set: set, r: math.NaN(), mcse: of.MCSE, rmse: of.Overall.RMSE, n: of.Overall.N}
	if of.Overall.Defined {
		f.r = of.Overall.PearsonR
	}
	if of.MCSEUnknown {
		f.mcse = math.NaN()
	}
	if len(of.Intervals) > 0 {
		f.low, f.high = of.Intervals[0].Low, of.Intervals[0].High
	}
	return f
}
