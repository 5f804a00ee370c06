package domains

import (
	"foible.dev/foible/core/model"
	"foible.dev/foible/domains/blockwords"
	"foible.dev/foible/domains/doorskeysgems"
)

// fitted are the paper's best parameters, by domain, model and axis (Alanqary
// et al. 2021, "Best-fitting model parameters"). Its alpha is a temperature: 1 / alpha here.
var fitted = map[string]map[string]map[string]float64{
	doorskeysgems.Name: {
		"full":            {"budget_r": 2, "budget_q": 0.9, "search_noise": 0.5, "action_noise": 0.05},
		"plan-lesioned":   {"action_noise": 0.05},
		"action-lesioned": {"budget_r": 2, "budget_q": 0.9, "search_noise": 0.5},
		"boltzmann":       {"alpha": 8},
	},
	blockwords.Name: {
		"full":            {"goal_noise": 0.2, "budget_r": 2, "budget_q": 0.9, "search_noise": 0.02, "action_noise": 0.05},
		"goal-lesioned":   {"budget_r": 2, "budget_q": 0.9, "search_noise": 0.5, "action_noise": 0.2},
		"plan-lesioned":   {"goal_noise": 0.2, "action_noise": 0.2},
		"action-lesioned": {"goal_noise": 0.2, "budget_r": 4, "budget_q": 0.9, "search_noise": 0.02},
		"boltzmann":       {"alpha": 0.5},
	},
}

// Fitted is the setting of an axis that the paper found for a model, or for the
// full one where it has none for the model itself; ok is false where it has
// neither, and the setting is then the middle one of the axis's default grid.
func (d *Domain) Fitted(name string, axis *model.Axis) (setting model.Setting, ok bool) {
	for _, of := range []string{name, "full"} {
		if x, ok := fitted[d.Name][of][axis.Name]; ok {
			return model.Setting{Number: x}, true
		}
	}
	return axis.Default[len(axis.Default)/2], false
}
