package tabular

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
)

// Table is a table that a command writes: its name, without directory and ending, says what
// its columns are, and the name of a column says what it means in every table.
type Table struct {
	Name    string
	Command string // that writes it: fit (as results does), infer, simulate, recover, report
	About   string // what a row is
	Columns []string
}

// parameters are columns for every axis of every model; a
// column is empty where a model has no such axis.
var parameters = model.AxisNames()

// key are the columns that a table of a sweep begins with.
var key = []string{"stage", "model", "parameter_set"}

// Tables are all tables that commands write.
var Tables = []Table{
	{"fits", "fit", "a parameter set in a stage", slices.Concat(key, parameters, []string{"runs", "particles_per_goal", "samples", "n", "pearson_r", "ci_low", "ci_high", "mc_se", "rmse", "ci_unit", "undefined_stimuli", "complete"})},
	{"intervals", "fit", "an interval of r", slices.Concat(key, []string{"unit", "ci_low", "ci_high", "resamples", "reason"})},
	{"fits_by_category", "fit", "a parameter set and category", slices.Concat(key, []string{"category", "n", "pearson_r", "rmse"})},
	{"fits_by_stimulus", "fit", "a parameter set and stimulus", slices.Concat(key, []string{"stimulus", "n", "pearson_r", "rmse"})},
	{"posteriors", "fit", "a goal at a step of a stimulus, as a parameter set infers it", slices.Concat(key, []string{"stimulus", "step", "goal", "probability", "mc_se", "human", "human_se", "goal_log_evidence", "outcome"})},
	{"mistakes", "fit", "an action of a stimulus, as a parameter set explains it", slices.Concat(key, []string{"stimulus", "step", "goal_confused", "goal_confused_se", "slip", "slip_se", "plan_off_path", "plan_off_path_se"})},
	{"degeneracy", "fit", "a stimulus on which inference lost goals, or particles", slices.Concat(key, []string{"stimulus", "runs", "failed_runs", "least_ess", "least_goals_alive", "log_evidence", "outcome"})},
	{"failures", "fit", "a reason why a parameter set has no fit, or no cell of a stimulus", slices.Concat(key, []string{"stimulus", "reason"})},
	{"reliability", "fit", "all stimuli together, or a category", []string{"part", "category", "splits", "split_half_r", "reliability", "ceiling", "reason"}},
	{"differences", "fit", "an interval of the difference of two models at their best, the first less the second", slices.Concat(key, []string{"other_stage", "other_model", "other_parameter_set", "measure", "n", "difference", "unit", "ci_low", "ci_high", "resamples", "reason"})},
	{"scores", "fit", "the best parameter set of a model", slices.Concat(key, []string{"n", "spearman", "concordance", "judgements", "total_variation", "jensen_shannon"})},
	{"cross_validation", "fit", "a stimulus that was left out; without a stimulus, all held-out predictions of a model together", slices.Concat(key, []string{"stimulus", "chosen_r", "n", "pearson_r", "rmse", "reason"})},
	{"likelihoods", "fit", "a participant", slices.Concat(key, []string{"stimulus", "participant", "answers", "log_likelihood", "log_likelihood_chance", "lapse"})},
	{"model_comparison", "fit", "a model, over all participants", slices.Concat(key, []string{"participants_compared", "log_likelihood", "expected_frequency", "exceedance", "protected_exceedance", "omnibus_risk", "reason"})},

	{"inference", "infer", "a goal at a step, as a model infers it", slices.Concat([]string{"model"}, parameters, []string{"stimulus", "step", "action", "goal", "probability", "mc_se", "human", "human_se", "ess", "goals_alive", "log_evidence", "goal_log_evidence", "outcome"})},
	{"inference_mistakes", "infer", "an action, as a model explains it", []string{"model", "stimulus", "step", "action", "goal_confused", "goal_confused_se", "slip", "slip_se", "plan_off_path", "plan_off_path_se"}},

	{"trajectories", "simulate", "a simulated plan", []string{"goal", "trajectory", "file", "length", "steps", "stays", "slips", "confusions", "plans", "plan_detours", "plan_dead_ends", "not_most_probable", "reached_goal"}},

	{"recovery", "recover", "a parameter of the true model in a dataset", []string{"model", "dataset", "participants", "axis", "true", "fitted", "true_word", "fitted_word", "n", "pearson_r"}},
	{"recovery_fits", "recover", "a model fitted to a dataset", []string{"true_model", "true_parameter_set", "dataset", "participants", "model", "parameter_set", "n", "pearson_r", "held_out_r"}},
	{"recovery_axes", "recover", "a parameter of a model and a number of participants", []string{"model", "axis", "participants", "values", "datasets", "rank_correlation", "ci_low", "ci_high", "resamples", "exact", "chance", "above", "below", "reason"}},
	{"confusion", "recover", "a true and a fitted model", []string{"criterion", "participants", "true_model", "fitted_model", "count", "datasets", "fitted_given_true"}},
	{"inversion", "recover", "a true and a fitted model", []string{"criterion", "participants", "true_model", "fitted_model", "count", "datasets", "true_given_fitted"}},

	{"comparison", "report", "the best parameter set of a model in a sweep", slices.Concat([]string{"sweep"}, key, parameters, []string{"runs", "particles_per_goal", "n", "pearson_r", "ci_low", "ci_high", "ci_unit", "mc_se", "rmse", "common_n", "common_r", "common_rmse", "from_first", "from_first_mc_se", "from_first_low", "from_first_high"})},
	{"settings", "report", "a setting of a sweep", []string{"setting", "sweep", "set_to"}},
}

