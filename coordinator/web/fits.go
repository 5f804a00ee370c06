package web

import (
	"math"
	"slices"
	"sync"

	foiblev1 "foible/proto/foible/v1"
)

// fit is what the dashboard keeps of a parameter set's fit: a hundred thousand of them take a few megabytes.
type fit struct {
	set       int // index into the sweep's parameter sets
	r         float64
	low, high float64 // none unless low < high
	mcse      float64
	rmse      float64
	n         int
}

// fitTable has the fits of a sweep as they come in. Each chunk is read once.
type fitTable struct {
	mu       sync.Mutex // guards what follows
	size     int        // parameter sets of a chunk
	reading  bool
	read     []bool // by chunk of the fit stage
	fits     []fit
	reported []fit  // of the report; nil until they are there
	interval string // what the intervals are by
	version  int    // grows with each change
}

// fitsNow is a fitTable at a moment. Nothing in it changes.
type fitsNow struct {
	fits     []fit
	reported []fit
	interval string
	version  int
	waiting  bool // more have been scored than have been read
}

// now is what has been read. What has been scored since is read in the background.
func (t *fitTable) now(s *Server, id string, in *Inside) fitsNow {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read == nil {
		t.read, t.size = make([]bool, len(in.Scored)), in.CellsPerJob
	}
	var missing []int
	for chunk, scored := range in.Scored {
		if scored && !t.read[chunk] {
			missing = append(missing, chunk)
		}
	}
	wanted := len(missing) > 0
	if in.Chosen != nil && t.reported == nil {
		missing = append(missing, len(in.Scored))
	}
	if len(missing) > 0 && !t.reading {
		t.reading = true
		s.background.Go(func() { t.fetch(s, id, missing) })
	}
	return fitsNow{slices.Clip(t.fits), t.reported, t.interval, t.version, wanted}
}

// fetch reads chunks; the one after those of the fit stage is the report's.
func (t *fitTable) fetch(s *Server, id string, chunks []int) {
	defer func() {
		t.mu.Lock()
		t.reading = false
		t.mu.Unlock()
	}()
	for _, chunk := range chunks {
		ms, err := s.coordinator.ChunkFits(s.ctx, id, chunk)
		if err != nil {
			if s.ctx.Err() == nil {
				s.log.Error("read fits", "sweep", id, "chunk", chunk, "error", err)
			}
			return
		}
		t.take(chunk, ms)
	}
}

// take adds the fits of a chunk. Those of the report are of the parameter sets chosen, in their order.
func (t *fitTable) take(chunk int, ms []*foiblev1.Fit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if chunk < len(t.read) {
		if t.read[chunk] {
			return
		}
		t.read[chunk] = true
	}
	fits := make([]fit, len(ms))
	for i, m := range ms {
		fits[i] = readFit(m)
		if in := m.GetIntervals(); len(in) > 0 {
			t.interval = in[0].GetUnit()
		}
	}
	if chunk == len(t.read) {
		if len(fits) > 0 {
			t.reported = fits
			t.version++
		}
		return
	}
	t.version++
	for i := range fits {
		fits[i].set = chunk*t.size + i
	}
	t.fits = append(t.fits, fits...)
}

func readFit(m *foiblev1.Fit) fit {
	all := m.GetOverall()
	f := fit{r: math.NaN(), mcse: m.GetMcSe(), rmse: all.GetRmse(), n: int(all.GetN())}
	if all.PearsonR != nil {
		f.r = all.GetPearsonR()
	}
	if in := m.GetIntervals(); len(in) > 0 {
		f.low, f.high = in[0].GetLow(), in[0].GetHigh()
	}
	return f
}
