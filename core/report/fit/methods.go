package fit

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// methods are the paragraphs of a methods section: what the sweep's
// configuration says, in words.
func (r *Report) methods() []string {
	all := []string{r.dataText(), r.modelsText(), r.inferenceText(), r.statisticsText()}
	if text := r.comparisonText(); text != "" {
		all = append(all, text)
	}
	return all
}

// dataText says what was judged, by how many.
func (r *Report) dataText() string {
	st := r.study
	steps, points, answers, answered := 0, 0, 0, 0
	var categories []string
	people := map[string]bool{}
	var each []int // participants of a stimulus
	var goals []int
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		if s.Category != "" && !slices.Contains(categories, s.Category) {
			categories = append(categories, s.Category)
		}
		steps += len(s.JudgementSteps)
		goals = append(goals, len(s.Goals))
		for _, row := range s.Human.Mean {
			points += len(row)
			if row != nil {
				answered++
			}
		}
		for _, n := range s.Human.N {
			answers += n
		}
		each = append(each, len(s.Human.Participants))
		for _, id := range s.Human.Participants {
			people[id] = true
		}
	}
	text := fmt.Sprintf("The study has %s", words.Count(len(st.Stimuli), "stimulus"))
	if len(categories) > 1 {
		text += fmt.Sprintf(" in %d categories (%s)", len(categories), strings.Join(categories, ", "))
	}
	if len(st.Stimuli) > 0 {
		text += fmt.Sprintf(", each a plan seen step by step with %s, and %s in all; step k is after k actions.", span(goals, "candidate goal"), words.Count(steps, "judgement step"))
	} else {
		text += "."
	}
	who := "participants"
	if st.Simulated != "" {
		who = "simulated participants"
	}
	switch {
	case answers > 0 && st.ParticipantsLinked:
		text += fmt.Sprintf(" %s %s, %s a stimulus, gave %s, each a distribution over the goals at a judgement step.", words.Thousands(len(people)), who, span(each, ""), words.Count(answers, "judgement"))
	case answers > 0:
		text += fmt.Sprintf(" %s %s a stimulus, whose identities are not linked between stimuli, gave %s, each a distribution over the goals at a judgement step.", capital(span(each, "")), who, words.Count(answers, "judgement"))
	case points > 0:
		text += fmt.Sprintf(" Only the means of the judgements of %s are known, at %s.", who, words.Count(answered, "judgement step"))
	default:
		text += " There are no judgements."
	}
	if st.Simulated != "" {
		text += " The participants are simulated: " + st.Simulated
	}
	return text + fmt.Sprintf(" Models are compared with the mean judgements at %s (stimulus, judgement step, goal).", words.Count(points, "point"))
}

