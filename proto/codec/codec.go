// Package codec turns messages of foible.v1 into the checked values of
// core/sweep and back. What a message cannot mean is an error here, so that
// the science never sees it.
package codec

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"foible/core/sweep"
	foiblev1 "foible/proto/foible/v1"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Config reads a sweep's configuration; what is not given has its default.
func Config(m *foiblev1.SweepConfig) (sweep.Config, error) {
	c := sweep.Config{
		Inference: Inference(m.GetInference(), m.GetActionNoiseKind()),
		Fit:       stage(m.GetFit(), sweep.DefaultFit),
		Report:    stage(m.GetReport(), sweep.DefaultReport),
		Bootstrap: sweep.DefaultBootstrap,
		Seed:      m.GetSeed(),
	}
	c.Fit.Runs = max(1, c.Fit.Runs)
	if b := m.GetBootstrap(); b != nil {
		if b.Resamples != nil {
			c.Bootstrap.Resamples = int(b.GetResamples())
		}
		if len(b.GetUnits()) > 0 {
			c.Bootstrap.Units = b.GetUnits()
		}
	}
	for name, model := range m.GetModels() {
		c.Models = append(c.Models, sweep.ModelGrid{Model: name, Axes: axes(model)})
	}
	slices.SortFunc(c.Models, func(a, b sweep.ModelGrid) int { return cmp.Compare(a.Model, b.Model) })
	_, err := c.ParameterSets()
	return c, err
}

// stage reads a stage; without particles it has the default's.
func stage(m *foiblev1.StageConfig, s sweep.Stage) sweep.Stage {
	if m == nil {
		return s
	}
	s.Runs = int(m.GetRuns())
	if n := m.GetParticlesPerGoal(); n > 0 {
		s.ParticlesPerGoal = int(n)
	}
	return s
}

// Inference reads how minds are inferred; what is not given has its default.
func Inference(m *foiblev1.InferenceConfig, actionNoiseKind string) sweep.Inference {
	in := sweep.DefaultInference
	for to, from := range map[*string]string{
		&in.Method: m.GetMethod(), &in.Observe: m.GetObserve(), &in.Filters: m.GetFilters(), &in.Resample: m.GetResample(),
		&in.ResampleKind: m.GetResampleKind(), &in.Rejuvenate: m.GetRejuvenate(), &in.ActionNoiseKind: actionNoiseKind,
	} {
		if from != "" {
			*to = from
		}
	}
	if m != nil && m.ResampleThreshold != nil {
		in.ResampleThreshold = m.GetResampleThreshold()
	}
	return in
}

// InferJob is the message of a job's cells.
func InferJob(stimulus string, p sweep.Procedure, sets []sweep.ParameterSet) *foiblev1.InferJob {
	m := &foiblev1.InferJob{
		Stimulus: stimulus,
		Stage:    p.StageName,
		Size:     &foiblev1.StageConfig{Runs: int32(p.Runs), ParticlesPerGoal: int32(p.ParticlesPerGoal)},
		Inference: &foiblev1.InferenceConfig{
			Method: p.Method, Observe: p.Observe, Filters: p.Filters, Resample: p.Resample,
			ResampleThreshold: &p.ResampleThreshold, ResampleKind: p.ResampleKind, Rejuvenate: p.Rejuvenate,
		},
		ActionNoiseKind: p.ActionNoiseKind,
	}
	for i := range sets {
		m.ParameterSets = append(m.ParameterSets, ParameterSet(&sets[i]))
	}
	return m
}

// ReadInferJob is what a message asks for.
func ReadInferJob(m *foiblev1.InferJob) (p sweep.Procedure, sets []sweep.ParameterSet, err error) {
	p = sweep.Procedure{
		StageName: m.GetStage(),
		Stage:     sweep.Stage{Runs: int(m.GetSize().GetRuns()), ParticlesPerGoal: int(m.GetSize().GetParticlesPerGoal())},
		Inference: Inference(m.GetInference(), m.GetActionNoiseKind()),
	}
	for _, set := range m.GetParameterSets() {
		s, err := ReadParameterSet(set)
		if err != nil {
			return p, nil, err
		}
		sets = append(sets, s)
	}
	return p, sets, nil
}

