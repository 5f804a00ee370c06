// Package codec turns messages of foible.v1 into the checked values of
// core/sweep and back. What a message cannot mean is an error here, so that
// the science never sees it.
package codec

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Config reads a sweep's configuration, with its parameter sets; what is not given has its default. An
// option that does not apply is an [OptionError].
func Config(m *foiblev1.SweepConfig) (*sweep.Resolved, error) {
	_, fit, report := sweep.DefaultsOf(m.GetInference().GetMethod())
	c := sweep.Config{
		Inference: Inference(m.GetInference(), m.GetActionNoiseKind()),
		Fit:       stage(m.GetFit(), fit),
		Report:    stage(m.GetReport(), report),
		Bootstrap: sweep.DefaultBootstrap,
		TopUp:     int(m.GetTopUp()),
		Seed:      m.GetSeed(),
	}
	if c.Fit.Runs == 0 {
		c.Fit.Runs = 1
		if c.Inference.Method == sweep.Marginal {
			c.Fit.Runs = fit.Runs
		}
	}
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
	if err := checkOptions(m, c.Inference.Method); err != nil {
		return nil, err
	}
	if err := checkTopUp(&c); err != nil {
		return nil, err
	}
	return c.Resolve()
}

// MostSettings bounds the number of parameter sets of a sweep, without making them.
func MostSettings(m *foiblev1.SweepConfig) int {
	n := 0
	for name, model := range m.GetModels() {
		grid := sweep.ModelGrid{Model: name, Axes: axes(model)}
		n += grid.MostSets()
	}
	return n
}

// OptionError is an option of a sweep that does not go with the method of inference.
type OptionError struct {
	Path    []string // keys of the option, from the top
	Message string
}

func (e *OptionError) Error() string { return e.Message }

// checkOptions finds the first option that does not apply to a method.
func checkOptions(m *foiblev1.SweepConfig, method string) error {
	inference := m.GetInference().ProtoReflect()
	var others []string // options of the other method
	other := sweep.Marginal
	switch method {
	case sweep.Marginal:
		other = sweep.SIPS
		others = []string{"filters", "resample", "resample_threshold", "resample_kind", "rejuvenate"}
		if m.GetInference().GetObserve() == "noisy" {
			return &OptionError{[]string{"inference", "observe"}, "marginal inference takes the observed states as known: observe is exact; leave it out, or choose the method sips"}
		}
	default:
		others = []string{"mc_se", "posterior_se"}
	}
	for _, name := range others {
		if inference.IsValid() && inference.Has(inference.Descriptor().Fields().ByTextName(name)) {
			return &OptionError{[]string{"inference", name}, fmt.Sprintf("%s does not apply to the method %s; leave it out, or choose the method %s", name, method, other)}
		}
	}
	if method != sweep.Marginal {
		return nil
	}
	for i, name := range []string{sweep.FitStage, sweep.ReportStage} {
		stage := []*foiblev1.StageConfig{m.GetFit(), m.GetReport()}[i]
		switch {
		case stage.GetParticlesPerGoal() > 0:
			return &OptionError{[]string{name, "particles_per_goal"}, "marginal inference has no particles; leave particles_per_goal out, or choose the method sips"}
		case stage.GetRuns() == 1:
			return &OptionError{[]string{name, "runs"}, "marginal inference needs 2 runs at least, to know its error"}
		}
	}
	return nil
}

// checkTopUp says why contenders cannot be topped up.
func checkTopUp(c *sweep.Config) error {
	switch {
	case c.TopUp < 2:
	case c.Fit.Runs < 2:
		return &OptionError{[]string{"top_up"}, "top_up needs 2 runs in the fit stage at least, to know the errors by which contenders are found"}
	case c.Fit.Runs*c.TopUp > sweep.MaxRuns:
		return &OptionError{[]string{"top_up"}, fmt.Sprintf("top_up of %s times %s is more than the %s that a cell may have", words.Thousands(c.TopUp), words.Count(c.Fit.Runs, "run"), words.Thousands(sweep.MaxRuns))}
	}
	return nil
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
	in, _, _ := sweep.DefaultsOf(m.GetMethod())
	for to, from := range map[*string]string{
		&in.Observe: m.GetObserve(), &in.Filters: m.GetFilters(), &in.Resample: m.GetResample(),
		&in.ResampleKind: m.GetResampleKind(), &in.Rejuvenate: m.GetRejuvenate(), &in.ActionNoiseKind: actionNoiseKind,
	} {
		if from != "" {
			*to = from
		}
	}
	if m == nil {
		return in
	}
	for to, from := range map[*float64]*float64{
		&in.ResampleThreshold: m.ResampleThreshold, &in.MCSE: m.McSe, &in.PosteriorSE: m.PosteriorSe,
	} {
		if from != nil {
			*to = *from
		}
	}
	return in
}

