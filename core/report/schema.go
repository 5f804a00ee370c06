package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"foible/core/sweep"
)

// Table is a table that a command writes: its name, without directory and ending, says what
// its columns are, and the name of a column says what it means in every table.
type Table struct {
	Name    string
	Command string // that writes it: fit (as results does), infer, simulate, recover, report
	About   string // what a row is
	Columns []string
}

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
	{"reliability", "fit", "all stimuli, or those of a category", []string{"part", "category", "splits", "split_half_r", "reliability", "ceiling", "reason"}},
	{"differences", "fit", "an interval of the difference of two models, the first less the other", slices.Concat(key, []string{"other_stage", "other_model", "other_parameter_set", "measure", "n", "difference", "unit", "ci_low", "ci_high", "resamples", "reason"})},
	{"scores", "fit", "the best parameter set of a model", slices.Concat(key, []string{"n", "spearman", "concordance", "judgements", "total_variation", "jensen_shannon"})},
	{"cross_validation", "fit", "a stimulus left out; without a stimulus, all held-out predictions of a model together", slices.Concat(key, []string{"stimulus", "chosen_r", "n", "pearson_r", "rmse", "reason"})},
	{"likelihoods", "fit", "a participant", slices.Concat(key, []string{"stimulus", "participant", "answers", "log_likelihood", "log_likelihood_chance", "lapse"})},
	{"model_comparison", "fit", "a model, over all participants", slices.Concat(key, []string{"participants_compared", "log_likelihood", "expected_frequency", "exceedance", "protected_exceedance", "omnibus_risk", "reason"})},

	{"inference", "infer", "a goal at a step, as a model infers it", slices.Concat([]string{"model"}, parameters, []string{"stimulus", "step", "action", "goal", "probability", "mc_se", "human", "human_se", "ess", "goals_alive", "log_evidence", "goal_log_evidence", "outcome"})},
	{"inference_mistakes", "infer", "an action, as a model explains it", []string{"model", "stimulus", "step", "action", "goal_confused", "goal_confused_se", "slip", "slip_se", "plan_off_path", "plan_off_path_se"}},

	{"trajectories", "simulate", "a simulated plan", []string{"goal", "trajectory", "file", "length", "steps", "stays", "slips", "confusions", "plans", "plan_detours", "plan_dead_ends", "not_most_probable", "reached_goal"}},

	{"recovery", "recover", "an axis of the true model, in a dataset", []string{"model", "dataset", "participants", "axis", "true", "fitted", "true_word", "fitted_word", "n", "pearson_r"}},
	{"recovery_fits", "recover", "a model fitted to a dataset", []string{"true_model", "true_parameter_set", "dataset", "participants", "model", "parameter_set", "n", "pearson_r", "held_out_r"}},
	{"recovery_axes", "recover", "an axis of a model, at a number of participants", []string{"model", "axis", "participants", "values", "datasets", "rank_correlation", "ci_low", "ci_high", "resamples", "exact", "chance", "above", "below", "reason"}},
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
	"stage":                 {Text, "fit, top_up (some parameter sets again with more runs), report (the best again with other seeds)"},
	"model":                 {Text, "name of the model"},
	"parameter_set":         {Whole, "number of the parameter set in the sweep, from 1"},
	"runs":                  {Whole, "runs, of marginal inference batches, behind each posterior; 1 for exact models"},
	"particles_per_goal":    {Whole, "particles a goal, of the particle filter"},
	"samples":               {Whole, "searches behind each table of marginal inference, on the stimulus with the fewest"},
	"n":                     {Whole, "points (stimulus, judgement step, goal) behind the other numbers of the row"},
	"pearson_r":             {Real, "Pearson's r of the model with the means of the judgements; empty where it is undefined"},
	"ci_low":                {Real, "lower end of the 95 % interval of the row's statistic"},
	"ci_high":               {Real, "its upper end"},
	"ci_unit":               {Text, "what was resampled for the interval: participants, stimuli or both"},
	"mc_se":                 {Real, "Monte-Carlo standard error of the row's r, or of its probability; 0 for exact models, empty where it is not known"},
	"rmse":                  {Real, "root mean squared error of the model against the means of the judgements"},
	"undefined_stimuli":     {Whole, "stimuli without a posterior from some step on"},
	"complete":              {Text, "yes if the parameter set has a posterior at every point that people judged; no: its r is not compared with that of others"},
	"unit":                  {Text, "what was resampled: participants, stimuli or both"},
	"resamples":             {Whole, "resamples behind the interval"},
	"category":              {Text, "category of stimuli"},
	"stimulus":              {Text, "id of the stimulus"},
	"step":                  {Whole, "number of actions seen; of a mistake, the step that its action led to"},
	"action":                {Text, "action that led to the step"},
	"goal":                  {Text, "name of the goal"},
	"probability":           {Real, "of the goal, given the actions so far"},
	"human":                 {Real, "mean of the judgements"},
	"human_se":              {Real, "its standard error over participants"},
	"log_evidence":          {Real, "ln P(actions so far), averaged over goals"},
	"goal_log_evidence":     {Real, "ln P(actions so far | goal); empty once it is impossible"},
	"outcome":               {Text, "why there is no posterior from the step on, or that the goal cannot be reached"},
	"goal_confused":         {Real, "probability that the agent pursued a goal that it took for its own"},
	"goal_confused_se":      {Real, "its Monte-Carlo standard error"},
	"slip":                  {Real, "probability that the action is not the one it intended"},
	"slip_se":               {Real, "its Monte-Carlo standard error"},
	"plan_off_path":         {Real, "probability that the plan behind the action ends off every shortest path to its goal; empty where it is not known"},
	"plan_off_path_se":      {Real, "its Monte-Carlo standard error"},
	"failed_runs":           {Whole, "runs of the particle filter in which all weights vanished"},
	"least_ess":             {Real, "smallest effective sample size after a step"},
	"least_goals_alive":     {Real, "smallest number of goals that some particle has, or, of marginal inference, that remain possible"},
	"ess":                   {Real, "effective sample size"},
	"goals_alive":           {Real, "goals that some particle has"},
	"reason":                {Text, "why there is no number: too few units; or no fit"},
	"part":                  {Text, "all, or category"},
	"splits":                {Whole, "random splits of the participants into halves"},
	"split_half_r":          {Real, "mean correlation of the means of two halves"},
	"reliability":           {Real, "of the means of all, by Spearman and Brown"},
	"ceiling":               {Real, "on r: its square root"},
	"other_stage":           {Text, "stage of the other parameter set"},
	"other_model":           {Text, "model of the other parameter set"},
	"other_parameter_set":   {Whole, "number of the other parameter set in the sweep"},
	"measure":               {Text, "pearson_r or rmse"},
	"difference":            {Real, "in the measure, the first less the other, over the points of both"},
	"spearman":              {Real, "rank correlation"},
	"concordance":           {Real, "Lin's concordance correlation"},
	"judgements":            {Whole, "distributions over goals that were compared"},
	"total_variation":       {Real, "mean total variation distance"},
	"jensen_shannon":        {Real, "mean Jensen-Shannon distance, the root of bits"},
	"chosen_r":              {Real, "r over the other stimuli, by which the parameter set was chosen"},
	"participant":           {Text, "id of the participant, within the stimulus unless participants are linked"},
	"answers":               {Whole, "answers of the participant"},
	"log_likelihood":        {Real, "natural log likelihood of the answers"},
	"log_likelihood_chance": {Real, "that of answering at random"},
	"lapse":                 {Real, "posterior mean of the lapse rate"},
	"participants_compared": {Whole, "participants whose answers were compared"},
	"expected_frequency":    {Real, "share of participants whom the model is expected to describe"},
	"exceedance":            {Real, "probability that it describes more than any other"},
	"protected_exceedance":  {Real, "the same, allowing for all models being equally frequent"},
	"omnibus_risk":          {Real, "probability that they are"},
	"trajectory":            {Whole, "number of the simulated plan, from 1"},
	"file":                  {Text, "name of the file with the plan"},
	"length":                {Whole, "actions"},
	"steps":                 {Whole, "steps, in which the agent acted or stayed put"},
	"stays":                 {Whole, "steps in which it stayed put"},
	"slips":                 {Whole, "actions that were not the ones it intended"},
	"confusions":            {Whole, "steps in which it took a goal for its own"},
	"plans":                 {Whole, "plans that it made"},
	"plan_detours":          {Whole, "of these, plans that leave every shortest path; empty where it is not known"},
	"plan_dead_ends":        {Whole, "of these, plans into a dead end; empty where it is not known"},
	"not_most_probable":     {Whole, "actions that were not the most probable, of a Boltzmann agent"},
	"reached_goal":          {Text, "true or false"},
	"dataset":               {Whole, "number of the dataset within its true model, from 1"},
	"datasets":              {Whole, "datasets behind the other numbers of the row"},
	"participants":          {Whole, "simulated participants a stimulus"},
	"axis":                  {Text, "parameter"},
	"true":                  {Real, "value by which the participants were simulated"},
	"fitted":                {Real, "value of the best parameter set"},
	"true_word":             {Text, "the same of an axis of words"},
	"fitted_word":           {Text, "the same of an axis of words"},
	"true_model":            {Text, "model by which the participants were simulated"},
	"true_parameter_set":    {Whole, "number in the sweep of the parameter set by which they were simulated"},
	"fitted_model":          {Text, "model that was fitted"},
	"held_out_r":            {Real, "r of held-out stimuli"},
	"values":                {Whole, "values of the axis"},
	"rank_correlation":      {Real, "Spearman's, of true and fitted values"},
	"exact":                 {Real, "share of datasets whose fitted value is the true one"},
	"chance":                {Real, "that share, by chance"},
	"above":                 {Real, "share whose fitted value is too high"},
	"below":                 {Real, "share whose fitted value is too low"},
	"criterion":             {Text, "by which the fitted model was chosen: r, or held_out_r"},
	"count":                 {Whole, "datasets of the true model to which the fitted model was fitted"},
	"fitted_given_true":     {Real, "P(fitted model | true model)"},
	"true_given_fitted":     {Real, "P(true model | fitted model), all being equally probable at first"},
	"sweep":                 {Text, "name of the output directory"},
	"common_n":              {Whole, "points that all sweeps share"},
	"common_r":              {Real, "Pearson's r over them"},
	"common_rmse":           {Real, "root mean squared error over them"},
	"from_first":            {Real, "common_r less that in the first sweep"},
	"from_first_mc_se":      {Real, "its Monte-Carlo standard error"},
	"from_first_low":        {Real, "lower end of its 95 % interval by stimuli"},
	"from_first_high":       {Real, "its upper end"},
	"setting":               {Text, "key in sweep.yaml, or what else the sweeps are of"},
	"set_to":                {Text, "what it is; empty where it is not set"},
}

