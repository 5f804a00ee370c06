// Package sweep says what a sweep is: a grid of parameter sets for each model,
// split into jobs of cells, and gathered again into fits by a pure fold.
// Read [Config] and [Plan] first. It starts nothing and sends nothing; a
// coordinator does, and everything here gives it the same answer on every machine.
package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/words"
)

// Config is a sweep as asked for.
type Config struct {
	Models    []ModelGrid // in the order of [model.Models]
	Inference Inference   // of models that are not exact
	Fit       Stage       // runs by which parameters are chosen
	Report    Stage       // runs of each model's best parameters, with other seeds; no runs: no such stage
	TopUp     int         // most times the runs of the fit stage, for contenders; below 2: they get no more
	Bootstrap Bootstrap
	Seed      uint64
}

// Stage says how much is computed for a cell of a model that is not exact.
type Stage struct {
	Runs             int // independent runs of sips, averaged; independent batches of samples of marginal inference
	ParticlesPerGoal int // of a run of sips; 0 for marginal inference, which has none
}

// Names of stages.
const (
	FitStage    = "fit"
	TopUpStage  = "top_up" // more runs, of the fit stage's seeds, of contenders
	ReportStage = "report"
)

// MaxRuns bounds the runs of a cell.
const MaxRuns = 100_000

// Methods of inference.
const (
	// Marginal inference sums over what an agent may have in mind, given the
	// observed states; only the outcomes of searches are sampled.
	Marginal = "marginal"
	// SIPS is Sequential Inverse Plan Search, the published particle filter.
	SIPS = "sips"
)

// Inference is how an observer infers the mind of an agent that is not exact.
type Inference struct {
	Method          string // marginal, sips
	Observe         string // noisy, exact; marginal inference is exact
	ActionNoiseKind string // total, per_action_odds

	// Of sips:
	Filters           string  // joint, per_goal
	Resample          string  // ess, always, never
	ResampleThreshold float64 // of the effective sample size, as a part of the particles
	ResampleKind      string  // residual, systematic, multinomial
	Rejuvenate        string  // none, replan, goal, mixed

	// Of marginal inference, which samples until both are met:
	MCSE        float64 // target for the Monte-Carlo standard error of r
	PosteriorSE float64 // target for the standard error of each probability at a judgement step
}

// The paper's inference and stages, but for ActionNoiseKind, which is as the
// paper says and not as its code does.
var (
	PaperInference = Inference{
		Method: SIPS, Observe: "noisy", Filters: "joint",
		Resample: "ess", ResampleThreshold: 0.25, ResampleKind: "residual", Rejuvenate: "none",
		ActionNoiseKind: "total",
	}
	PaperFit    = Stage{Runs: 5, ParticlesPerGoal: 60}
	PaperReport = Stage{Runs: 10, ParticlesPerGoal: 100}
)

// Marginal inference, and its stages.
var (
	MarginalInference = Inference{Method: Marginal, Observe: "exact", ActionNoiseKind: "total", MCSE: 0.002, PosteriorSE: 0.01}
	MarginalFit       = Stage{Runs: 4}
	MarginalReport    = Stage{Runs: 4}
)

// DefaultsOf are the inference and the stages of a method where a sweep says no
// more; "" is the default method, marginal.
func DefaultsOf(method string) (in Inference, fit, report Stage) {
	if method == SIPS {
		return PaperInference, PaperFit, PaperReport
	}
	return MarginalInference, MarginalFit, MarginalReport
}

// String is the canonical form, without what does not apply to the method.
func (in Inference) String() string {
	if in.Method == Marginal {
		return fmt.Sprintf("{Method:%s Observe:%s ActionNoiseKind:%s MCSE:%v PosteriorSE:%v}", in.Method, in.Observe, in.ActionNoiseKind, in.MCSE, in.PosteriorSE)
	}
	return fmt.Sprintf("{Method:%s Observe:%s Filters:%s Resample:%s ResampleThreshold:%v ResampleKind:%s Rejuvenate:%s ActionNoiseKind:%s}",
		in.Method, in.Observe, in.Filters, in.Resample, in.ResampleThreshold, in.ResampleKind, in.Rejuvenate, in.ActionNoiseKind)
}