// inferenceMessage is the message of an inference, with what applies to its method.
func inferenceMessage(in sweep.Inference) *foiblev1.InferenceConfig {
	m := &foiblev1.InferenceConfig{Method: in.Method, Observe: in.Observe}
	if in.Method == sweep.Marginal {
		m.McSe, m.PosteriorSe = &in.MCSE, &in.PosteriorSE
		return m
	}
	m.Filters, m.Resample, m.ResampleThreshold = in.Filters, in.Resample, &in.ResampleThreshold
	m.ResampleKind, m.Rejuvenate = in.ResampleKind, in.Rejuvenate
	return m
}

// InferJob is the message of a job's cells.
func InferJob(stimulus string, p sweep.Procedure, sets []model.ParameterSet) *foiblev1.InferJob {
	return &foiblev1.InferJob{
		Stimulus:        stimulus,
		Stage:           p.StageName,
		Size:            &foiblev1.StageConfig{Runs: int32(p.Runs), ParticlesPerGoal: int32(p.ParticlesPerGoal)},
		Inference:       inferenceMessage(p.Inference),
		ActionNoiseKind: p.ActionNoiseKind,
		Detail:          p.Detail,
		Columns:         columns(sets),
	}
}

// ReadInferJob is what a message asks for.
func ReadInferJob(m *foiblev1.InferJob) (p sweep.Procedure, sets []model.ParameterSet, err error) {
	p = sweep.Procedure{
		StageName: m.GetStage(),
		Stage:     sweep.Stage{Runs: int(m.GetSize().GetRuns()), ParticlesPerGoal: int(m.GetSize().GetParticlesPerGoal())},
		Inference: Inference(m.GetInference(), m.GetActionNoiseKind()),
		Detail:    m.GetDetail(),
	}
	for _, of := range m.GetColumns() {
		if sets, err = readColumns(sets, of); err != nil {
			return p, nil, err
		}
	}
	return p, sets, nil
}