// columnMeanings says what columns are, those of parameters aside.
var columnMeanings = map[string]struct {
	Kind  Kind
	About string
}{
	"stage":                 {Text, "fit; top_up, leading parameter sets run again with more runs; report, each model's best run again with other seeds"},
	"model":                 {Text, "name of the model"},
	"parameter_set":         {Whole, "number of the parameter set in the sweep, from 1"},
	"runs":                  {Whole, "runs behind each posterior, or batches of marginal inference; 1 for boltzmann, which is exact"},
	"particles_per_goal":    {Whole, "particles per goal in a run of the particle filter"},
	"samples":               {Whole, "searches behind each table of marginal inference, on the stimulus with the fewest"},
	"n":                     {Whole, "number of points (stimulus, judgement step, goal) behind the other numbers of the row"},
	"pearson_r":             {Real, "Pearson's r of the model with the mean judgements; empty where it is undefined"},
	"ci_low":                {Real, "lower end of the 95 % interval of the row's statistic"},
	"ci_high":               {Real, "upper end of the 95 % interval of the row's statistic"},
	"ci_unit":               {Text, "what was resampled for the interval: participants, stimuli or both"},
	"mc_se":                 {Real, "Monte-Carlo standard error of the row's r or probability; 0 for boltzmann, which is exact, and empty where it is not known"},
	"rmse":                  {Real, "root mean squared error of the model against the mean judgements"},
	"undefined_stimuli":     {Whole, "number of stimuli without a posterior from some step on"},
	"complete":              {Text, "yes if the parameter set has a posterior at every point that was judged; no if its r is not compared with that of others"},
	"unit":                  {Text, "what was resampled for the interval: participants, stimuli or both"},
	"resamples":             {Whole, "number of resamples behind the interval"},
	"category":              {Text, "category of stimuli"},
	"stimulus":              {Text, "id of the stimulus"},
	"step":                  {Whole, "number of actions seen so far; for a mistake, the step that its action led to"},
	"action":                {Text, "action that led to the step"},
	"goal":                  {Text, "name of the goal"},
	"probability":           {Real, "posterior probability of the goal, given the actions so far"},
	"human":                 {Real, "mean judgement of the participants"},
	"human_se":              {Real, "standard error of the mean judgement, over participants"},
	"log_evidence":          {Real, "ln P(actions so far), averaged over goals"},
	"goal_log_evidence":     {Real, "ln P(actions so far given the goal); empty once that is impossible"},
	"outcome":               {Text, "why there is no posterior from the step on, or that the goal cannot be reached"},
	"goal_confused":         {Real, "probability of goal confusion: that the agent pursued another goal in place of its own"},
	"goal_confused_se":      {Real, "Monte-Carlo standard error of goal_confused"},
	"slip":                  {Real, "probability of a slip: that the action is not the one that the agent intended"},
	"slip_se":               {Real, "Monte-Carlo standard error of slip"},
	"plan_off_path":         {Real, "probability of a suboptimal plan: that the plan behind the action ends off every shortest path to its goal; empty where it is not known"},
	"plan_off_path_se":      {Real, "Monte-Carlo standard error of plan_off_path"},
	"failed_runs":           {Whole, "runs of the particle filter in which all weights vanished"},
	"least_ess":             {Real, "smallest effective sample size after a step"},
	"least_goals_alive":     {Real, "smallest number of goals that some particle has or, for marginal inference, that remain possible"},
	"ess":                   {Real, "effective sample size"},
	"goals_alive":           {Real, "number of goals that some particle has"},
	"reason":                {Text, "why there is no number, such as too few units, or why there is no fit"},
	"part":                  {Text, "all, or category"},
	"splits":                {Whole, "random splits of the participants into halves"},
	"split_half_r":          {Real, "mean correlation of the mean judgements of two halves of the participants"},
	"reliability":           {Real, "reliability of the mean judgements of all participants, by the Spearman-Brown formula"},
	"ceiling":               {Real, "ceiling on r: the square root of the reliability"},
	"other_stage":           {Text, "stage of the second parameter set"},
	"other_model":           {Text, "model of the second parameter set"},
	"other_parameter_set":   {Whole, "number of the second parameter set in the sweep"},
	"measure":               {Text, "what is compared: pearson_r or rmse"},
	"difference":            {Real, "difference in the measure, the first parameter set less the second, over the points of both"},
	"spearman":              {Real, "Spearman's rank correlation of the model with the mean judgements"},
	"concordance":           {Real, "Lin's concordance correlation of the model with the mean judgements"},
	"judgements":            {Whole, "number of distributions over goals that were compared"},
	"total_variation":       {Real, "mean total variation distance of the model's distribution from the mean judgement"},
	"jensen_shannon":        {Real, "mean Jensen-Shannon distance of the model's distribution from the mean judgement, the square root of bits"},
	"chosen_r":              {Real, "r over the other stimuli, by which the parameter set was chosen"},
	"participant":           {Text, "id of the participant, within the stimulus unless participants are linked"},
	"answers":               {Whole, "number of answers of the participant"},
	"log_likelihood":        {Real, "natural log likelihood of the answers under the model"},
	"log_likelihood_chance": {Real, "natural log likelihood of the answers for someone who answers at random"},
	"lapse":                 {Real, "posterior mean of the participant's lapse rate"},
	"participants_compared": {Whole, "number of participants whose answers were compared"},
	"expected_frequency":    {Real, "share of participants that the model is expected to describe"},
	"exceedance":            {Real, "probability that the model describes more participants than any other"},
	"protected_exceedance":  {Real, "exceedance probability that allows for all models being equally frequent"},
	"omnibus_risk":          {Real, "probability that all models are equally frequent"},
	"trajectory":            {Whole, "number of the simulated plan, from 1"},
	"file":                  {Text, "name of the file with the plan"},
	"length":                {Whole, "number of actions"},
	"steps":                 {Whole, "number of steps, in which the agent acted or stayed where it was"},
	"stays":                 {Whole, "number of steps in which the agent stayed where it was"},
	"slips":                 {Whole, "number of actions that were not the ones that the agent intended"},
	"confusions":            {Whole, "number of steps in which the agent pursued another goal in place of its own"},
	"plans":                 {Whole, "number of plans that the agent made"},
	"plan_detours":          {Whole, "number of plans that leave every shortest path; empty where it is not known"},
	"plan_dead_ends":        {Whole, "number of plans into a dead end; empty where it is not known"},
	"not_most_probable":     {Whole, "number of actions of a Boltzmann agent that were not the most probable"},
	"reached_goal":          {Text, "true or false"},
	"dataset":               {Whole, "number of the dataset within its true model, from 1"},
	"datasets":              {Whole, "number of datasets behind the other numbers of the row"},
	"participants":          {Whole, "simulated participants per stimulus"},
	"axis":                  {Text, "name of the parameter"},
	"true":                  {Real, "value with which the participants were simulated"},
	"fitted":                {Real, "value of the best parameter set"},
	"true_word":             {Text, "value with which the participants were simulated, of a parameter whose values are words"},
	"fitted_word":           {Text, "value of the best parameter set, of a parameter whose values are words"},
	"true_model":            {Text, "model with which the participants were simulated"},
	"true_parameter_set":    {Whole, "number in the sweep of the parameter set with which the participants were simulated"},
	"fitted_model":          {Text, "model that was fitted"},
	"held_out_r":            {Real, "r over held-out stimuli"},
	"values":                {Whole, "number of values of the parameter"},
	"rank_correlation":      {Real, "Spearman's rank correlation of true and fitted values"},
	"exact":                 {Real, "share of datasets whose fitted value is the true one"},
	"chance":                {Real, "share of datasets whose fitted value would be the true one by chance"},
	"above":                 {Real, "share of datasets whose fitted value is too high"},
	"below":                 {Real, "share of datasets whose fitted value is too low"},
	"criterion":             {Text, "what the fitted model was chosen by: r, or held_out_r"},
	"count":                 {Whole, "number of datasets of the true model to which the fitted model was fitted"},
	"fitted_given_true":     {Real, "P(fitted model given true model)"},
	"true_given_fitted":     {Real, "P(true model given fitted model), with all models equally probable at first"},
	"sweep":                 {Text, "name of the output directory"},
	"common_n":              {Whole, "number of points that all sweeps have"},
	"common_r":              {Real, "Pearson's r over the points that all sweeps have"},
	"common_rmse":           {Real, "root mean squared error over the points that all sweeps have"},
	"from_first":            {Real, "common_r less that of the model in the first sweep"},
	"from_first_mc_se":      {Real, "Monte-Carlo standard error of from_first"},
	"from_first_low":        {Real, "lower end of the 95 % interval of from_first, by stimuli"},
	"from_first_high":       {Real, "upper end of the 95 % interval of from_first, by stimuli"},
	"setting":               {Text, "key in sweep.yaml, or another property of the sweep"},
	"set_to":                {Text, "value of the setting; empty where it is not set"},
}