// Details of a cell.
const (
	DetailJudged   = "judged"   // only posteriors at the judgement steps
	DetailSteps    = "steps"    // posteriors at every step
	DetailMistakes = "mistakes" // posteriors at every step, and those of mistakes where the method has them
)

// MaxDetailedCells bounds the cells of a sweep that keeps every step.
const MaxDetailedCells = 20_000

// In a larger sweep by marginal inference, probes (fixed parameter sets) set how many samples sets like them get.
// If the errors of a set are still more than ClearlyUnsure times the target, more samples bring them down to UnsureTo
// times the target.
const (
	ClearlyUnsure = 3
	UnsureTo      = 2
)

// Procedure is how cells are computed, besides their parameters.
type Procedure struct {
	StageName string // fit, report
	Stage
	Inference
	Detail string // judged, steps, mistakes
}

// Procedure of a stage of a sweep that is small enough for details; see
// [Plan.Procedure].
func (c *Config) Procedure(stage string) Procedure {
	p := Procedure{StageName: stage, Stage: c.Fit, Inference: c.Inference, Detail: DetailSteps}
	if stage == ReportStage {
		p.Stage = c.Report
		if c.Inference.Method == Marginal {
			p.Detail = DetailMistakes
		}
	}
	return p
}

// ProcedureOf a round: that of the fit stage, or of the report. A cell that is topped up
// is what it would be in a fit stage with that many times the runs.
func (p *Plan) ProcedureOf(c *Config, round int) Procedure {
	if round > p.TopUps() {
		return p.Procedure(c, ReportStage)
	}
	return p.Procedure(c, FitStage).times(p.Times(round))
}

// Procedure of the fit stage or the report: of a sweep of more than MaxDetailedCells,
// parameters are chosen by the posteriors at judgement steps only.
func (p *Plan) Procedure(c *Config, stage string) Procedure {
	procedure := c.Procedure(stage)
	if stage == FitStage && !p.Detailed() {
		procedure.Detail = DetailJudged
	}
	return procedure
}

// BootstrapOf a stage: where there is a report, what is before it in a sweep of more
// than MaxDetailedCells has no intervals.
func (p *Plan) BootstrapOf(c *Config, stage string) Bootstrap {
	b := c.Bootstrap
	if stage != ReportStage && p.Report && !p.Detailed() {
		b.Resamples = 0
	}
	return b
}

// String is the canonical form: equal strings, equal procedures.
func (p Procedure) String() string {
	size := fmt.Sprintf("runs=%d", p.Runs)
	if p.Method != Marginal {
		size += fmt.Sprintf(" particles_per_goal=%d", p.ParticlesPerGoal)
	}
	detail := ""
	if p.Detail != DetailSteps {
		detail = " detail=" + p.Detail
	}
	return fmt.Sprintf("%s %s %s%s", p.StageName, size, p.Inference, detail)
}

// ModelGrid lists the values of a model's axes; an axis not in it has its default.
type ModelGrid struct {
	Model string
	Axes  map[string][]model.Setting
}

// Bootstrap says how intervals of r are made.
type Bootstrap struct {
	Resamples int      // 0: no intervals
	Units     []string // participants, stimuli, both; the first that the data allow is the main one
}

// DefaultBootstrap is the paper's number of resamples, by every unit.
var DefaultBootstrap = Bootstrap{Resamples: 500, Units: []string{"participants", "stimuli", "both"}}

// MaxParameterSets bounds a sweep's grid.
const MaxParameterSets = 1 << 22

// Resolved is a configuration with the parameter sets that it asks for. It is made once, where a configuration comes
// from, and given on from there.
type Resolved struct {
	Config
	Sets []model.ParameterSet // see [Config.ParameterSets]
}