// columnOf is a column by its name.
func columnOf(name string) Column {
	if m, ok := columnMeanings[name]; ok {
		return Column{name, m.Kind}
	}
	axis, ok := sweep.AxisByName(name)
	switch {
	case !ok:
		panic(fmt.Sprintf("report: no meaning of the column %s", name))
	case len(axis.Words) > 0:
		return Column{name, Text}
	case axis.Whole:
		return Column{name, Whole}
	}
	return Column{name, Real}
}

// tableOf is a table by the name of its file; one that is not declared is a bug.
func tableOf(file string) *Table {
	name := strings.TrimSuffix(file, ".csv")
	at := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == name })
	if at < 0 {
		panic(fmt.Sprintf("report: %s is not among the tables", file))
	}
	return &Tables[at]
}

// WriteTable writes one of Tables at once: name.csv, and what the output keeps beside it.
// A value is nil, a string, an int or a finite float64, as the column has it.
func WriteTable(out Output, name string, rows func(row func(values ...any) error) error) error {
	return fill(out, name+".csv", rows)
}

// DescribeColumn says what a column of the tables holds: text, number or whole number; and what it means. Both are "" if
// no table has the column.
func DescribeColumn(name string) (kind, about string) {
	if !slices.ContainsFunc(Tables, func(t Table) bool { return slices.Contains(t.Columns, name) }) {
		return "", ""
	}
	about = columnMeanings[name].About
	if about == "" { // a parameter
		about = "value of this parameter; empty where the model does not have it"
	}
	return map[Kind]string{Real: "number", Whole: "whole number", Text: "text"}[columnOf(name).Kind], about
}

// WriteTables writes what the tables are, in Markdown, by the command that writes them.
func WriteTables(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Tables\n\nGenerated from `core/report/schema.go` by `go test ./core/report -run TestTables -update`. A file has the same columns whatever wrote it,\n" +
		"and a column has the same meaning in every file. Beside each CSV is the same as Parquet. What is not known or not defined is an empty field.\n")
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
			kind, about := DescribeColumn(name)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(about, "|", "\\|"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