// Parameters are the columns of a parameter set, in the order of [Table]; nil where its model has none.
func Parameters(set *model.ParameterSet) []any {
	row := make([]any, len(parameters))
	for i, name := range parameters {
		switch v, ok := set.Get(name); {
		case !ok:
		case v.Word != "":
			row[i] = v.Word
		default:
			row[i] = v.Number
		}
	}
	return row
}

// columnOf is a column by its name.
func columnOf(name string) Column {
	if m, ok := columnMeanings[name]; ok {
		return Column{name, m.Kind}
	}
	axis, ok := model.AxisByName(name)
	switch {
	case !ok:
		panic(fmt.Sprintf("tabular: no meaning of the column %s", name))
	case len(axis.Words) > 0:
		return Column{name, Text}
	case axis.Whole:
		return Column{name, Whole}
	}
	return Column{name, Real}
}

// tableOf is a table by its name; one that is not declared is a bug.
func tableOf(name string) *Table {
	at := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == name })
	if at < 0 {
		panic(fmt.Sprintf("tabular: %s is not among the tables", name))
	}
	return &Tables[at]
}

// Write writes one of Tables at once: name.csv, and what the output keeps next to it.
// A value is nil, a string, an int or a finite float64, as the column has it.
func Write(out Output, name string, rows func(row func(values ...any) error) error) error {
	t, err := Create(out, name)
	if err != nil {
		return err
	}
	err = rows(t.Row)
	if closed := t.Close(); err == nil {
		err = closed
	}
	return err
}