// span is a range of numbers of things: 3 to 5 goals.
func span(ns []int, thing string) string {
	if len(ns) == 0 {
		return "no " + thing + "s"
	}
	least, most := slices.Min(ns), slices.Max(ns)
	text := words.Thousands(most)
	if thing != "" {
		text = words.Count(most, thing)
	}
	if least == most {
		return text
	}
	return words.Thousands(least) + " to " + text
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// modelsText describes the models that were swept.
func (r *Report) modelsText() string {
	var all []string
	sets, mistaken := 0, false
	for _, grid := range r.grid() {
		m, _ := model.ByName(grid.Model)
		all = append(all, m.Name+", "+m.Meaning)
		sets += r.Manifest.Parameters[grid.Model]
		if m.Has("action_noise") {
			mistaken = true
		}
	}
	if len(all) == 0 {
		return "No model was swept."
	}
	text := fmt.Sprintf("The models are %s (Alanqary et al., 2021).", strings.Join(all, "; "))
	if mistaken {
		switch r.config.Inference.ActionNoiseKind {
		case "per_action_odds":
			text += " A slip is weighed against the intended action by odds of action_noise to 1 − action_noise for each other action (action_noise_kind: per_action_odds)."
		default:
			text += fmt.Sprintf(" The probability of a slip is action_noise, shared by all other actions (action_noise_kind: %s).", r.config.Inference.ActionNoiseKind)
		}
	}
	return text + fmt.Sprintf(" Each was fitted by a sweep of the grid below, %s and %s (parameter set × stimulus) in all.", words.Count(sets, "parameter set"), words.Count(r.plan.Cells(), "cell"))
}

// inferenceText says how goals were inferred, in which stages, from which seeds.
func (r *Report) inferenceText() string {
	in := r.config.Inference
	sampled := r.sampled()
	exact := slices.ContainsFunc(r.config.Models, func(grid sweep.ModelGrid) bool {
		m, _ := model.ByName(grid.Model)
		return m.Exact
	})
	var text string
	stage := func(name string) string {
		p := r.config.Procedure(name)
		if in.Method == sweep.Marginal {
			return words.Thousands(p.Runs) + " independent batches of samples"
		}
		return fmt.Sprintf("%s of %s a goal", words.Count(p.Runs, "run"), words.Count(p.ParticlesPerGoal, "particle"))
	}
	switch {
	case !sampled:
	case in.Method == sweep.Marginal:
		text = fmt.Sprintf("Goals were inferred by marginal inference: the observed states are taken as known, what the agent may have in mind (goal, plan, budget) is summed over by a forward recursion, and only the outcomes of searches are sampled, with a target for the Monte-Carlo standard error of r of %v and for that of each probability at a judgement step of %v.", in.MCSE, in.PosteriorSE)
		if !r.plan.Detailed() {
			text += fmt.Sprintf(" In the fit stage probes said how much each kind of parameter sets was sampled, and errors of more than %d times these targets were brought down to %d times.", sweep.ClearlyUnsure, sweep.UnsureTo)
		}
	default:
		text = fmt.Sprintf("Goals were inferred by Sequential Inverse Plan Search, a particle filter (observe: %s; filters: %s; resample: %s, threshold %v of the particles, %s; rejuvenate: %s).", in.Observe, in.Filters, in.Resample, in.ResampleThreshold, in.ResampleKind, in.Rejuvenate)
		if in.Observe == "noisy" {
			text += fmt.Sprintf(" States are observed with noise: each Boolean fact is flipped with probability %v, numbers have a standard deviation of %v.", r.study.Observation.PredicateNoise, r.study.Observation.FluentNoise)
		}
	}
	if sampled {
		text += fmt.Sprintf(" Parameters were chosen in a fit stage of %s", stage(sweep.FitStage))
		if r.plan.Report {
			text += fmt.Sprintf("; the best of each model, by r, were run again with other seeds in a report stage of %s, since the r of a chosen set is too high.", stage(sweep.ReportStage))
		} else {
			text += "; there was no report stage, so the r of a chosen set is too high."
		}
	}
	text += r.topUpText()
	if exact {
		text += " Boltzmann agents were inferred exactly, by Bayes' rule over the observed actions with a uniform prior over the goals."
	}
	return strings.TrimSpace(text) + fmt.Sprintf(" All random numbers derive from the seed %d, whatever machine computes them. Parameters are chosen and scored on the same judgements.", r.config.Seed)
}

// topUpText says which parameter sets got more runs, and what came of it.
func (r *Report) topUpText() string {
	if r.plan.TopUps() == 0 {
		return ""
	}
	how := "run again with twice the runs"
	if r.config.Inference.Method == sweep.Marginal {
		how = "inferred again from twice the batches, with targets for half the variances"
	}
	text := fmt.Sprintf(" After the fit stage, the parameter sets that were the best of their model with a probability of .95 together, by the Monte-Carlo errors, were %s, and so on, until one was left or had had %d times as many; parameters were chosen among those that had the most.", how, r.config.TopUp)
	var all []string
	for _, m := range model.Models {
		if t, ok := r.Manifest.TopUp[m.Name]; ok {
			left := "one was left"
			if !t.Separated {
				left = "several were left"
			}
			all = append(all, fmt.Sprintf("%s of %s of %s, up to %d times as many; %s", words.Thousands(t.Contenders), words.Count(r.Manifest.Parameters[m.Name], "parameter set"), m.Name, t.Times, left))
		}
	}
	if all == nil {
		return text + " None was: the best of each model was clear."
	}
	return text + " These were " + strings.Join(all, "; ") + "."
}

// sampled says whether some model of the sweep is not exact.
func (r *Report) sampled() bool {
	return slices.ContainsFunc(r.config.Models, func(grid sweep.ModelGrid) bool {
		m, _ := model.ByName(grid.Model)
		return !m.Exact
	})
}

// statisticsText says what r, its errors and the ceiling are.
func (r *Report) statisticsText() string {
	text := "r is Pearson's correlation of the inferred probabilities with the mean judgements over all points; RMSE is the root of their mean squared difference."
	if r.sampled() {
		text += " The Monte-Carlo standard error of r is that of a jackknife over the runs of each stimulus."
	}
	if b := r.config.Bootstrap; b.Resamples > 0 {
		var units []string
		for _, unit := range b.Units {
			if slices.ContainsFunc(r.chosen(), func(c *chosen) bool {
				return slices.ContainsFunc(c.Fit.Intervals, func(in result.Interval) bool { return in.Unit == unit })
			}) {
				units = append(units, resampledThings(unit))
			}
		}
		if len(units) > 0 {
			text += fmt.Sprintf(" Intervals are 95%% percentile intervals of %s, of %s; all parameter sets meet the same resamples.", words.Count(b.Resamples, "bootstrap resample"), strings.Join(units, ", or of "))
		}
	}
	if len(r.few) > 0 {
		text += fmt.Sprintf(" Intervals need %d stimuli, or %d participants in each stimulus, whichever are resampled: fewer have no more than %d different resamples.", score.FewestUnits, score.FewestUnits, 35)
	}
	if r.ceilings.All.Ceiling > 0 {
		c := r.ceilings.All
		text += fmt.Sprintf(" The ceiling on r (%s over all points) is the correlation that a perfect model would reach with these means: the square root of their reliability (%s), which is the correlation of the means of two random halves of the participants (%s, the mean of %s) corrected by Spearman and Brown.",
			words.Decimals(c.Ceiling, 2), words.Decimals(c.Means, 2), words.Decimals(c.Half, 2), words.Count(score.CeilingSplits, "split"))
	} else {
		text += fmt.Sprintf(" No ceiling is given: it needs the answers of %d participants to each stimulus.", score.FewestUnits)
	}
	return text
}

// comparisonText says how models are compared with each other.
func (r *Report) comparisonText() string {
	var parts []string
	if len(r.people.differences) > 0 {
		parts = append(parts, "Models are compared at their best parameters, by the points that both of a pair predict.")
	}
	if slices.ContainsFunc(r.people.crossed, func(v score.CrossValidation) bool { return len(v.Folds) > 0 }) {
		parts = append(parts, "The choice of parameters is cross-validated by leaving out one stimulus at a time, all points of it.")
	}
	if r.people.effects != nil {
		parts = append(parts, "The likelihood of a participant's answers y under a model p is the integral over the lapse rate λ, from 0 to 1 with a uniform prior, of the product over answers and goals of ((1 − λ) p + λ/G) to the power of y, G being the number of goals: an answer is one categorical observation in the proportions that it gives, and a choice of k goals 1/k of an observation of each (a quasi-likelihood; Papke and Wooldridge, 1996); answers are taken as independent given λ.",
			"Random-effects model comparison over these log likelihoods follows Stephan et al. (2009), protected exceedance probabilities Rigoux et al. (2014); the grid's parameters, which are the same for all participants and chosen by their means, are not paid for.")
	}
	return strings.Join(parts, " ")
}

// citations are BibTeX entries of what a paper that uses this report builds on.
func (r *Report) citations() []string {
	all := []string{
		`@inproceedings{alanqary2021modeling,
  author    = {Alanqary, Arwa and Lin, Gloria Z. and Le, Joie and Zhi-Xuan, Tan and Mansinghka, Vikash K. and Tenenbaum, Joshua B.},
  title     = {Modeling the Mistakes of Boundedly Rational Agents Within a {B}ayesian Theory of Mind},
  booktitle = {Proceedings of the Annual Meeting of the Cognitive Science Society},
  volume    = {43},
  year      = {2021}
}`,
		report.SoftwareCitation(r.Manifest.Version),
	}
	if r.people.effects != nil {
		all = append(all, `@article{stephan2009bayesian,
  author  = {Stephan, Klaas Enno and Penny, Will D. and Daunizeau, Jean and Moran, Rosalyn J. and Friston, Karl J.},
  title   = {{B}ayesian Model Selection for Group Studies},
  journal = {NeuroImage},
  volume  = {46},
  number  = {4},
  pages   = {1004--1017},
  year    = {2009}
}`, `@article{rigoux2014bayesian,
  author  = {Rigoux, Lionel and Stephan, Klaas Enno and Friston, Karl J. and Daunizeau, Jean},
  title   = {{B}ayesian Model Selection for Group Studies --- Revisited},
  journal = {NeuroImage},
  volume  = {84},
  pages   = {971--985},
  year    = {2014}
}`)
	}
	if r.sampled() && r.config.Inference.Method != sweep.Marginal {
		all = append(all, `@inproceedings{zhixuan2020online,
  author    = {Zhi-Xuan, Tan and Mann, Jordyn L. and Silver, Tom and Tenenbaum, Joshua B. and Mansinghka, Vikash K.},
  title     = {Online {B}ayesian Goal Inference for Boundedly-Rational Planning Agents},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {33},
  year      = {2020}
}`)
	}
	return all
}
