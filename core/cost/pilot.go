package cost

import (
	"cmp"
	"context"
	"math"
	"slices"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Pilot computes some cells of a sweep, to estimate what all of it will take; see [Pilot.Run].
type Pilot struct {
	Study  *study.Study
	Plan   *sweep.Plan
	Config *sweep.Config
	// Ready makes a stimulus ready, as a worker does.
	Ready func(stimulus string) (*inference.Stimulus, error)
	// CPU is what this process has used so far, in seconds.
	CPU func() float64
	// Used is the part of the pilot's size that is used up after so much work, in the unit
	// of [inference.Stimulus.Work]; further cells are begun below 1. If it depends on the
	// work only, so does what the pilot runs.
	Used func(work float64) float64
}

// group are cells that share samples, by sizes, of the fit stage.
type group struct {
	exact bool
	sizes [][]int // indexes of parameter sets
	by    map[string]int
}

// count of parameter sets.
func (g *group) count() int {
	n := 0
	for _, sets := range g.sizes {
		n += len(sets)
	}
	return n
}

type run struct {
	*Pilot
	ctx     context.Context
	groups  []*group
	scorer  *score.Scorer
	of      []measured // by stimulus
	cells   int
	work    float64                     // done
	seconds float64                     // that it took
	one     bool                        // stimulus is measured in full
	skipped bool                        // some kinds of cells have not been met
	seen    map[int][]result.Prediction // of some parameter sets, by stimulus
	chosen  [][]result.Prediction       // of the report, [model][stimulus]
	model   []int                       // of a parameter set
	plans   []string                    // of a parameter set; see [inference.Work]
	runs    int                         // behind each of seen
}

// Run measures until the limit, and at least one stimulus. Each stimulus begins
// with the same group, which pays for heuristics.
func (p *Pilot) Run(ctx context.Context) (*Estimate, error) {
	r := &run{Pilot: p, ctx: ctx, of: make([]measured, len(p.Plan.Stimuli)), seen: map[int][]result.Prediction{}}
	var err error
	if r.scorer, err = score.NewScorer(p.Study, sweep.Bootstrap{}, p.Config.Seed); err != nil {
		return nil, err
	}
	if err := r.group(); err != nil {
		return nil, err
	}
	order := r.order()
	costliest := 0.0 // a single one does not keep the others from being seen
	for k, i := range order {
		if k > 0 && r.used(-costliest) >= firstPart {
			break
		}
		if err := r.first(i); err != nil {
			return nil, err
		}
		costliest = max(costliest, r.of[i].began)
	}
	if err := r.some(order); err != nil {
		return nil, err
	}
	scores, err := r.scores()
	if err != nil {
		return nil, err
	}
	return r.estimate(scores)
}

// some measures stimuli in full: first the costliest that is likely to end in time, or the
// cheapest if none is, and then the costliest, whether or not they do.
func (r *run) some(order []int) error {
	left := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return r.of[i].ready == nil })
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(r.of[b].first(), r.of[a].first()) })
	first := slices.IndexFunc(left, func(i int) bool {
		return r.used(float64(timesFirst*len(r.groups))*r.of[i].began) <= fullPart
	})
	if first < 0 {
		first = len(left) - 1
	}
	for len(left) > 0 && (!r.one || !r.over()) {
		if err := r.full(left[first]); err != nil {
			return err
		}
		left, first = slices.Delete(left, first, first+1), 0
	}
	return nil
}

// group sorts the parameter sets.
func (r *run) group() error {
	at := map[string]int{}
	procedure := r.Plan.Procedure(r.Config, sweep.FitStage)
	for m, of := range r.Plan.Models() {
		named, _ := model.ByName(of.Name)
		for i := of.First; i < of.End; i++ {
			samples, sizes, plans, err := inference.Work(&r.Plan.Sets[i], procedure)
			if err != nil {
				return err
			}
			k, ok := at[samples]
			if !ok {
				k = len(r.groups)
				at[samples] = k
				r.groups = append(r.groups, &group{exact: named.Exact, by: map[string]int{}})
			}
			g := r.groups[k]
			s, ok := g.by[sizes]
			if !ok {
				s = len(g.sizes)
				g.by[sizes] = s
				g.sizes = append(g.sizes, nil)
			}
			g.sizes[s] = append(g.sizes[s], i)
			r.model, r.plans = append(r.model, m), append(r.plans, plans)
		}
	}
	r.chosen = make([][]result.Prediction, len(r.Plan.Models()))
	// What most cells are like comes first, but for those of exact models: by that, stimuli are compared.
	slices.SortStableFunc(r.groups, func(a, b *group) int {
		switch {
		case a.exact == b.exact:
			return b.count() - a.count()
		case a.exact:
			return 1
		}
		return -1
	})
	for _, g := range r.groups {
		slices.SortStableFunc(g.sizes, func(a, b []int) int { return len(b) - len(a) })
	}
	if r.Config.Inference.Method == sweep.SIPS {
		r.merge()
	}
	return nil
}

// merge brings neighbours of those together, within a model, where there are too many.
func (r *run) merge() {
	every := (len(r.groups) + mostAlike - 1) / mostAlike
	var merged []*group
	n := 0
	for _, g := range r.groups {
		if last := len(merged) - 1; n%every != 0 && !g.exact && !merged[last].exact && r.model[merged[last].sizes[0][0]] == r.model[g.sizes[0][0]] {
			merged[last].sizes[0] = append(merged[last].sizes[0], g.sizes[0]...)
			n++
			continue
		}
		merged, n = append(merged, g), 1
	}
	r.groups = merged
}

// order is that of stimuli: spread over their sizes at any time.
func (r *run) order() []int {
	bySize := make([]int, len(r.of))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int {
		switch x, y := r.size(a), r.size(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	// The middle one, and then by the golden section.
	var order []int
	left := slices.Clone(bySize)
	for x := 0.5; len(left) > 0; x = math.Mod(x+0.618033988749895, 1) {
		at := min(len(bySize)-1, int(x*float64(len(bySize))))
		near := 0
		for k, i := range left {
			if distance(slices.Index(bySize, i), at) < distance(slices.Index(bySize, left[near]), at) {
				near = k
			}
		}
		order = append(order, left[near])
		left = slices.Delete(left, near, near+1)
	}
	return order
}

func distance(a, b int) int { return max(a-b, b-a) }

// size of a stimulus.
func (r *run) size(i int) float64 { return sizeOf(&r.Plan.Stimuli[i]) }

// used is the part of the pilot's size that so much more work, or less, than has been done uses up.
func (r *run) used(more float64) float64 {
	used := r.Used(r.work)
	if r.work > 0 {
		used += used * more / r.work
	}
	return used
}

// over reports whether no further cells are to be begun.
func (r *run) over() bool { return r.used(0) >= 1 }