// axes lists the axes that a message names. A field of ModelConfig is an axis of the same name.
func axes(m *foiblev1.ModelConfig) map[string][]model.Setting {
	all := map[string][]model.Setting{}
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

// axisField is the field of an axis, which is of one of three kinds: in
// [foiblev1.ParameterSet], and in [foiblev1.ParameterColumns].
type axisField struct {
	axis    string
	number  func(*foiblev1.ParameterSet) **float64
	whole   func(*foiblev1.ParameterSet) **int32
	word    func(*foiblev1.ParameterSet) **string
	numbers func(*foiblev1.ParameterColumns) *[]float64
	wholes  func(*foiblev1.ParameterColumns) *[]int32
	words   func(*foiblev1.ParameterColumns) *[]string
}

// axisFields has every axis. Reflection would do, at ten times the cost, and there are millions of parameter sets.
var axisFields = []axisField{
	{
		axis:    "goal_noise",
		number:  func(m *foiblev1.ParameterSet) **float64 { return &m.GoalNoise },
		numbers: func(m *foiblev1.ParameterColumns) *[]float64 { return &m.GoalNoise },
	},
	{
		axis:   "budget_r",
		whole:  func(m *foiblev1.ParameterSet) **int32 { return &m.BudgetR },
		wholes: func(m *foiblev1.ParameterColumns) *[]int32 { return &m.BudgetR },
	},
	{
		axis:    "budget_q",
		number:  func(m *foiblev1.ParameterSet) **float64 { return &m.BudgetQ },
		numbers: func(m *foiblev1.ParameterColumns) *[]float64 { return &m.BudgetQ },
	},
	{
		axis:    "search_noise",
		number:  func(m *foiblev1.ParameterSet) **float64 { return &m.SearchNoise },
		numbers: func(m *foiblev1.ParameterColumns) *[]float64 { return &m.SearchNoise },
	},
	{
		axis:    "action_noise",
		number:  func(m *foiblev1.ParameterSet) **float64 { return &m.ActionNoise },
		numbers: func(m *foiblev1.ParameterColumns) *[]float64 { return &m.ActionNoise },
	},
	{
		axis:    "alpha",
		number:  func(m *foiblev1.ParameterSet) **float64 { return &m.Alpha },
		numbers: func(m *foiblev1.ParameterColumns) *[]float64 { return &m.Alpha },
	},
	{
		axis:  "value",
		word:  func(m *foiblev1.ParameterSet) **string { return &m.Value },
		words: func(m *foiblev1.ParameterColumns) *[]string { return &m.Value },
	},
	{
		axis:    "unreachable_value",
		number:  func(m *foiblev1.ParameterSet) **float64 { return &m.UnreachableValue },
		numbers: func(m *foiblev1.ParameterColumns) *[]float64 { return &m.UnreachableValue },
	},
}

func (f *axisField) set(m *foiblev1.ParameterSet, v model.Setting) {
	switch {
	case f.number != nil:
		*f.number(m) = &v.Number
	case f.whole != nil:
		whole := int32(v.Number)
		*f.whole(m) = &whole
	default:
		*f.word(m) = &v.Word
	}
}

func (f *axisField) get(m *foiblev1.ParameterSet) (v model.Setting, given bool) {
	if m == nil {
		return v, false
	}
	switch {
	case f.number != nil:
		if x := *f.number(m); x != nil {
			return model.Setting{Number: *x}, true
		}
	case f.whole != nil:
		if x := *f.whole(m); x != nil {
			return model.Setting{Number: float64(*x)}, true
		}
	default:
		if x := *f.word(m); x != nil {
			return model.Setting{Word: *x}, true
		}
	}
	return v, false
}

// ParameterSet is the message of a parameter set: the model's own axes and no other.
func ParameterSet(s *model.ParameterSet) *foiblev1.ParameterSet {
	m := &foiblev1.ParameterSet{Model: s.Model}
	for i := range axisFields {
		if v, ok := s.Get(axisFields[i].axis); ok {
			axisFields[i].set(m, v)
		}
	}
	return m
}

// ReadParameterSet is the parameter set of a message, which must have every
// axis of its model and no other, in range.
func ReadParameterSet(m *foiblev1.ParameterSet) (model.ParameterSet, error) {
	named, ok := model.ByName(m.GetModel())
	if !ok {
		return model.ParameterSet{}, fmt.Errorf("unknown model %q", m.GetModel())
	}
	set := model.ParameterSet{Model: named.Name}
	for i := range axisFields {
		name := axisFields[i].axis
		v, given := axisFields[i].get(m)
		switch has := named.Has(name); {
		case given && !has:
			return set, fmt.Errorf("model %q has no axis %q", named.Name, name)
		case !given && has:
			return set, fmt.Errorf("a parameter set of %s without %s", named.Name, name)
		case given:
			axis, _ := model.AxisByName(name)
			v, err := read(&axis, v)
			if err != nil {
				return set, fmt.Errorf("model %q: %w", named.Name, err)
			}
			*axis.Of(&set) = v
		}
	}
	return set, nil
}

// columns are the messages of parameter sets: one for those of a model that follow one another.
func columns(sets []model.ParameterSet) (ms []*foiblev1.ParameterColumns) {
	for len(sets) > 0 {
		n := 1
		for n < len(sets) && sets[n].Model == sets[0].Model {
			n++
		}
		m := &foiblev1.ParameterColumns{Model: sets[0].Model}
		for i := range axisFields {
			if axis, ok := model.AxisByName(axisFields[i].axis); ok && sets[0].Has(axis.Name) {
				axisFields[i].fill(m, &axis, sets[:n])
			}
		}
		ms, sets = append(ms, m), sets[n:]
	}
	return ms
}

// fill writes the column of an axis.
func (f *axisField) fill(m *foiblev1.ParameterColumns, axis *model.Axis, sets []model.ParameterSet) {
	switch {
	case f.numbers != nil:
		to := make([]float64, len(sets))
		for i := range sets {
			to[i] = axis.Of(&sets[i]).Number
		}
		*f.numbers(m) = to
	case f.wholes != nil:
		to := make([]int32, len(sets))
		for i := range sets {
			to[i] = int32(axis.Of(&sets[i]).Number)
		}
		*f.wholes(m) = to
	default:
		to := make([]string, len(sets))
		for i := range sets {
			to[i] = axis.Of(&sets[i]).Word
		}
		*f.words(m) = to
	}
}

// size is the length of the column of an axis.
func (f *axisField) size(m *foiblev1.ParameterColumns) int {
	switch {
	case f.numbers != nil:
		return len(*f.numbers(m))
	case f.wholes != nil:
		return len(*f.wholes(m))
	default:
		return len(*f.words(m))
	}
}

// at is a value of the column of an axis.
func (f *axisField) at(m *foiblev1.ParameterColumns, i int) model.Setting {
	switch {
	case f.numbers != nil:
		return model.Setting{Number: (*f.numbers(m))[i]}
	case f.wholes != nil:
		return model.Setting{Number: float64((*f.wholes(m))[i])}
	default:
		return model.Setting{Word: (*f.words(m))[i]}
	}
}

// columnsSize is the number of parameter sets of a message, if it is well-formed.
func columnsSize(m *foiblev1.ParameterColumns) (n int) {
	for i := range axisFields {
		n = max(n, axisFields[i].size(m))
	}
	return n
}

// InferJobSize is the number of cells that a message asks for.
func InferJobSize(m *foiblev1.InferJob) (n int) {
	for _, of := range m.GetColumns() {
		n += columnsSize(of)
	}
	return n
}

// readColumns appends the parameter sets of a message, which must have every axis of
// their model and no other, in range.
func readColumns(sets []model.ParameterSet, m *foiblev1.ParameterColumns) ([]model.ParameterSet, error) {
	named, ok := model.ByName(m.GetModel())
	if !ok {
		return nil, fmt.Errorf("unknown model %q", m.GetModel())
	}
	n, first := columnsSize(m), len(sets)
	sets = append(sets, make([]model.ParameterSet, n)...)
	of := sets[first:]
	for i := range of {
		of[i].Model = named.Name
	}
	for i := range axisFields {
		f := &axisFields[i]
		axis, _ := model.AxisByName(f.axis)
		switch size, has := f.size(m), named.Has(f.axis); {
		case size > 0 && !has:
			return nil, fmt.Errorf("model %q has no axis %q", named.Name, f.axis)
		case !has:
			continue
		case size != n:
			return nil, fmt.Errorf("%d parameter sets of %s with %d values of %s", n, named.Name, size, f.axis)
		}
		for j := range of {
			v, err := read(&axis, f.at(m, j))
			if err != nil {
				return nil, fmt.Errorf("model %q: %w", named.Name, err)
			}
			*axis.Of(&of[j]) = v
		}
	}
	return sets, nil
}

// read checks a setting of an axis.
func read(axis *model.Axis, v model.Setting) (model.Setting, error) {
	if v.Number == 0 {
		v.Number = 0 // -0 and 0 are one point
	}
	return v, axis.Check(v)
}

func setting(v protoreflect.Value) model.Setting {
	switch v := v.Interface().(type) {
	case float64:
		return model.Setting{Number: v}
	case int32:
		return model.Setting{Number: float64(v)}
	case string:
		return model.Setting{Word: v}
	}
	panic(fmt.Sprintf("codec: no setting of %T", v.Interface()))
}

// Shapes reads the stimuli of a sweep.
func Shapes(ms []*foiblev1.StimulusShape) []sweep.Shape {
	shapes := make([]sweep.Shape, len(ms))
	for i, m := range ms {
		shapes[i] = sweep.Shape{Stimulus: m.GetStimulus(), Goals: int(m.GetGoals()), Actions: int(m.GetActions()), Points: int(m.GetJudgedPoints())}
		for _, step := range m.GetJudgementSteps() {
			shapes[i].JudgementSteps = append(shapes[i].JudgementSteps, int(step))
		}
	}
	return shapes
}

// Cell is the message of a cell's numbers; the caller adds the hash of what it answers.
func Cell(c *result.Cell) *foiblev1.Cell {
	m := &foiblev1.Cell{
		Judged:    c.Judged,
		Posterior: flat(c.Posterior), PosteriorSe: flat(c.SE), LogEvidence: flat(c.LogEvidence),
		Ess: c.ESS, Alive: c.Alive, Evidence: c.Evidence, FailedRuns: int32(c.FailedRuns),
		Samples: int32(c.Samples), Mistakes: mistakes(c.Mistakes),
	}
	if c.Judged {
		m.ShortRuns = c.Runs.Short()
	} else {
		m.Runs = c.Runs.Numbers()
	}
	if u := c.Undefined; u != nil {
		m.Undefined = undefined(u)
	}
	for _, step := range c.UnreachableFrom {
		m.UnreachableFrom = append(m.UnreachableFrom, int32(step))
	}
	return m
}

func undefined(u *result.Undefined) *foiblev1.Undefined {
	return &foiblev1.Undefined{Step: int32(u.Step), Reason: u.Reason, Failed: u.Failed}
}

// flat lays rows end to end.
func flat(rows [][]float64) []float64 {
	if len(rows) == 0 {
		return nil
	}
	out := make([]float64, 0, len(rows)*len(rows[0]))
	for _, row := range rows {
		out = append(out, row...)
	}
	return out
}

// room is memory for what is read of cells, so that those of a job share few pieces of
// it. Where it does not suffice, more is made.
type room struct {
	rows [][]float64
}

// take cuts n off the front of what is left; nil if that is none.
func take[T any](left *[]T, n int) []T {
	if n == 0 {
		return nil
	}
	out := (*left)[:n:n]
	*left = (*left)[n:]
	return out
}

// chunks cuts a list into rows of n numbers; nil if there are none.
func (r *room) chunks(xs []float64, n int) [][]float64 {
	if len(xs) == 0 {
		return nil
	}
	if len(r.rows) < len(xs)/n {
		r.rows = make([][]float64, len(xs)/n)
	}
	rows := take(&r.rows, len(xs)/n)
	for i := range rows {
		rows[i] = xs[i*n : (i+1)*n : (i+1)*n]
	}
	return rows
}

func mistakes(c *result.Mistakes) *foiblev1.Mistakes {
	if c == nil {
		return nil
	}
	m := &foiblev1.Mistakes{}
	offPath, _ := c.OffPath.Get()
	for _, part := range []struct {
		from  []result.Estimate
		p, se *[]float64
	}{{c.Confused, &m.Confused, &m.ConfusedSe}, {c.Slip, &m.Slip, &m.SlipSe}, {offPath, &m.OffPath, &m.OffPathSe}} {
		for _, e := range part.from {
			*part.p, *part.se = append(*part.p, e.Probability), append(*part.se, e.SE)
		}
	}
	return m
}

// readMistakes are those of a message about a number of actions, or fewer for a cell that is undefined.
func readMistakes(m *foiblev1.Mistakes, actions int, undefined bool) (*result.Mistakes, error) {
	if m == nil {
		return nil, nil
	}
	c := &result.Mistakes{}
	n := len(m.GetConfused())
	if n > actions || n < actions && !undefined {
		return nil, fmt.Errorf("mistakes behind %d actions, want %d", n, actions)
	}
	var err error
	if c.Confused, err = readEstimates(m.GetConfused(), m.GetConfusedSe(), n); err != nil {
		return nil, err
	}
	if c.Slip, err = readEstimates(m.GetSlip(), m.GetSlipSe(), n); err != nil {
		return nil, err
	}
	if n > 0 && len(m.GetOffPath()) == 0 && len(m.GetOffPathSe()) == 0 {
		return c, nil // not known
	}
	offPath, err := readEstimates(m.GetOffPath(), m.GetOffPathSe(), n)
	c.OffPath = optional.Known(offPath)
	return c, err
}

// readEstimates are n probabilities with their standard errors.
func readEstimates(ps, ses []float64, n int) ([]result.Estimate, error) {
	if len(ps) != n || len(ses) != n {
		return nil, fmt.Errorf("mistakes behind %d actions with %d errors, want %d", len(ps), len(ses), n)
	}
	all := make([]result.Estimate, n)
	for i, p := range ps {
		if se := ses[i]; !(p >= 0 && p <= 1) || !(se >= 0) || math.IsInf(se, 1) {
			return nil, fmt.Errorf("a mistake of probability %v, with an error of %v", p, se)
		}
		all[i] = result.Estimate{Probability: p, SE: ses[i]}
	}
	return all, nil
}

// checkRuns says why numbers are not those of runs with a number of rows: distributions, or
// pseudo-values of them.
func checkRuns[T float32 | float64](xs []T, rows, goals int, distributions bool) error {
	if n := len(xs); n > 0 && (rows == 0 || n%(rows*goals) != 0) {
		return fmt.Errorf("%d probabilities of runs, of %d steps and %d goals each", n, rows, goals)
	}
	for at := 0; at < len(xs); at += goals {
		check := shares[T]
		if distributions {
			check = distribution[T]
		}
		if err := check(xs[at : at+goals]); err != nil {
			return err
		}
	}
	return nil
}

// finite checks numbers that may be anything else.
func finite(xs []float64) error {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("a number is %v", x)
		}
	}
	return nil
}

