package fit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/participant"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/recovery"
	recoveryreport "foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// RecoverOptions say what to simulate and how to fit it.
type RecoverOptions struct {
	Study        string
	Sweep        input.SweepChoice
	Plans        string // PlansSimulated, PlansStudy
	Trajectories int    // a problem
	Datasets     int    // a model
	Participants []int  // sample sizes
	Answers      string // "": as in the study
	Noise        participant.Noise
	Workers      int    // worker slots in this process; 0: one a core
	Memory       string // that the process may use, as in 8GiB; "": most of what there is
	Out          string
	Overwrite    bool // what the directory holds of others
	Notify       follow.Notify
	Submit       bool // to Coordinator, in place of workers in this process
	Coordinator  connect.Target
}

// Whose plans simulated participants see.
const (
	PlansSimulated = "simulated" // by agents of the sweep's grid
	PlansStudy     = "study"
)

// DefaultRecover is what is simulated if nothing else is said.
var DefaultRecover = RecoverOptions{
	Plans: PlansSimulated, Trajectories: 2, Datasets: 100, Participants: []int{5, 20, 80}, Noise: participant.DefaultNoise,
}

// Limits of a recovery.
const (
	maxDatasets      = 100_000
	maxParticipants  = 10_000
	maxConcentration = 1e6
)

func (o *RecoverOptions) check() error {
	if !slices.Contains([]string{PlansSimulated, PlansStudy}, o.Plans) {
		return cli.Usagef("--plans %q: it can be %s", o.Plans, words.Options(o.Plans, []string{PlansSimulated, PlansStudy}))
	}
	if o.Trajectories < 1 || o.Trajectories > input.MaxTrajectories {
		return cli.Usagef("--trajectories %d: must be 1 to %d", o.Trajectories, input.MaxTrajectories)
	}
	if o.Datasets < 1 || o.Datasets > maxDatasets {
		return cli.Usagef("--datasets %d: must be 1 to %d", o.Datasets, maxDatasets)
	}
	if len(o.Participants) == 0 {
		return cli.Usagef("--participants names no number of participants")
	}
	o.Participants = slices.Clone(o.Participants)
	slices.Sort(o.Participants)
	o.Participants = slices.Compact(o.Participants)
	for _, n := range o.Participants {
		if n < 1 || n > maxParticipants {
			return cli.Usagef("--participants %d: must be 1 to %d", n, maxParticipants)
		}
	}
	if !slices.Contains([]string{"", recovery.Probability, recovery.Selection}, o.Answers) {
		return cli.Usagef("--answers %q: it can be %s", o.Answers, words.Options(o.Answers, []string{recovery.Probability, recovery.Selection}))
	}
	if c := o.Noise.Concentration; !(c > 0 && c <= maxConcentration) {
		return cli.Usagef("--concentration %v: must be above 0, and at most %v", c, float64(maxConcentration))
	}
	if o.Sweep.TopUp > 1 {
		return cli.Usagef("--top-up %d: parameter sets are recovered at equal runs; leave it out, or give all of them more with --runs", o.Sweep.TopUp)
	}
	if o.Submit && o.Workers != 0 {
		return cli.Usagef("--workers are those of this process; with --submit, those of the coordinator do the work")
	}
	return o.Notify.Check()
}

