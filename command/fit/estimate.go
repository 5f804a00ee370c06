package fit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// EstimateOptions say which sweep to estimate, and how.
type EstimateOptions struct {
	Study   string
	Sweep   input.SweepChoice
	Workers int           // worker slots; 0: one a core
	Pilot   time.Duration // for how long to begin cells
}

// DefaultPilot is how long a pilot takes.
const DefaultPilot = 15 * time.Second

// Estimate runs a few cells of a sweep and prints what all of it will take.
func Estimate(ctx context.Context, term *terminal.Terminal, o EstimateOptions) error {
	workers, err := serve.Slots("--workers", o.Workers)
	if err != nil {
		return err
	}
	if o.Pilot <= 0 {
		return cli.Usagef("--pilot %v: must be a time above 0, such as 10s", o.Pilot)
	}
	s, config, err := input.Prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	c, err := codec.Config(config)
	if err != nil {
		return err
	}
	p, err := newPilot(s, config, workers, o.Pilot)
	if err != nil {
		return err
	}
	x, err := p.Run(ctx)
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	if err != nil {
		return err
	}
	term.Print("%s: %s", s.Name, input.MethodText(config))
	low, high := x.Range()
	if x.TopUpCells > 0 {
		term.Entry("Cells", "%s, and up to %s of contenders, with more runs", words.Thousands(x.Cells), words.Thousands(x.TopUpCells))
	} else {
		term.Entry("Cells", "%s", words.Thousands(x.Cells))
	}
	term.Entry("Jobs", "%s", words.Thousands(x.Jobs))
	term.Entry("Core time", "%s (%s to %s), %s core-hours", follow.Duration(x.Seconds()), follow.Duration(low), follow.Duration(high), hours(x.Seconds()))
	if c.Inference.Method == sweep.Marginal && x.Tables > 0 {
		term.Entry("  shared", "%s, for searches and heuristics that cells share; each worker process makes those that it meets", follow.Duration(x.Tables))
	}
	if x.TopUp > 0 {
		term.Entry("  topping up", "up to %s more, counted only at the upper ends", follow.Duration(x.TopUp))
	}
	expected, least, most := x.Wall(workers)
	term.Entry("Time", "%s (%s to %s) with %s like a core of this machine", follow.Duration(expected), follow.Duration(least), follow.Duration(most), words.Count(workers, "worker slot"))
	printErrors(term, &c.Config, x)
	term.Print("By a pilot of %s on %s of %s, all kinds of them on %s; the tables and figures at the end are not in it.",
		words.Count(x.Measured, "cell"), words.Thousands(x.Seen), words.Count(x.Stimuli, "stimulus"), words.Thousands(x.Full))
	return nil
}

func printErrors(e *terminal.Terminal, c *sweep.Config, x *cost.Estimate) {
	for _, m := range x.Errors {
		var said []string
		for _, of := range []struct {
			stage string
			se    float64
		}{{"fit", m.Fit}, {"report", m.Report}} {
			if of.se > 0 {
				said = append(said, fmt.Sprintf("%.2g in the %s stage", of.se, of.stage))
			}
		}
		e.Print("Expected Monte-Carlo error of r, %s: %s", m.Model, strings.Join(said, ", "))
	}
	if c.Inference.Method == sweep.Marginal && len(x.Errors) > 0 {
		e.Print("It is sampled to %g or below (--mc-se), and to %g in each judged probability (--posterior-se).", c.Inference.MCSE, c.Inference.PosteriorSE)
	}
}

// What fit asks of a sweep before it says how long that will take.
const (
	briefPilot    = 2 * time.Second
	manyCells     = 4000    // fewer take less than a minute, as a rule
	manyParticles = 400_000 // of all runs of a sweep by sips
)

// foretell finds how long a sweep will take here; nil for a small one, or if that cannot be told. It takes a few seconds
// itself, in which the sweep must not run: what else this process does would count.
func foretell(ctx context.Context, s *domains.Study, config *foiblev1.SweepConfig, workers int) *follow.Forecast {
	p, err := newPilot(s, config, workers, briefPilot)
	if err != nil {
		return nil // who runs the sweep says what is wrong with it
	}
	cells, particles := p.Plan.Cells(), p.Config.Fit.Runs*p.Config.Fit.ParticlesPerGoal
	if cells < manyCells && cells*particles < manyParticles {
		return nil
	}
	began, before := time.Now(), serve.CPUTime()
	x, err := p.Run(ctx)
	if err != nil {
		return nil
	}
	busy := 1.0 // seconds on this machine for one of a core
	if used := serve.CPUTime() - before; used > 0 {
		busy = max(1, time.Since(began).Seconds()/used.Seconds())
	}
	f := &follow.Forecast{Cells: x.Measured}
	f.Expected, f.Low, f.High = x.Wall(workers)
	f.Expected, f.Low, f.High = busy*f.Expected, busy*f.Low, busy*f.High
	return f
}

// newPilot makes the pilot of a sweep. Its jobs are those of a coordinator whose workers have this number of slots.
func newPilot(s *domains.Study, config *foiblev1.SweepConfig, slots int, limit time.Duration) (*cost.Pilot, error) {
	c, err := codec.Config(config)
	if err != nil {
		return nil, err
	}
	shapes := codec.Shapes(s.Shapes())
	plan, err := c.Plan(shapes, c.CellsPerJob(shapes, slots))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	return &cost.Pilot{
		Study: s.Study, Plan: plan, Config: &c.Config,
		Ready: func(stimulus string) (*inference.Stimulus, error) { return s.Ready(stimulus) },
		CPU:   func() float64 { return serve.CPUTime().Seconds() },
		Used:  func(float64) float64 { return float64(time.Since(began)) / float64(limit) },
	}, nil
}

func hours(seconds float64) string {
	if seconds < 36 {
		return fmt.Sprintf("%.2g", seconds/3600)
	}
	return fmt.Sprintf("%.3g", seconds/3600)
}

// NewEstimate returns the command estimate.
func NewEstimate(term *terminal.Terminal) *cobra.Command {
	var o EstimateOptions
	c := &cobra.Command{
		Use:   "estimate [STUDY]",
		Short: "Estimate how long a study's sweep takes, from a short pilot run",
		Long: `Estimate runs a few cells of a sweep, spread over stimuli, models and search noises, and says what all of it will take:
cells, jobs, time of cores, time with some workers, and the Monte-Carlo error to expect of r. Cores are taken to be like
those of this machine. Cells of a stimulus that share searches are counted so: the first of them pays for all. It takes
the flags of fit that choose a sweep.`,
		Example: "  foible estimate my-study\n  foible estimate my-study --preset published --workers 200 --pilot 1m",
		GroupID: cli.GroupLocal, Args: cli.AtMost(1), ValidArgsFunction: input.CompleteStudy,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = cli.OptionalArgument(args)
			return Estimate(c.Context(), term, o)
		},
	}
	input.SweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one per core)")
	c.Flags().DurationVar(&o.Pilot, "pilot", DefaultPilot, "`time` after which the pilot begins no more cells")
	return c
}