// axes lists the axes that a message names. A field of ModelConfig is an axis of the same name.
func axes(m *foiblev1.ModelConfig) map[string][]sweep.Setting {
	all := map[string][]sweep.Setting{}
	if m == nil {
		return all
	}
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		list := r.Get(field).List()
		for j := range list.Len() {
			all[field.TextName()] = append(all[field.TextName()], setting(list.Get(j)))
		}
	}
	return all
}

// Bootstrap is the message of a bootstrap.
func Bootstrap(b sweep.Bootstrap) *foiblev1.BootstrapConfig {
	resamples := int32(b.Resamples)
	return &foiblev1.BootstrapConfig{Resamples: &resamples, Units: b.Units}
}

// ReadBootstrap is the bootstrap of a message.
func ReadBootstrap(m *foiblev1.BootstrapConfig) sweep.Bootstrap {
	return sweep.Bootstrap{Resamples: int(m.GetResamples()), Units: m.GetUnits()}
}

// ParameterSet is the message of a parameter set: the model's own axes and no
// other. A field is an axis of the same name.
func ParameterSet(s *sweep.ParameterSet) *foiblev1.ParameterSet {
	m := &foiblev1.ParameterSet{Model: s.Model}
	r := m.ProtoReflect()
	for _, axis := range sweep.Axes {
		v, ok := s.Get(axis.Name)
		if !ok {
			continue
		}
		field := r.Descriptor().Fields().ByTextName(axis.Name)
		switch field.Kind() {
		case protoreflect.StringKind:
			r.Set(field, protoreflect.ValueOfString(v.Word))
		case protoreflect.Int32Kind:
			r.Set(field, protoreflect.ValueOfInt32(int32(v.Number)))
		default:
			r.Set(field, protoreflect.ValueOfFloat64(v.Number))
		}
	}
	return m
}

// ReadParameterSet is the parameter set of a message, which must have every
// axis of its model and no other, in range.
func ReadParameterSet(m *foiblev1.ParameterSet) (sweep.ParameterSet, error) {
	model, ok := sweep.ModelByName(m.GetModel())
	if !ok {
		return sweep.ParameterSet{}, fmt.Errorf("unknown model %q", m.GetModel())
	}
	set := sweep.ParameterSet{Model: model.Name}
	r := m.ProtoReflect()
	for _, axis := range sweep.Axes {
		field := r.Descriptor().Fields().ByTextName(axis.Name)
		switch given, has := r.Has(field), model.Has(axis.Name); {
		case given && !has:
			return set, fmt.Errorf("model %q has no axis %q", model.Name, axis.Name)
		case !given && has:
			return set, fmt.Errorf("a parameter set of %s without %s", model.Name, axis.Name)
		case given:
			v := setting(r.Get(field))
			if err := axis.Check(v); err != nil {
				return set, fmt.Errorf("model %q: %w", model.Name, err)
			}
			if v.Number == 0 {
				v.Number = 0 // -0 and 0 are one point
			}
			set.Set(axis.Name, v)
		}
	}
	return set, nil
}

func setting(v protoreflect.Value) sweep.Setting {
	switch v := v.Interface().(type) {
	case float64:
		return sweep.Setting{Number: v}
	case int32:
		return sweep.Setting{Number: float64(v)}
	case string:
		return sweep.Setting{Word: v}
	}
	panic(fmt.Sprintf("codec: no setting of %T", v.Interface()))
}

// Shapes reads the stimuli of a sweep.
func Shapes(ms []*foiblev1.StimulusShape) []sweep.Shape {
	shapes := make([]sweep.Shape, len(ms))
	for i, m := range ms {
		shapes[i] = sweep.Shape{Stimulus: m.GetStimulus(), Goals: int(m.GetGoals()), Actions: int(m.GetActions())}
		for _, step := range m.GetJudgementSteps() {
			shapes[i].JudgementSteps = append(shapes[i].JudgementSteps, int(step))
		}
	}
	return shapes
}

