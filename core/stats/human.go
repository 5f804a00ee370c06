package stats

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoParticipants is returned where people must be resampled and a stimulus
// has only means, or nobody's responses.
var ErrNoParticipants = errors.New("no participant's responses, only means")

// Responses are the judgements of one stimulus. A point is one judgement step
// and goal; the points of a stimulus are flattened, and a model's inferences
// come in the same order.
type Responses struct {
	Mean         []float64   // [point] mean over participants; NaN where nobody answered
	Participants []string    // ids, one a row of Values; read only when Human.Linked
	Values       [][]float64 // [participant][point]; NaN = did not answer; nil = only means are known
}

// Human is a study's judgements.
type Human struct {
	Stimuli []Responses
	// Linked: a participant id means the same person in every stimulus. When
	// false, ids count within one stimulus.
	Linked bool
}

// check panics on lengths that do not match, and returns an error for values
// that are not finite numbers.
func (h Human) check() error {
	for s, r := range h.Stimuli {
		for p, v := range r.Mean {
			if math.IsInf(v, 0) {
				return fmt.Errorf("stimulus %d, point %d: mean judgement is infinite", s+1, p+1)
			}
		}
		if h.Linked && len(r.Participants) != len(r.Values) {
			panic("stats: length mismatch of participants and values")
		}
		for i, row := range r.Values {
			if len(row) != len(r.Mean) {
				panic("stats: length mismatch of values and means")
			}
			for p, v := range row {
				if math.IsInf(v, 0) {
					return fmt.Errorf("stimulus %d, participant %d, point %d: judgement is infinite", s+1, i+1, p+1)
				}
			}
		}
	}
	return nil
}

// answered reports an error unless every stimulus has at least one participant.
func (h Human) answered() error {
	for s, r := range h.Stimuli {
		if len(r.Values) == 0 {
			return fmt.Errorf("stimulus %d: %w", s+1, ErrNoParticipants)
		}
	}
	return nil
}

// people numbers the participants across the study: who[s][i] is the person of
// row i in stimulus s, numbered in order of first appearance.
func (h Human) people() (who [][]int, n int) {
	number := make(map[string]int)
	who = make([][]int, len(h.Stimuli))
	for s, r := range h.Stimuli {
		for _, id := range r.Participants {
			person, seen := number[id]
			if !seen {
				person = len(number)
				number[id] = person
			}
			who[s] = append(who[s], person)
		}
	}
	return who, len(number)
}

// weightedMean sets dst[p] to the mean of point p with row i counted weight[i]
// times, NaN where no counted row has an answer.
func (r Responses) weightedMean(dst []float64, weight []int) {
	for p := range dst {
		var sum, n float64
		for i, w := range weight {
			if v := r.Values[i][p]; w > 0 && !math.IsNaN(v) {
				sum += float64(float64(w) * v)
				n += float64(w)
			}
		}
		if n == 0 {
			dst[p] = math.NaN()
			continue
		}
		dst[p] = sum / n
	}
}
