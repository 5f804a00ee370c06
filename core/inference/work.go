package inference

import (
	"fmt"

	"foible/core/sweep"
)

// Work says which cells of a stimulus share work, by names: the first cell with a name
// pays for what the others then find. Cells with the same samples share searches,
// or what an exact model solves; of these, cells with the same sizes share the
// finding of how many searches are needed. By the particle filter nothing is shared,
// and cells with the same names take about as long as each other.
func Work(set *sweep.ParameterSet, p sweep.Procedure) (samples, sizes string, err error) {
	if set.Model == "boltzmann" {
		return set.Model, set.Value.Word, nil
	}
	a, err := Agent(set, p.Inference)
	if err != nil {
		return "", "", err
	}
	if p.Method == sweep.Marginal {
		return fmt.Sprint("search_noise ", a.SearchNoise, " unlimited ", a.Unlimited, " draws ", draws(&a)), fmt.Sprint(familyOf(&a, &p)), nil
	}
	return fmt.Sprint(set.Model, " budget ", a.BudgetR, " ", a.BudgetQ, " search_noise ", a.SearchNoise), "", nil
}