// Describe says what a column of the tables holds: text, number or whole number; and what it means. Both are "" if
// no table has the column.
func Describe(name string) (kind, about string) {
	if !slices.ContainsFunc(Tables, func(t Table) bool { return slices.Contains(t.Columns, name) }) {
		return "", ""
	}
	about = columnMeanings[name].About
	if about == "" { // a parameter
		about = "value of this parameter; empty where the model does not have it"
	}
	return map[Kind]string{Real: "number", Whole: "whole number", Text: "text"}[columnOf(name).Kind], about
}

// WriteMarkdown writes what the tables are, in Markdown, by the command that writes them.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Tables\n\nGenerated from `core/tabular/schema.go` by `go test ./core/tabular -run TestTables -update`. A file has the same columns whatever wrote it,\n" +
		"and a column has the same meaning in every file. Each CSV has the same as Parquet next to it. What is not known or not defined is an empty field.\n")
	command := ""
	for i := range Tables {
		t := &Tables[i]
		if t.Command != command {
			command = t.Command
			fmt.Fprintf(&b, "\n## `foible %s`\n\n| file | a row is | columns |\n|---|---|---|\n", command)
		}
		fmt.Fprintf(&b, "| `%s.csv` | %s | `%s` |\n", t.Name, t.About, strings.Join(t.Columns, "`, `"))
	}
	b.WriteString("\n## Columns\n\n| column | type | meaning |\n|---|---|---|\n")
	var seen []string
	for i := range Tables {
		for _, name := range Tables[i].Columns {
			if slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			kind, about := Describe(name)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(about, "|", "\\|"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
