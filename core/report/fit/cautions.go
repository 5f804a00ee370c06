package fit

import (
	"fmt"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// cautions are what a reader must know before the numbers, gravest first:
// what the report finds, what the fits have to be warned of, and notes.
func (r *Report) cautions() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.study.Simulated != "" {
		add("The participants are simulated; Methods say how. No number here is of people.")
	}
	if failures := r.Failures(); r.failed != nil && failures == nil {
		add("Some jobs failed; failures.csv says why.")
	} else {
		for _, f := range failures {
			add("%s. failures.csv lists them.", f)
		}
	}
	switch missing := len(r.plan.Sets) - len(r.scored); {
	case missing > 0:
		add("The sweep is incomplete: what follows lacks %s of %s for want of a fit.", words.Thousands(missing), words.Count(len(r.plan.Sets), "parameter set"))
	case !r.Manifest.Complete:
		add("The sweep is incomplete.")
	}
	var unreported, below []string
	units := map[string]bool{}
	for _, b := range r.chosen() {
		if r.plan.Report && b.Stage != sweep.ReportStage {
			unreported = append(unreported, b.Set.Model)
		}
		if in := b.Fit.Intervals; len(in) > 0 && in[0].High < b.Fit.Overall.PearsonR {
			below = append(below, b.Set.Model)
			units[in[0].Unit] = true
		}
	}
	if unreported != nil {
		add("The report stage has no result of %s: its r is that of the fit stage, which is too high for a set that was chosen by it.", words.List(unreported))
	}
	if below != nil {
		text := fmt.Sprintf("The interval lies below r of %s.", words.List(below))
		if units["participants"] || units["both"] {
			text += " The means of resampled people are noisier than those of all people; so only the width of the interval can be used, not where it lies."
		}
		all = append(all, text)
	}
	all = append(all, r.Manifest.Warnings...)
	return append(all, r.Manifest.Notes...)
}

// chosen lists each model's best parameter set, in the order of [model.Models].
func (r *Report) chosen() []*chosen {
	var all []*chosen
	for _, m := range model.Models {
		if c := r.best[m.Name]; c != nil {
			all = append(all, c)
		}
	}
	return all
}
