package stimulus

import (
	"fmt"
	"math"

	"foible.dev/foible/core/model"
)

// budgetText says what a negative-binomial budget comes to, since its
// parameters mean other things elsewhere; "" where the model has none.
func budgetText(set *model.ParameterSet) string {
	r, ok := set.Get("budget_r")
	if !ok {
		return ""
	}
	q, _ := set.Get("budget_q")
	mean := r.Number * q.Number / (1 - q.Number)
	if mean > 1e5 { // nothing that is planned within comes near it
		return fmt.Sprintf("a plan's budget is %.3g nodes on average", mean)
	}
	quartiles := budgetQuantiles(int(r.Number), q.Number, 0.25, 0.5, 0.75)
	return fmt.Sprintf("a plan's budget is %.3g nodes on average, quartiles %d, %d, %d", mean, quartiles[0], quartiles[1], quartiles[2])
}

// budgetQuantiles are quantiles, in ascending order, of the number of successes
// of probability q before the r-th failure: P(n) = C(n+r-1, n) q^n (1-q)^r.
func budgetQuantiles(r int, q float64, levels ...float64) []int {
	quantiles := make([]int, 0, len(levels))
	log := float64(r) * math.Log1p(-q) // of P(n)
	sum := math.Exp(log)
	for n := 0; len(quantiles) < len(levels); {
		if sum >= levels[len(quantiles)] {
			quantiles = append(quantiles, n)
			continue
		}
		n++
		log += math.Log(q) + math.Log(float64(n+r-1)/float64(n))
		sum += math.Exp(log)
	}
	return quantiles
}
