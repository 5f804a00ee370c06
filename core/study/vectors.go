package study

import (
	"fmt"
	"math"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// rounding is how far from 1 the probabilities of a vector may sum.
const rounding = 0.02

// normalize makes every vector sum to 1, or reports why it does not.
func (q *rowReader) normalize() {
	var n normalized
	for i := range q.answers {
		for p := range q.answers[i].vectors {
			for j := range q.answers[i].vectors[p] {
				q.normalizeVector(i, p, j, &n)
			}
		}
	}
	n.report(q)
}

// normalized counts the vectors of a file.
type normalized struct {
	all, changed       int
	lowest, highest    float64 // sums of the changed ones
	unsure, everything int     // selections of don't know, of every goal
}

func (q *rowReader) normalizeVector(i, p, j int, n *normalized) {
	d, a := q.stimuli[i], &q.answers[i]
	v := &a.vectors[p][j]
	if v.pos.IsZero() || v.broken {
		return
	}
	n.all++
	at := v.pos
	fail := func(kind, format string, args ...any) {
		v.broken = true
		q.row(kind, v.pos.String(), Finding{
			Severity: Error, Pos: at, Stimulus: d.ID,
			Message: who(a.participants[p], d.JudgementSteps[j]) + ": " + fmt.Sprintf(format, args...),
		})
	}
	var missing []string
	sum := 0.0
	for g := range d.Goals {
		if v.rows[g].IsZero() {
			missing = append(missing, d.Goals[g].Name)
		}
		sum += v.raw[g]
	}
	chosen := len(d.Goals) - len(missing)
	none, conflict := q.absent.first[place{i, a.participants[p], j}]
	switch {
	case conflict:
		at = none.pos
		fail("answers that are there and not there", "%s says that there is no answer, but line %d has one", absentText(none), v.pos.Line)
	case q.selections && !v.unsure.IsZero() && chosen > 0:
		fail("answers that choose and do not know", "a goal is chosen, and yet line %d does not know", v.unsure.Line)
	case q.selections && !v.unsure.IsZero():
		n.unsure++
		v.values = scaled(v.raw, func(float64) float64 { return 1 / float64(len(d.Goals)) })
	case q.selections:
		if chosen == len(d.Goals) {
			n.everything++
		}
		v.values = scaled(v.raw, func(x float64) float64 { return x / sum })
	case len(missing) > 0:
		if !d.goalsDoubtful {
			fail("answers without some goals", "no probability for %s", strings.Join(missing, ", "))
		}
		v.broken = true
	case math.Abs(sum-1) > rounding+slack:
		fail("probabilities that do not sum to 1", "the probabilities sum to %.6g, not 1", sum)
	case math.Abs(sum-1) > slack:
		if n.changed == 0 {
			n.lowest, n.highest = sum, sum
		}
		n.changed++
		n.lowest, n.highest = min(n.lowest, sum), max(n.highest, sum)
		v.values = scaled(v.raw, func(x float64) float64 { return x / sum })
	default:
		v.values = scaled(v.raw, func(x float64) float64 { return x })
	}
}

func scaled(xs []float64, f func(float64) float64) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = f(x)
	}
	return ys
}

func (n *normalized) report(q *rowReader) {
	pos := pddl.Pos{File: q.file}
	if n.changed > 0 {
		sums := unlike(n.lowest, 1, 4)
		if highest := unlike(n.highest, 1, 4); highest != sums {
			sums += ".." + highest
		}
		q.notef(pos, "%s of %s sum to %s instead of 1 and were renormalised", words.Thousands(n.changed), words.Count(n.all, "vector"), sums)
	}
	if q.selections && n.all > 0 {
		q.notef(pos, "selections: %s, %s of them do not know", words.Count(n.all, "answer"), words.Thousands(n.unsure))
		if n.everything == n.all {
			q.warnf(pos, "", "every answer chooses every goal: is a column probability missing?")
		}
	}
}
