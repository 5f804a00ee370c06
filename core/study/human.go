package study

import (
	"fmt"
	"math"
	"slices"
)

// readHuman fills in the judgements of the stimuli.
func (r *reader) readHuman(stimuli []*draft) {
	if r.src.Responses == "" && r.src.Means == "" {
		r.warnf(r.src.where("responses"), "", "neither responses nor means: models cannot be compared with people")
	}
	responses := r.readResponses(stimuli)
	means := r.readMeans(stimuli)
	for i, d := range stimuli {
		d.Human = Judgements{Mean: make([][]float64, len(d.JudgementSteps)), N: make([]int, len(d.JudgementSteps))}
		switch {
		case responses != nil:
			d.Human.fill(responses.answers[i])
			r.unanswered(d, responses, i)
			if means != nil {
				r.compare(d, responses.answers[i], means.answers[i], means.decimals)
			}
		case means != nil:
			for _, vectors := range means.answers[i].vectors {
				for j, v := range vectors {
					d.Human.Mean[j] = v.values
				}
			}
			r.unanswered(d, means, i)
		}
	}
}

// readResponses is nil if there are none.
func (r *reader) readResponses(stimuli []*draft) *rowReader {
	if r.src.Responses == "" {
		return nil
	}
	t := r.table("responses", r.src.Responses, responsesColumns)
	if t == nil {
		return nil
	}
	if !t.has("probability") && len(t.other) > 0 {
		r.errorf(t.head, "", "no column %s, and %s is not known; if the rows are chosen goals, leave that column out",
			quote("probability"), quote(t.other[0]))
		return nil
	}
	r.ignored(t)
	q := r.readRows(t, stimuli)
	q.normalize()
	return q
}

// readMeans is nil if there are none.
func (r *reader) readMeans(stimuli []*draft) *rowReader {
	if r.src.Means == "" {
		return nil
	}
	t := r.table("means", r.src.Means, meansColumns)
	if t == nil {
		return nil
	}
	r.ignored(t)
	q := r.readRows(t, stimuli)
	q.normalize()
	return q
}

// fill computes the judgements from participants.
func (h *Judgements) fill(a answers) {
	h.Participants = a.participants
	h.SE = make([][]float64, len(h.N))
	h.Responses = make([][][]float64, len(a.vectors))
	for p, vectors := range a.vectors {
		h.Responses[p] = make([][]float64, len(vectors))
		for j, v := range vectors {
			h.Responses[p][j] = v.values
			if v.values != nil {
				h.N[j]++
			}
		}
	}
	for j := range h.N {
		h.Mean[j], h.SE[j] = meanSE(h.Responses, j)
	}
}

// meanSE is the mean over the participants that answered at j, nil if none
// did, and its standard error, nil if fewer than two did.
func meanSE(responses [][][]float64, j int) (mean, se []float64) {
	n := 0
	for _, answer := range responses {
		if answer[j] == nil {
			continue
		}
		if n == 0 {
			mean = make([]float64, len(answer[j]))
		}
		n++
		for g, p := range answer[j] {
			mean[g] += p
		}
	}
	for g := range mean {
		mean[g] /= float64(n)
	}
	if n < 2 {
		return mean, nil
	}
	se = make([]float64, len(mean))
	for _, answer := range responses {
		for g := range answer[j] {
			deviation := answer[j][g] - mean[g]
			se[g] += float64(deviation * deviation)
		}
	}
	for g := range se {
		se[g] = math.Sqrt(se[g] / float64(n-1) / float64(n))
	}
	return mean, se
}

// unanswered warns of judgement steps that nobody judged, unless errors in the
// file may be why.
func (r *reader) unanswered(d *draft, q *rowReader, i int) {
	if r.failed(q.file) {
		return
	}
	var none []int
	for j, k := range d.JudgementSteps {
		if !slices.ContainsFunc(q.answers[i].vectors, func(v []vector) bool { return !v[j].pos.IsZero() }) {
			none = append(none, k)
		}
	}
	switch {
	case len(none) == 0:
	case len(none) == len(d.JudgementSteps):
		r.warnf(d.Pos, d.ID, "no human data")
	default:
		r.warnf(d.stepsPos, d.ID, "no human data at step %s", list(none))
	}
}

// compare reports given means that are not those of the responses, neither as
// both are written nor with both normalized. Means are exact to half a unit of
// the last of their decimals.
func (r *reader) compare(d *draft, responses, means answers, decimals int) {
	if len(means.vectors) == 0 {
		return
	}
	tolerance := 1e-6 + math.Pow10(-decimals)/2
	for j, given := range means.vectors[0] {
		if given.values == nil {
			continue
		}
		raw, n, broken := rawMean(responses, j, len(d.Goals))
		if broken {
			continue
		}
		if n == 0 {
			r.row("means without responses", given.pos.String(), Finding{
				Severity: Warning, Pos: given.pos, Stimulus: d.ID,
				Message: fmt.Sprintf("step %d: means without responses are not used", d.JudgementSteps[j]),
			})
			continue
		}
		asWritten, _ := furthest(given.raw, raw)
		normalized, g := furthest(given.values, d.Human.Mean[j])
		if min(asWritten, normalized) > tolerance {
			r.row("means that are not those of the responses", given.pos.String(), Finding{
				Severity: Error, Pos: given.rows[g], Stimulus: d.ID,
				Message: fmt.Sprintf("step %d: the mean of %s is %s, but that of the responses %s",
					d.JudgementSteps[j], d.Goals[g].Name, unlike(given.raw[g], d.Human.Mean[j][g], 6), unlike(d.Human.Mean[j][g], given.raw[g], 6)),
			})
		}
	}
}

// rawMean is the mean of the n answers at j as written, zero without any.
func rawMean(a answers, j, goals int) (mean []float64, n int, broken bool) {
	mean = make([]float64, goals)
	for _, vectors := range a.vectors {
		v := vectors[j]
		if v.broken {
			return nil, 0, true
		}
		if v.values == nil {
			continue
		}
		n++
		for g, x := range v.raw {
			mean[g] += x
		}
	}
	if n > 0 {
		mean = scaled(mean, func(x float64) float64 { return x / float64(n) })
	}
	return mean, n, false
}

// furthest is the largest difference of two vectors and where it is.
func furthest(x, y []float64) (difference float64, at int) {
	for i := range x {
		if d := math.Abs(x[i] - y[i]); d > difference {
			difference, at = d, i
		}
	}
	return difference, at
}