// ReadCell is the cell of a message, which must fit the stimulus: a
// distribution at every step, or judgement step, up to a named outcome.
func ReadCell(m *foiblev1.Cell, shape *sweep.Shape) (result.Cell, error) {
	var c result.Cell
	if err := readCell(m, shape, &room{}, &c); err != nil {
		return c, fmt.Errorf("stimulus %s%w", shape.Stimulus, err)
	}
	return c, nil
}

// readCell returns an error that begins with what comes after the stimulus.
func readCell(m *foiblev1.Cell, shape *sweep.Shape, room *room, c *result.Cell) error {
	c.Judged, c.Samples = m.GetJudged(), int(m.GetSamples())
	steps, err := definedSteps(m.GetUndefined(), shape)
	if err != nil {
		return err
	}
	if u := m.GetUndefined(); u != nil {
		c.Undefined = &result.Undefined{Step: steps, Reason: u.GetReason(), Failed: u.GetFailed()}
	}
	judged := judgedBefore(steps, shape)
	rows := steps
	if c.Judged {
		rows = judged
	}
	if len(m.GetPosterior()) != rows*shape.Goals {
		return fmt.Errorf(": %d probabilities, want %d steps of %d goals", len(m.GetPosterior()), rows, shape.Goals)
	}
	if c.Posterior = room.chunks(m.GetPosterior(), shape.Goals); c.Posterior == nil {
		c.Posterior = [][]float64{}
	}
	for k, row := range c.Posterior {
		if err := distribution(row); err != nil {
			if c.Judged {
				k = shape.JudgementSteps[k]
			}
			return fmt.Errorf(", step %d: %w", k, err)
		}
	}
	for _, step := range m.GetUnreachableFrom() {
		if step < -1 || int(step) > shape.Actions {
			return fmt.Errorf(": a goal unreachable from step %d of %d", step, shape.Actions)
		}
		c.UnreachableFrom = append(c.UnreachableFrom, int(step))
	}
	if n := len(c.UnreachableFrom); n != 0 && n != shape.Goals {
		return fmt.Errorf(": reachability of %d goals, want %d", n, shape.Goals)
	}
	if err := readSampled(m, shape, judged, room, c); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// definedSteps is the number of steps that have a posterior.
func definedSteps(u *foiblev1.Undefined, shape *sweep.Shape) (int, error) {
	steps := shape.Actions + 1
	if u == nil {
		return steps, nil
	}
	if u.GetStep() < 0 || int(u.GetStep()) >= steps || u.GetReason() == "" || u.GetFailed() && u.GetStep() > 0 {
		return 0, fmt.Errorf(": undefined from step %d of %d", u.GetStep(), shape.Actions)
	}
	return int(u.GetStep()), nil
}

// judgedBefore is the number of judgement steps before a step.
func judgedBefore(step int, shape *sweep.Shape) int {
	n := 0
	for n < len(shape.JudgementSteps) && shape.JudgementSteps[n] < step {
		n++
	}
	return n
}

// readSampled reads what the cell of a model that is not exact has besides.
func readSampled(m *foiblev1.Cell, shape *sweep.Shape, judged int, room *room, c *result.Cell) error {
	rows := len(c.Posterior)
	for _, xs := range [][]float64{m.GetPosteriorSe(), m.GetEss(), m.GetAlive(), m.GetEvidence()} {
		if err := finite(xs); err != nil {
			return err
		}
	}
	if n := len(m.GetPosteriorSe()); n != 0 {
		if n != rows*shape.Goals {
			return fmt.Errorf("%d standard errors, want %d steps of %d goals", n, rows, shape.Goals)
		}
		if se := slices.Min(m.GetPosteriorSe()); se < 0 {
			return fmt.Errorf("a standard error of %v", se)
		}
		c.SE = room.chunks(m.GetPosteriorSe(), shape.Goals)
	}
	if err := readFilter(m, rows); err != nil {
		return err
	}
	if n := len(m.GetLogEvidence()); n != 0 {
		if n != rows*shape.Goals {
			return fmt.Errorf("evidence of %d goals, want %d steps of %d goals", n, rows, shape.Goals)
		}
		for _, x := range m.GetLogEvidence() {
			if !(x < math.Inf(1)) {
				return fmt.Errorf("evidence of a goal of %v", x)
			}
		}
		c.LogEvidence = room.chunks(m.GetLogEvidence(), shape.Goals)
	}
	if m.GetSamples() < 0 {
		return fmt.Errorf("%d samples", m.GetSamples())
	}
	var err error
	filtered := len(m.GetEss()) > 0
	if short := m.GetShortRuns(); c.Judged && len(short) > 0 {
		if err = checkRuns(short, judged, shape.Goals, filtered); err == nil {
			c.Runs = result.ShortRuns(short, judged, shape.Goals)
		}
	} else if err = checkRuns(m.GetRuns(), judged, shape.Goals, filtered); err == nil {
		c.Runs = result.NewRuns(m.GetRuns(), judged, shape.Goals)
	}
	if err != nil {
		return err
	}
	c.ESS, c.Alive, c.Evidence, c.FailedRuns = m.GetEss(), m.GetAlive(), m.GetEvidence(), int(m.GetFailedRuns())
	c.Mistakes, err = readMistakes(m.GetMistakes(), shape.Actions, c.Undefined != nil)
	return err
}

// readFilter checks what is said of filters: of sips all, of marginal inference
// only evidence, exact models nothing.
func readFilter(m *foiblev1.Cell, rows int) error {
	sips := len(m.GetEss()) > 0 || len(m.GetAlive()) > 0
	for _, xs := range [][]float64{m.GetEss(), m.GetAlive(), m.GetEvidence()} {
		if n := len(xs); n != rows && (sips || n != 0) {
			return fmt.Errorf("%d steps of a filter, want %d", n, rows)
		}
	}
	for i, x := range m.GetEss() {
		if x = min(x, m.GetAlive()[i]); x < 0 {
			return fmt.Errorf("an effective sample size or number of goals of %v", x)
		}
	}
	if n := m.GetFailedRuns(); n < 0 {
		return fmt.Errorf("%d failed runs", n)
	}
	return nil
}

// distribution checks probabilities that must sum to 1. A sum of weights, or a
// mean over runs, may round to a little more than 1.
func distribution[T float32 | float64](row []T) error {
	for _, p := range row {
		if p := float64(p); !(p >= 0 && p <= 1+1e-9) {
			return fmt.Errorf("probability %v", p)
		}
	}
	return shares(row)
}

// shares checks numbers that must sum to 1, as pseudo-values of probabilities do.
func shares[T float32 | float64](row []T) error {
	var sum, size float64
	for _, p := range row {
		sum += float64(p)
		size += math.Abs(float64(p))
	}
	if !(math.Abs(sum-1) <= 1e-6*size) || math.IsInf(size, 0) { // NaN neither
		return fmt.Errorf("probabilities sum to %v", sum)
	}
	return nil
}

// Fit is the message of a fit's numbers; the caller adds what it answers.
func Fit(f *result.Fit) *foiblev1.Fit {
	m := &foiblev1.Fit{Overall: correlation(&f.Overall), Undefined: int32(f.Undefined), Failed: int32(f.Failed), McSe: f.MCSE, McSeUnknown: f.MCSEUnknown}
	m.ByCategory, m.ByStimulus = correlations(f.ByCategory), correlations(f.ByStimulus)
	for _, in := range f.Intervals {
		m.Intervals = append(m.Intervals, &foiblev1.Interval{Unit: in.Unit, Low: in.Low, High: in.High, Resamples: int32(in.Resamples)})
	}
	return m
}

func correlations(cs []result.Correlation) []*foiblev1.Correlation {
	ms := make([]*foiblev1.Correlation, len(cs))
	for i := range cs {
		ms[i] = correlation(&cs[i])
	}
	return ms
}

func correlation(c *result.Correlation) *foiblev1.Correlation {
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
func ReadFit(m *foiblev1.Fit) (result.Fit, error) {
	f := result.Fit{Undefined: int(m.GetUndefined()), Failed: int(m.GetFailed()), MCSE: m.GetMcSe(), MCSEUnknown: m.GetMcSeUnknown()}
	if m.GetOverall() == nil || f.Failed < 0 || f.Failed > f.Undefined {
		return f, fmt.Errorf("a fit without a correlation, or with %d undefined stimuli and %d failed ones", f.Undefined, f.Failed)
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
		f.Intervals = append(f.Intervals, result.Interval{Unit: in.GetUnit(), Low: in.GetLow(), High: in.GetHigh(), Resamples: int(in.GetResamples())})
	}
	return f, nil
}

func readCorrelations(ms []*foiblev1.Correlation) ([]result.Correlation, error) {
	if len(ms) == 0 {
		return nil, nil
	}
	out := make([]result.Correlation, len(ms))
	for i, m := range ms {
		var err error
		if out[i], err = readCorrelation(m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readCorrelation(m *foiblev1.Correlation) (result.Correlation, error) {
	c := result.Correlation{Group: m.GetGroup(), N: int(m.GetN()), Defined: m.PearsonR != nil}
	if c.N < 0 || c.N < score.FewestPoints && c.Defined {
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
func Predictions(ps []result.Prediction) []*foiblev1.Predictions {
	ms := make([]*foiblev1.Predictions, len(ps))
	for i, p := range ps {
		ms[i] = &foiblev1.Predictions{Undefined: p.Undefined, Failed: p.Failed, Posterior: flat(p.Rows), Runs: p.Runs.Numbers()}
	}
	return ms
}

// ReadPredictions are the predictions of messages; goals has the number of goals of each stimulus.
func ReadPredictions(ms []*foiblev1.Predictions, goals []int) ([]result.Prediction, error) {
	if len(ms) != len(goals) {
		return nil, fmt.Errorf("predictions of %d stimuli, want %d", len(ms), len(goals))
	}
	ps := make([]result.Prediction, len(ms))
	for i, m := range ms {
		if goals[i] < 1 || len(m.GetPosterior())%goals[i] != 0 {
			return nil, fmt.Errorf("%d predictions for %d goals", len(m.GetPosterior()), goals[i])
		}
		ps[i].Undefined, ps[i].Failed = m.GetUndefined(), m.GetFailed()
		if ps[i].Failed && (!ps[i].Undefined || len(m.GetPosterior()) > 0) {
			return nil, fmt.Errorf("stimulus %d: predictions of a cell that failed", i+1)
		}
		ps[i].Rows = (&room{}).chunks(m.GetPosterior(), goals[i])
		for _, row := range ps[i].Rows {
			if err := distribution(row); err != nil {
				return nil, fmt.Errorf("stimulus %d: %w", i+1, err)
			}
		}
		if err := checkRuns(m.GetRuns(), len(ps[i].Rows), goals[i], false); err != nil {
			return nil, fmt.Errorf("stimulus %d: %w", i+1, err)
		}
		ps[i].Runs = result.NewRuns(m.GetRuns(), len(ps[i].Rows), goals[i])
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
	var err error
	if o.Cells, err = ReadCells(m.GetInfer(), shape); err != nil {
		return o, err
	}
	for i := range o.Cells {
		o.Hashes = append(o.Hashes, CellHash(m.GetInfer(), i))
	}
	for _, m := range m.GetScore().GetFits() {
		fit, err := ReadFit(m)
		if err != nil {
			return o, err
		}
		set, err := ReadParameterSet(m.GetParameterSet())
		if err != nil {
			return o, err
		}
		o.Fits, o.Sets = append(o.Fits, fit), append(o.Sets, set)
	}
	o.Failure = m.GetFailure().GetReason()
	return o, nil
}