// Recover simulates participants who judge by known parameter sets, fits every model to them, and writes how far what
// comes out is what went in.
func Recover(ctx context.Context, term *terminal.Terminal, o RecoverOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	workers, err := serve.Slots("--workers", o.Workers)
	if err != nil {
		return err
	}
	s, m, err := input.Prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	// People are compared with afterwards, with all parameter sets at equal runs.
	m.Report, m.TopUp = &foiblev1.StageConfig{}, 0
	m.Bootstrap = &foiblev1.BootstrapConfig{Resamples: proto.Int32(0)}
	config, err := codec.Config(m)
	if err != nil {
		return err
	}
	budget, err := serve.MemoryBudget(o.Memory)
	if err != nil {
		return err
	}
	r := &recovering{o: &o, memory: budget, study: s, judged: s, config: config}
	if o.Out == "" {
		o.Out = results.DefaultDir(s) + "-recovery"
	}
	if o.Plans == PlansSimulated {
		if err := r.simulate(ctx); err != nil {
			return cli.Interrupted(ctx, err)
		}
	}
	r.sweeps = [2]*foiblev1.SweepConfig{truthOf(m, config.Inference.Method), m}
	id, err := input.SweepID(r.judged, m)
	if err != nil {
		return err
	}
	r.owner = output.Owner{Command: "recover", Of: id, About: "a recovery of the sweep " + id}
	if err := output.Claim(o.Out, r.owner, o.Overwrite); err != nil {
		return err
	}
	if o.Submit {
		err = recoverThere(ctx, term, r)
	} else {
		err = recoverHere(ctx, term, r, workers)
	}
	if err != nil {
		return err
	}
	return writeRecovery(ctx, term, r)
}

// recovering is a recovery on its way.
type recovering struct {
	o       *RecoverOptions
	owner   output.Owner
	study   *domains.Study
	judged  *domains.Study // with the plans that are judged
	config  *sweep.Resolved
	memory  int64               // that workers in this process may use, in bytes
	stimuli []recovery.Stimulus // simulated; nil for the study's own plans

	sweeps     [2]*foiblev1.SweepConfig // what observers infer; what is fitted
	ids        [2]string
	posteriors [2]recovery.Posteriors
	plan       *sweep.Plan
}

// truthOf is the sweep of what simulated observers infer, where m is the one to be fitted. They infer without the noise of
// particles, by marginal inference, whatever the method by which they are fitted.
func truthOf(m *foiblev1.SweepConfig, method string) *foiblev1.SweepConfig {
	truth := proto.CloneOf(m)
	truth.Seed = random.TruthSeed(m.GetSeed())
	if method != sweep.Marginal {
		truth.Inference, truth.Fit = &foiblev1.InferenceConfig{Method: sweep.Marginal}, nil
	}
	return truth
}

// purposes of the two sweeps.
var purposes = [2]string{"what simulated observers infer", "what is fitted to them, of other random numbers"}

// simulate lets agents act, and makes a study of what they did.
func (r *recovering) simulate(ctx context.Context) error {
	var err error
	if r.stimuli, err = recovery.Simulate(ctx, r.study.Study, func(i int) (*inference.Stimulus, error) {
		return r.study.Ready(r.study.Stimuli[i].ID)
	}, &recovery.Agents{Sets: r.config.Sets, Inference: r.config.Inference, Times: r.o.Trajectories, Seed: r.config.Seed}); err != nil {
		return err
	}
	r.judged, err = r.study.Derive(r.stimuli, fmt.Sprintf("The plans are those of simulated agents, %s a problem, as stimuli.csv tells of each: by `foible recover`, seed %d. There are no judgements.",
		input.Trajectories(r.o.Trajectories), r.config.Seed))
	return err
}

// recoverHere runs the sweeps in this process: a coordinator, a worker, and gRPC between them.
func recoverHere(ctx context.Context, term *terminal.Terminal, r *recovering, workers int) error {
	_, err := os.Stat(filepath.Join(r.o.Out, StateDir))
	fresh := errors.Is(err, fs.ErrNotExist)
	data, err := makeStateDir(r.o.Out)
	if err != nil {
		return cli.CannotWrite(r.o.Out, "--out", err)
	}
	var ahead [2]*follow.Forecast
	for i := range ahead {
		if fresh {
			ahead[i] = foretell(ctx, r.judged, r.sweeps[i], workers)
		}
	}
	cluster, err := serve.StartLocal(ctx, serve.LocalOptions{Data: data, Slots: workers, Memory: r.memory, Logger: term.Logger})
	if err != nil {
		return err
	}
	err = func() error {
		for i := range r.sweeps {
			created, err := cluster.Client.Submit(cluster.Context, r.judged, r.sweeps[i], 0, 0)
			if err != nil {
				return err
			}
			m := created.GetSweep()
			term.Say("Sweep %d of 2: %s", i+1, purposes[i])
			if connect.HasNotEnded(m.GetState()) {
				if m, err = runSweep(term, cluster, r.judged.Name, created, run{workers, r.o.Out, ahead[i]}); err != nil {
					return err
				}
			}
			if err := r.gather(cluster.Context, cluster.Client, i, m); err != nil {
				return err
			}
			if i == len(r.sweeps)-1 {
				follow.NotifyEnd(cluster.Context, term, r.o.Notify, cluster.Client, m)
			}
		}
		return nil
	}()
	return stopLocal(ctx, term, cluster, r.o.Out, err)
}