// Resolve checks a configuration and expands its grids. The error names model and axis.
func (c Config) Resolve() (*Resolved, error) {
	sets, err := c.ParameterSets()
	if err != nil {
		return nil, err
	}
	return &Resolved{Config: c, Sets: sets}, nil
}

// ParameterSets expands the grids: models in the order of [model.Models], their axes
// with the costliest slowest. Equal values of an axis are
// one point, kept where the first stands. The error names model and axis.
func (c *Config) ParameterSets() ([]model.ParameterSet, error) {
	grids := slices.Clone(c.Models)
	rank := func(name string) int {
		return slices.IndexFunc(model.Models, func(m model.Model) bool { return m.Name == name })
	}
	slices.SortStableFunc(grids, func(a, b ModelGrid) int { return rank(a.Model) - rank(b.Model) })

	var sets []model.ParameterSet
	for i, grid := range grids {
		m, ok := model.ByName(grid.Model)
		if !ok {
			return nil, fmt.Errorf("unknown model %q; there are %s", grid.Model, words.Options(grid.Model, model.Names()))
		}
		if i > 0 && grids[i-1].Model == grid.Model {
			return nil, fmt.Errorf("model %q is there twice", grid.Model)
		}
		expanded, err := expand(m, grid)
		if err != nil {
			return nil, err
		}
		if sets = append(sets, expanded...); len(sets) > MaxParameterSets {
			return nil, tooMany(len(sets))
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no model to sweep; there are %s", strings.Join(model.Names(), ", "))
	}
	return sets, nil
}

// MostSets bounds the number of parameter sets of a grid without making them: values that stand there twice count twice.
// It is 0 for an unknown model.
func (g *ModelGrid) MostSets() int {
	m, ok := model.ByName(g.Model)
	if !ok {
		return 0
	}
	n := 1.0
	for _, name := range m.Axes {
		axis, _ := model.AxisByName(name)
		n *= float64(max(1, cmp.Or(len(g.Axes[name]), len(axis.Default))))
	}
	return int(min(n, math.MaxInt32))
}

func tooMany(n int) error {
	return fmt.Errorf("%s are more than a sweep's %s; leave out some values", words.Count(n, "parameter set"), words.Thousands(MaxParameterSets))
}

func expand(m model.Model, grid ModelGrid) ([]model.ParameterSet, error) {
	for _, name := range slices.Sorted(maps.Keys(grid.Axes)) {
		if !slices.Contains(m.Axes, name) {
			return nil, fmt.Errorf("model %q has no axis %q; it has %s", m.Name, name, words.Options(name, m.Axes))
		}
	}
	sets := []model.ParameterSet{{Model: m.Name}}
	for _, name := range slowest(m.Axes) {
		axis, _ := model.AxisByName(name)
		values := grid.Axes[name]
		if len(values) == 0 {
			values = axis.Default
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("model %q needs values of %q", m.Name, name)
		}
		points, err := axis.Points(values)
		if err != nil {
			return nil, fmt.Errorf("model %q: %w", m.Name, err)
		}
		if len(sets)*len(points) > MaxParameterSets {
			return nil, tooMany(len(sets) * len(points))
		}
		next := make([]model.ParameterSet, 0, len(sets)*len(points))
		for _, set := range sets {
			for _, point := range points {
				set.Set(name, point)
				next = append(next, set)
			}
		}
		sets = next
	}
	return sets, nil
}

// slowest orders axes by what it costs to change their value: samples of
// searches depend on search_noise, what is made of these on the budget, and the
// rest is cheap.
func slowest(axes []string) []string {
	cost := []string{"goal_noise", "action_noise", "budget_q", "budget_r", "search_noise"} // the last costs most
	ordered := slices.Clone(axes)
	slices.SortStableFunc(ordered, func(a, b string) int { return slices.Index(cost, b) - slices.Index(cost, a) })
	return ordered
}