// Cell is the message of a cell's numbers; the caller adds what it answers.
func Cell(c *sweep.Cell) *foiblev1.Cell {
	m := &foiblev1.Cell{}
	for _, row := range c.Posterior {
		m.Posterior = append(m.Posterior, row...)
	}
	if u := c.Undefined; u != nil {
		m.Undefined = &foiblev1.Undefined{Step: int32(u.Step), Reason: u.Reason}
	}
	for _, step := range c.UnreachableFrom {
		m.UnreachableFrom = append(m.UnreachableFrom, int32(step))
	}
	for _, row := range c.SE {
		m.PosteriorSe = append(m.PosteriorSe, row...)
	}
	m.Runs = flat(c.Runs)
	m.Ess, m.Alive, m.Evidence, m.FailedRuns = c.ESS, c.Alive, c.Evidence, int32(c.FailedRuns)
	return m
}

// flat lays the rows of runs end to end.
func flat(runs [][][]float64) []float64 {
	var out []float64
	for _, run := range runs {
		for _, row := range run {
			out = append(out, row...)
		}
	}
	return out
}

// readRuns takes runs of so many rows apart.
func readRuns(xs []float64, rows, goals int) ([][][]float64, error) {
	if len(xs) == 0 {
		return nil, nil
	}
	if rows == 0 || len(xs)%(rows*goals) != 0 {
		return nil, fmt.Errorf("%d probabilities of runs, of %d steps and %d goals each", len(xs), rows, goals)
	}
	var runs [][][]float64
	for one := range slices.Chunk(xs, rows*goals) {
		run := slices.Collect(slices.Chunk(one, goals))
		for _, row := range run {
			if err := distribution(row); err != nil {
				return nil, err
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// finite checks numbers that may be anything else.
func finite(lists ...[]float64) error {
	for _, xs := range lists {
		for _, x := range xs {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("a number is %v", x)
			}
		}
	}
	return nil
}

// ReadCell is the cell of a message, which must fit the stimulus: a
// distribution at every step, or up to a named outcome.
func ReadCell(m *foiblev1.Cell, shape *sweep.Shape) (sweep.Cell, error) {
	var c sweep.Cell
	steps := shape.Actions + 1
	if u := m.GetUndefined(); u != nil {
		if u.GetStep() < 0 || int(u.GetStep()) >= steps || u.GetReason() == "" {
			return c, fmt.Errorf("stimulus %s: undefined from step %d of %d", shape.Stimulus, u.GetStep(), shape.Actions)
		}
		steps = int(u.GetStep())
		c.Undefined = &sweep.Undefined{Step: int(u.GetStep()), Reason: u.GetReason()}
	}
	if len(m.GetPosterior()) != steps*shape.Goals {
		return c, fmt.Errorf("stimulus %s: %d probabilities, want %d steps of %d goals", shape.Stimulus, len(m.GetPosterior()), steps, shape.Goals)
	}
	c.Posterior = make([][]float64, steps)
	for k := range c.Posterior {
		c.Posterior[k] = m.GetPosterior()[k*shape.Goals : (k+1)*shape.Goals]
		if err := distribution(c.Posterior[k]); err != nil {
			return c, fmt.Errorf("stimulus %s, step %d: %w", shape.Stimulus, k, err)
		}
	}
	for _, step := range m.GetUnreachableFrom() {
		if step < -1 || int(step) > shape.Actions {
			return c, fmt.Errorf("stimulus %s: a goal unreachable from step %d of %d", shape.Stimulus, step, shape.Actions)
		}
		c.UnreachableFrom = append(c.UnreachableFrom, int(step))
	}
	if n := len(c.UnreachableFrom); n != 0 && n != shape.Goals {
		return c, fmt.Errorf("stimulus %s: reachability of %d goals, want %d", shape.Stimulus, n, shape.Goals)
	}
	if err := readSampled(m, shape, &c); err != nil {
		return c, fmt.Errorf("stimulus %s: %w", shape.Stimulus, err)
	}
	return c, nil
}

// readSampled reads what a cell of several runs has besides.
func readSampled(m *foiblev1.Cell, shape *sweep.Shape, c *sweep.Cell) error {
	steps := len(c.Posterior)
	if err := finite(m.GetPosteriorSe(), m.GetEss(), m.GetAlive(), m.GetEvidence()); err != nil {
		return err
	}
	if n := len(m.GetPosteriorSe()); n != 0 {
		if n != steps*shape.Goals {
			return fmt.Errorf("%d standard errors, want %d steps of %d goals", n, steps, shape.Goals)
		}
		if se := slices.Min(m.GetPosteriorSe()); se < 0 {
			return fmt.Errorf("a standard error of %v", se)
		}
		c.SE = slices.Collect(slices.Chunk(m.GetPosteriorSe(), shape.Goals))
	}
	filter := [][]float64{m.GetEss(), m.GetAlive(), m.GetEvidence()}
	sampled := slices.ContainsFunc(filter, func(xs []float64) bool { return len(xs) > 0 }) // not of exact models
	for _, xs := range filter {
		if sampled && len(xs) != steps {
			return fmt.Errorf("%d steps of a filter, want %d", len(xs), steps)
		}
	}
	for _, x := range slices.Concat(m.GetEss(), m.GetAlive()) {
		if x < 0 {
			return fmt.Errorf("an effective sample size or number of goals of %v", x)
		}
	}
	if n := m.GetFailedRuns(); n < 0 {
		return fmt.Errorf("%d failed runs", n)
	}
	judged := 0
	for _, step := range shape.JudgementSteps {
		if step < steps {
			judged++
		}
	}
	var err error
	if c.Runs, err = readRuns(m.GetRuns(), judged, shape.Goals); err != nil {
		return err
	}
	c.ESS, c.Alive, c.Evidence, c.FailedRuns = m.GetEss(), m.GetAlive(), m.GetEvidence(), int(m.GetFailedRuns())
	return nil
}

// distribution checks probabilities that must sum to 1.
func distribution(row []float64) error {
	var sum float64
	for _, p := range row {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("probability %v", p)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("probabilities sum to %v", sum)
	}
	return nil
}

// Fit is the message of a fit's numbers; the caller adds what it answers.
func Fit(f *sweep.Fit) *foiblev1.Fit {
	m := &foiblev1.Fit{Overall: correlation(&f.Overall), Undefined: int32(f.Undefined), McSe: f.MCSE}
	for i := range f.ByCategory {
		m.ByCategory = append(m.ByCategory, correlation(&f.ByCategory[i]))
	}
	for i := range f.ByStimulus {
		m.ByStimulus = append(m.ByStimulus, correlation(&f.ByStimulus[i]))
	}
	for _, in := range f.Intervals {
		m.Intervals = append(m.Intervals, &foiblev1.Interval{Unit: in.Unit, Low: in.Low, High: in.High, Resamples: int32(in.Resamples)})
	}
	return m
}

func correlation(c *sweep.Correlation) *foiblev1.Correlation {
	m := &foiblev1.Correlation{Group: c.Group, N: int32(c.N)}
	if c.Defined {
		m.PearsonR = &c.PearsonR
	}
	if c.N > 0 {
		m.Rmse = &c.RMSE
	}
	return m
}

// ReadFit is the fit of a message.
func ReadFit(m *foiblev1.Fit) (sweep.Fit, error) {
	f := sweep.Fit{Undefined: int(m.GetUndefined()), MCSE: m.GetMcSe()}
	if m.GetOverall() == nil || f.Undefined < 0 {
		return f, fmt.Errorf("a fit without a correlation, or with %d undefined stimuli", f.Undefined)
	}
	if !(f.MCSE >= 0 && f.MCSE <= 2) {
		return f, fmt.Errorf("a Monte-Carlo error of %v", f.MCSE)
	}
	var err error
	if f.Overall, err = readCorrelation(m.GetOverall()); err != nil {
		return f, err
	}
	if f.ByCategory, err = readCorrelations(m.GetByCategory()); err != nil {
		return f, err
	}
	if f.ByStimulus, err = readCorrelations(m.GetByStimulus()); err != nil {
		return f, err
	}
	for _, in := range m.GetIntervals() {
		if !(in.GetLow() >= -1-1e-9 && in.GetHigh() <= 1+1e-9 && in.GetLow() <= in.GetHigh()) {
			return f, fmt.Errorf("interval by %s from %v to %v", in.GetUnit(), in.GetLow(), in.GetHigh())
		}
		f.Intervals = append(f.Intervals, sweep.Interval{Unit: in.GetUnit(), Low: in.GetLow(), High: in.GetHigh(), Resamples: int(in.GetResamples())})
	}
	return f, nil
}

func readCorrelations(ms []*foiblev1.Correlation) ([]sweep.Correlation, error) {
	var out []sweep.Correlation
	for _, m := range ms {
		c, err := readCorrelation(m)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func readCorrelation(m *foiblev1.Correlation) (sweep.Correlation, error) {
	c := sweep.Correlation{Group: m.GetGroup(), N: int(m.GetN()), Defined: m.PearsonR != nil}
	if c.N < 0 || c.N < 2 && c.Defined {
		return c, fmt.Errorf("%s: a correlation of %d points", c.Group, c.N)
	}
	if c.Defined {
		if c.PearsonR = m.GetPearsonR(); !(math.Abs(c.PearsonR) <= 1+1e-9) {
			return c, fmt.Errorf("%s: r is %v", c.Group, c.PearsonR)
		}
	}
	if c.N > 0 {
		if c.RMSE = m.GetRmse(); !(c.RMSE >= 0 && c.RMSE <= 1+1e-9) {
			return c, fmt.Errorf("%s: rmse is %v", c.Group, c.RMSE)
		}
	}
	return c, nil
}

// Predictions are the messages of what a parameter set says at the judgement steps.
func Predictions(ps []sweep.Prediction) []*foiblev1.Predictions {
	ms := make([]*foiblev1.Predictions, len(ps))
	for i, p := range ps {
		ms[i] = &foiblev1.Predictions{Undefined: p.Undefined, Runs: flat(p.Runs)}
		for _, row := range p.Rows {
			ms[i].Posterior = append(ms[i].Posterior, row...)
		}
	}
	return ms
}

// ReadPredictions are the predictions of messages; goals has the number of goals of each stimulus.
func ReadPredictions(ms []*foiblev1.Predictions, goals []int) ([]sweep.Prediction, error) {
	if len(ms) != len(goals) {
		return nil, fmt.Errorf("predictions of %d stimuli, want %d", len(ms), len(goals))
	}
	ps := make([]sweep.Prediction, len(ms))
	for i, m := range ms {
		if goals[i] < 1 || len(m.GetPosterior())%goals[i] != 0 {
			return nil, fmt.Errorf("%d predictions for %d goals", len(m.GetPosterior()), goals[i])
		}
		ps[i].Undefined = m.GetUndefined()
		for row := range slices.Chunk(m.GetPosterior(), goals[i]) {
			if err := distribution(row); err != nil {
				return nil, fmt.Errorf("stimulus %d: %w", i+1, err)
			}
			ps[i].Rows = append(ps[i].Rows, row)
		}
		var err error
		if ps[i].Runs, err = readRuns(m.GetRuns(), len(ps[i].Rows), goals[i]); err != nil {
			return nil, fmt.Errorf("stimulus %d: %w", i+1, err)
		}
	}
	return ps, nil
}

// Outcome is what a recorded result says of its job.
func Outcome(m *foiblev1.JobResult, plan *sweep.Plan, number int) (sweep.Outcome, error) {
	var o sweep.Outcome
	if number < 0 || number >= plan.Jobs() {
		return o, fmt.Errorf("job %d of %d", number, plan.Jobs())
	}
	shape := &plan.Stimuli[plan.Job(number).Stimulus]
	for _, m := range m.GetInfer().GetCells() {
		cell, err := ReadCell(m, shape)
		if err != nil {
			return o, err
		}
		o.Cells = append(o.Cells, cell)
	}
	for _, m := range m.GetScore().GetFits() {
		fit, err := ReadFit(m)
		if err != nil {
			return o, err
		}
		o.Fits = append(o.Fits, fit)
	}
	o.Failure = m.GetFailure().GetReason()
	return o, nil
}