// recoverThere gives the sweeps to a coordinator and waits for them.
func recoverThere(ctx context.Context, term *terminal.Terminal, r *recovering) error {
	c, err := connect.DialWithWarnings(term, r.o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	var given [2]*foiblev1.Sweep
	for i := range r.sweeps {
		created, err := c.Submit(ctx, r.judged, r.sweeps[i], 0, 0)
		if err != nil {
			return err
		}
		given[i] = created.GetSweep()
	}
	for i, m := range given {
		term.Say("Sweep %d of 2, %s: %s", i+1, m.GetSweepId(), purposes[i])
		if connect.HasNotEnded(m.GetState()) {
			follow.SayNext(ctx, term, c, m)
			if m, err = follow.Watch(ctx, term, c, follow.Options{ID: m.GetSweepId(), MayReturn: true, Before: -1}); err != nil {
				if errors.Is(err, cli.ErrInterrupted) {
					term.Say("The sweeps go on. The same command comes back to them.")
				}
				return err
			}
		}
		if err := r.gather(ctx, c, i, m); err != nil {
			return err
		}
		if i == len(given)-1 {
			follow.NotifyEnd(ctx, term, r.o.Notify, c, m)
		}
	}
	return nil
}

// gather takes the posteriors of a sweep that has ended.
func (r *recovering) gather(ctx context.Context, c *connect.Client, i int, m *foiblev1.Sweep) error {
	switch m.GetState() {
	case foiblev1.SweepState_SWEEP_STATE_SUCCEEDED:
	case foiblev1.SweepState_SWEEP_STATE_CANCELLED:
		return fmt.Errorf("the sweep %s was cancelled; the same command lets it go on", m.GetSweepId())
	default:
		why := ""
		if failures := follow.Causes(m.GetProgress()); len(failures) > 0 {
			why = ", such as: " + failures[0]
		}
		return fmt.Errorf("some jobs or cells of the sweep %s failed%s; leave the parameter sets out that cannot be computed, and try again", m.GetSweepId(), why)
	}
	plan, config, err := connect.PlanOf(m)
	if err != nil {
		return err
	}
	r.ids[i], r.plan, r.posteriors[i] = m.GetSweepId(), plan, recovery.NewPosteriors(len(plan.Sets))
	gather := sweep.NewGather(plan, func(sets ...*sweep.Gathered) error {
		for _, g := range sets {
			if err := r.posteriors[i].Add(plan, g); err != nil {
				return err
			}
		}
		return nil
	})
	gather.Check(m.GetStudyHash(), &config.Config)
	return results.ExplainPlan(m, results.Export(ctx, c, results.Selection{Sweep: m.GetSweepId()}, plan, gather))
}

// writeRecovery simulates the participants, fits every model to them, and writes and prints what that comes to.
func writeRecovery(ctx context.Context, term *terminal.Terminal, r *recovering) error {
	o := r.o
	if o.Answers == "" {
		o.Answers = recovery.AnswersOf(r.study.Study)
	}
	term.Say("Simulating %s of up to %s, and fitting %s to each", words.Count(o.Datasets*len(r.plan.Models()), "dataset"), words.Count(o.Participants[len(o.Participants)-1], "participant"), words.Count(len(r.plan.Sets), "parameter set"))
	result, err := recovery.Run(ctx, &recovery.Sweeps{Sets: r.plan.Sets, Stimuli: r.plan.Stimuli, Truth: r.posteriors[0], Fit: r.posteriors[1]}, recovery.Config{
		Datasets: o.Datasets, Participants: o.Participants, Linked: r.study.ParticipantsLinked, Answers: o.Answers, Noise: o.Noise, Seed: r.config.Seed,
	})
	if err != nil {
		return err
	}
	inputs, err := results.FileHashes(r.study.Bundle)
	if err != nil {
		return err
	}
	manifest := recoveryreport.Manifest{
		StudyHash: r.study.Hash, JudgedHash: r.judged.Hash, Inputs: inputs, TruthSweep: r.ids[0], FitSweep: r.ids[1], Version: cli.Version(), Plans: o.Plans,
	}
	if r.stimuli != nil {
		manifest.Trajectories = o.Trajectories
	}
	page := &recoveryreport.Report{Manifest: manifest, Study: r.study.Study, Config: r.config.Config, Stimuli: r.stimuli, Result: result}
	if err := output.Write(o.Out, r.owner, nil, func(out *output.Dir) error {
		if r.stimuli != nil {
			for name, content := range r.judged.Files() {
				if err := writeFile(out, "study/"+name, content); err != nil {
					return err
				}
			}
		}
		return page.Write(out)
	}); err != nil {
		return err
	}
	printRecovery(term, page)
	term.Print("Wrote tables and figures to %s; open %s first.", words.Quoted(o.Out), words.Quoted(filepath.Join(o.Out, "report.html")))
	if !slices.ContainsFunc(result.Datasets, func(d recovery.Dataset) bool { return d.Fitted[0] >= 0 }) {
		return errors.New("nothing could be recovered: no model has a correlation with the simulated judgements of any dataset")
	}
	return nil
}

func writeFile(out tabular.Output, name string, content []byte) error {
	f, err := out.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// printRecovery prints rank correlations, the confusion matrix of the largest sample size, and what they mean.
func printRecovery(term *terminal.Terminal, r *recoveryreport.Report) {
	most := slices.Max(r.Result.Participants)
	printAxes(term, r)
	if len(r.Result.Models) > 1 {
		printConfusion(term, r.Result.Confusion(0, most))
	}
	if len(r.Manifest.Recovered) > 0 {
		term.Print("With %s a stimulus:", words.Count(most, "participant"))
	}
	for _, text := range r.Manifest.Recovered {
		term.Print("  %s", text)
	}
	for _, text := range r.Manifest.Warnings {
		term.Print("%s", text)
	}
}

func printAxes(term *terminal.Terminal, r *recoveryreport.Report) {
	axes := slices.DeleteFunc(slices.Clone(r.Axes()), func(a recovery.Axis) bool { return len(a.Values) < 2 })
	if len(axes) == 0 {
		term.Print("No parameter of the grid has two values, so none can be recovered; --set gives it more.")
		return
	}
	term.Print("Rank correlation of true and fitted values with its 95%% interval, %s a model, by participants a stimulus:",
		words.Count(r.Result.Config.Datasets, "dataset"))
	heads := []string{"Model", "Axis"}
	for _, n := range r.Result.Participants {
		heads = append(heads, words.Thousands(n))
	}
	t := terminal.NewTable(heads...)
	t.Columns[1].Lead = true
	for each := range slices.Chunk(axes, len(r.Result.Participants)) {
		row := []string{each[0].Model, each[0].Name}
		for i := range each {
			text := words.None
			if a := &each[i]; a.Reason == "" {
				text = words.Fixed(a.Rho, 2) + " " + words.Interval(a.Low, a.High, 2, false)
			}
			row = append(row, text)
		}
		t.Add(row...)
	}
	term.PrintTable(t)
	fmt.Fprintln(term.Out)
}

func printConfusion(term *terminal.Terminal, m *recovery.Matrix) {
	term.Print("P(fitted | true) by %s, %s a stimulus:", m.Criterion, words.Count(m.Participants, "participant"))
	t := terminal.NewTable(append([]string{"True"}, m.Models...)...)
	for truth, name := range m.Models {
		row := []string{name}
		for fitted := range m.Models {
			p, _, ok := m.Fitted(truth, fitted)
			if !ok {
				p = math.NaN()
			}
			row = append(row, words.Fixed(p, 2))
		}
		t.Add(row...)
	}
	term.PrintTable(t)
	fmt.Fprintln(term.Out)
}

// NewRecover returns the command recover.
func NewRecover(term *terminal.Terminal) *cobra.Command {
	o := DefaultRecover
	c := &cobra.Command{
		Use:   "recover [STUDY]",
		Short: "Model and parameter recovery: can the study distinguish them?",
		Long: `Recover simulates participants who judge as known parameter sets of a sweep do, fits every model of the sweep to them,
and writes how far what comes out is what went in: the rank correlation of true and fitted values of every axis, and how
often each model is taken for another, at several sample sizes. What observers infer and what is fitted to them are two
sweeps without a random number in common. Interrupted, it goes on when it is called again with the same output directory.

Participants see plans of simulated agents on the problems of STUDY, which are drawn from the same grid, or with
--plans study those of the study. They answer as those of the sample studies do: a belief is drawn from a Dirichlet
distribution round the posterior, 2 % of the uniform one mixed in, of a concentration that is log-normal with a median
of --concentration, and is rounded to multiples of 0.05, or ticks the goals at least half as probable as the most
probable one. It takes the flags of fit that choose a sweep.`,
		Example: "  foible recover\n  foible recover my-study --plans study --participants 20,40 --out my-recovery\n  foible recover my-study --submit --coordinator HOST:7410",
		GroupID: cli.GroupLocal, Args: cli.AtMost(1), ValidArgsFunction: input.CompleteStudy,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = cli.OptionalArgument(args)
			for _, name := range []string{"coordinator", "coordinator-file", "token-file", "tls-ca", "insecure"} {
				if c.Flags().Changed(name) && !o.Submit {
					return cli.Usagef("--%s is of a coordinator elsewhere: say --submit too, to give it the work", name)
				}
			}
			if c.Flags().Changed("trajectories") && o.Plans == PlansStudy {
				return cli.Usagef("--trajectories are of simulated plans: leave them out, or --plans study")
			}
			return Recover(c.Context(), term, o)
		},
	}
	c.Flags().StringVar(&o.Plans, "plans", o.Plans, "`whose` plans are judged: simulated, study")
	c.Flags().IntVar(&o.Trajectories, "trajectories", o.Trajectories, "`number` of simulated plans a problem of the study")
	c.Flags().IntVar(&o.Datasets, "datasets", o.Datasets, "`number` of simulated datasets a model")
	c.Flags().IntSliceVar(&o.Participants, "participants", o.Participants, "`numbers` of participants who judge each stimulus: sample sizes")
	c.Flags().StringVar(&o.Answers, "answers", "", "`form` of answers: probability, selection (default: as in the study)")
	c.Flags().Float64Var(&o.Noise.Concentration, "concentration", o.Noise.Concentration, "median `concentration` of beliefs round the posterior; the greater, the less noise")
	input.SweepFlags(c, &o.Sweep)
	follow.NotifyFlag(c, &o.Notify)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one per core)")
	serve.MemoryFlag(c, &o.Memory)
	c.Flags().BoolVar(&o.Submit, "submit", false, "give the sweeps to a coordinator and wait for them, in place of workers in this process")
	connect.TargetFlags(c, &o.Coordinator)
	c.Flags().StringVar(&o.Out, "out", "", "output `directory` (default: foible-NAME-recovery, by the study's name)")
	cli.Complete(c, "plans", PlansSimulated, PlansStudy)
	cli.Complete(c, "answers", recovery.Probability, recovery.Selection)
	return c
}
