package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"foible.dev/foible/core/recovery"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
)

// Groups of commands, in the order of the help.
const (
	here    = "here"
	cluster = "cluster"
)

// NewRoot returns foible with all its commands.
func NewRoot(term *Terminal) *cobra.Command {
	var logLevel, logFormat string
	var printVersion bool
	var strict bool
	c := &cobra.Command{
		Use:   "foible",
		Short: "Fit models of other people's mistakes to human judgements",
		Long: `Foible fits models of agents that make mistakes to human judgements about their goals.

A study is a directory with study.yaml; without one, commands take a sample. Start with:

  foible fit                 fit the sample study, on this machine
  foible sample DIR          write the sample study to DIR, to make it yours
  foible check DIR           find everything wrong with a study before any time is spent
  foible fit DIR             fit it`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if printVersion {
				PrintVersion(term)
				return nil
			}
			return c.Help()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := refuseZero(c); err != nil {
				return err
			}
			level, err := levelOf(c, logLevel)
			if err != nil {
				return err
			}
			if !slices.Contains(logFormats, logFormat) {
				return usagef("--log-format %q: it can be %s", logFormat, words.Options(logFormat, logFormats))
			}
			term.Logger = hclog.New(&hclog.LoggerOptions{Name: "foible", Level: level, Output: term.Logs, JSONFormat: logFormat == "json"})
			return checkPrivate(term, c, strict)
		},
	}
	c.PersistentFlags().StringVar(&logLevel, "log-level", "", "least `level` of messages: "+strings.Join(logLevels, ", ")+" (default: info for coordinator and worker, else warn)")
	c.PersistentFlags().StringVar(&logFormat, "log-format", logFormats[0], "`format` of messages: "+strings.Join(logFormats, ", "))
	c.PersistentFlags().BoolVar(&strict, "strict", false, "refuse files of tokens and keys that others on this machine can read, in place of a warning")
	complete(c, "log-level", logLevels...)
	complete(c, "log-format", logFormats...)
	c.Flags().BoolVar(&printVersion, "version", false, "print the version")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &UsageError{Err: readable(c, err)} })
	c.AddGroup(&cobra.Group{ID: here, Title: "On this machine:"}, &cobra.Group{ID: cluster, Title: "With a coordinator and workers:"})
	c.AddCommand(newFit(term), newEstimate(term), newRecover(term), newReport(term), newInfer(term), newSimulate(term), newCheck(term), newSample(term), newCoordinator(term), newWorker(term), newToken(term),
		newSubmit(term), newList(term), newStatus(term), newWatch(term), newPause(term), newResume(term), newCancel(term), newRetry(term), newDelete(term), newExtend(term), newPriority(term), newResults(term), newCluster(term), newHealth(term), newDocs(term), newVersion(term))
	return c
}

// checkPrivate looks at the files with secrets that flags name. What runs for long says so in its log.
func checkPrivate(term *Terminal, c *cobra.Command, strict bool) error {
	value := func(flag string) string {
		f := c.Flags().Lookup(flag)
		switch {
		case f == nil:
			return ""
		case flag == "token-file" && f.Value.String() == "" && os.Getenv(TokenEnv) == "":
			return DefaultData
		}
		return f.Value.String()
	}
	return CheckPrivate(term, strict, value, func(message string) {
		if logsInfo(c) {
			term.Logger.Warn(message)
		} else {
			fmt.Fprintf(term.Err, "Warning: %s\n", message)
		}
	})
}

// logsInfo reports whether a command is one that logs what it does, unless told otherwise.
func logsInfo(c *cobra.Command) bool { return c.Name() == "coordinator" || c.Name() == "worker" }

var (
	logLevels  = []string{"trace", "debug", "info", "warn", "error"}
	logFormats = []string{"text", "json"}
)

// levelOf is the level of messages asked for, or what suits the command.
func levelOf(c *cobra.Command, asked string) (hclog.Level, error) {
	switch {
	case slices.Contains(logLevels, asked):
		return hclog.LevelFromString(asked), nil
	case asked != "":
		return 0, usagef("--log-level %q: it can be %s", asked, words.Options(asked, logLevels))
	case logsInfo(c):
		return hclog.Info, nil
	}
	return hclog.Warn, nil
}

// positive are the flags of numbers whose default is another number than 0.
var positive = []string{"workers", "slots", "runs", "particles", "top-up", "mc-se", "posterior-se", "priority"}

// refuseZero refuses 0 where it was given for a number: the commands take it for no number given.
func refuseZero(c *cobra.Command) error {
	for _, name := range positive {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed || f.Value.String() != "0" {
			continue
		}
		least := "at least 1"
		if f.Value.Type() == "float64" {
			least = "above 0"
		}
		return usagef("--%s 0: must be %s; without the flag it is the default", name, least)
	}
	return nil
}

// alias makes a flag known by another name too, which the help leaves out.
func alias(c *cobra.Command, name, other string) {
	f := *c.Flags().Lookup(name)
	f.Name, f.Hidden = other, true
	c.Flags().AddFlag(&f)
}

// flagNames are the flags of a command.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// readable says in plain words what is wrong with a flag of a command.
func readable(c *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		name, dashes := unknown.GetSpecifiedName(), "--"
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			if name, _, _ := strings.Cut(short, "="); c.Flags().Lookup(name) != nil {
				return fmt.Errorf("there is no flag -%s; did you mean --%[1]s?", name)
			}
			dashes = "-"
		} else if near := words.Nearest(name, flagNames(c)); near != "" {
			return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, near)
		}
		return fmt.Errorf("there is no flag %s%s", dashes, name)
	}
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		want := invalid.Unwrap().Error()
		switch invalid.GetFlag().Value.Type() {
		case "int":
			want = "must be a whole number"
		case "intSlice":
			want = "must be whole numbers, as in 5,20"
		case "float64":
			want = "must be a number"
		case "duration":
			want = "must be a time such as 30s or 5m"
		case "bool":
			want = "can be true or false"
		}
		return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
	}
	if missing := (*pflag.ValueRequiredError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("--%s needs a value", missing.GetFlag().Name)
	}
	return err
}

func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := words.Nearest(args[0], names); near != "" {
		return usagef("there is no command %q; did you mean `%s %s`?", args[0], c.CommandPath(), near)
	}
	return usagef("there is no command %q", args[0])
}

// atMost refuses more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("unexpected argument %q: write `%s`", args[n], synopsis(c))
		}
		return nil
	}
}

// exactlyOne asks for the argument, and refuses more.
func exactlyOne(ask string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s, as in `%s`", ask, synopsis(c))
		}
		return atMost(1)(c, args)
	}
}

// synopsis is a command with its arguments.
func synopsis(c *cobra.Command) string { return c.Parent().CommandPath() + " " + c.Use }

func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// complete gives a shell the values of a flag.
func complete(c *cobra.Command, flag string, values ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag
	}
}

// studies completes STUDY: a directory, or the name of a sample.
func studies(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return domains.Names(), cobra.ShellCompDirectiveDefault
}

func sweepFlags(c *cobra.Command, s *SweepChoice) {
	c.Flags().StringVar(&s.File, "sweep", "", "sweep `file` to use in place of the study's sweep.yaml")
	c.Flags().StringSliceVar(&s.Models, "models", nil, "`names` of models to sweep, in place of all of the sweep's")
	c.Flags().StringArrayVar(&s.Set, "set", nil, "`axis=value,...` in place of the sweep's values of the axis; may be repeated")
	c.Flags().StringVar(&s.Preset, "preset", "", "published: the paper's grids and particle filter (sips), with the slips of the authors' code (per_action_odds)")
	c.Flags().StringVar(&s.Method, "method", "", "`method` of inference, in place of the sweep's: marginal, or sips, the published particle filter")
	c.Flags().Float64Var(&s.MCSE, "mc-se", 0, "`target` for the Monte-Carlo standard error of r, of marginal inference")
	c.Flags().Float64Var(&s.PosteriorSE, "posterior-se", 0, "`target` for that of each probability at a judgement step, of marginal inference")
	c.Flags().IntVar(&s.Particles, "particles", 0, "`number` of particles a goal in a run, of sips")
	c.Flags().IntVar(&s.Runs, "runs", 0, "`number` of runs a cell, of sips; of batches of samples, of marginal inference")
	c.Flags().IntVar(&s.TopUp, "top-up", 0, "most `times` the runs of --runs for settings that may be the best, twice as many each round, until one is left")
	c.Flags().StringVar(&s.Seed, "seed", "", "random seed, a `number`, in place of the sweep's seed")
	complete(c, "method", Methods...)
	alias(c, "models", "model")
	completeModels(c, "models")
}

func completeModels(c *cobra.Command, flag string) {
	complete(c, flag, sweep.ModelNames()...)
}

func targetFlags(c *cobra.Command, t *Target) {
	c.Flags().StringVar(&t.Address, "coordinator", cmp.Or(os.Getenv(AddressEnv), DefaultAddress), "`host:port` of the coordinator, or of several that share their data, as in a:7410,b:7410;\n"+AddressEnv+" sets it too")
	c.Flags().StringVar(&t.AddressFile, "coordinator-file", "", "`file` that holds host:port of a coordinator that may move, in place of --coordinator; read again at each attempt to connect")
	c.Flags().StringVar(&t.TokenFile, "token-file", os.Getenv(TokenFileEnv), "`file` that holds the token, or the coordinator's data directory; "+TokenFileEnv+" sets it too\n(default: the token in FOIBLE_TOKEN, or that of "+DefaultData+")")
	c.Flags().StringVar(&t.TLSCA, "tls-ca", os.Getenv(TLSCAEnv), "`file` of authorities to trust, or system, of a site with certificates of its own; "+TLSCAEnv+" sets it\ntoo (default: the authority that the token names)")
	c.Flags().BoolVar(&t.Insecure, "insecure", false, "no encryption and no token, within one machine")
}

func dataFlag(c *cobra.Command, data *string, what string) {
	c.Flags().StringVar(data, "data", DefaultData, "`directory` "+what)
}

func notifyFlag(c *cobra.Command, to *Notify) {
	c.Flags().StringVar((*string)(to), "notify", "", "`command` to run when the sweep has ended, with what `foible status --json` prints on its standard input,\nand FOIBLE_SWEEP and FOIBLE_STATE set; or an http(s) URL to post that to")
}

func outFlag(c *cobra.Command, out *string, overwrite *bool) {
	c.Flags().StringVar(out, "out", "", "output `directory` (default: foible-NAME, by the study's name)")
	overwriteFlag(c, overwrite)
}

func overwriteFlag(c *cobra.Command, overwrite *bool) {
	c.Flags().BoolVar(overwrite, "overwrite", false, "replace what the output directory holds, though it is of something else; files that no foible command wrote stay")
}

func recoveryFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "recovery", "", "output `directory` of foible recover for the same study, to be shown in report.html")
}

func newFit(term *Terminal) *cobra.Command {
	var o FitOptions
	c := &cobra.Command{
		Use:   "fit [STUDY]",
		Short: "Fit a study's sweep, and write tables and figures",
		Long: `Fit runs a sweep to its end on this machine, and writes tables and figures. Interrupted, it goes on where it
stopped when it is called again with the same output directory. STUDY is a directory with study.yaml, or the name
of a sample: ` + strings.Join(domains.Names(), ", ") + `.`,
		Example: "  foible fit\n  foible fit my-study --out my-fit\n  foible fit block-words --models boltzmann --set alpha=0.25,0.5,1 --set value=optimal,on_policy",
		GroupID: here, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			return Fit(c.Context(), term, o)
		},
	}
	c.Flags().StringVar(&o.Web, "web", "", "shows the sweep in a browser, on a terminal until you press Ctrl-C, at a free port or at `host:port` of this machine, as in --web=localhost:7411")
	c.Flags().Lookup("web").NoOptDefVal = AnyWebAddress
	sweepFlags(c, &o.Sweep)
	notifyFlag(c, &o.Notify)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one a core)")
	memoryFlag(c, &o.Memory)
	outFlag(c, &o.Out, &o.Overwrite)
	recoveryFlag(c, &o.Recovery)
	withoutJudgementsFlag(c, &o.WithoutJudgements)
	verifyFlag(c, &o.Verify)
	return c
}

func verifyFlag(c *cobra.Command, share *float64) {
	c.Flags().Float64Var(share, "verify", 0, "`share` of the cells, from 0 to 1, to compute twice, by different workers where there are others; a job whose numbers differ fails, and the exit code says so")
}

func withoutJudgementsFlag(c *cobra.Command, without *bool) {
	c.Flags().BoolVar(without, "without-judgements", false, "go on though the study has no human judgements, to get the posteriors")
}

func newEstimate(term *Terminal) *cobra.Command {
	var o EstimateOptions
	c := &cobra.Command{
		Use:   "estimate [STUDY]",
		Short: "Say what a study's sweep will take, by a pilot",
		Long: `Estimate runs a few cells of a sweep, spread over stimuli, models and search noises, and says what all of it will take:
cells, jobs, time of cores, time with some workers, and the Monte-Carlo error to expect of r. Cores are taken to be like
those of this machine. Cells of a stimulus that share searches are counted so: the first of them pays for all. It takes
the flags of fit that choose a sweep.`,
		Example: "  foible estimate my-study\n  foible estimate my-study --preset published --workers 200 --pilot 1m",
		GroupID: here, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			return Estimate(c.Context(), term, o)
		},
	}
	sweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one a core)")
	c.Flags().DurationVar(&o.Pilot, "pilot", DefaultPilot, "`time` after which the pilot begins no more cells")
	return c
}

func newReport(term *Terminal) *cobra.Command {
	var o CompareOptions
	c := &cobra.Command{
		Use:   "report DIR DIR...",
		Short: "Compare sweeps by their output directories",
		Long: `Report compares sweeps that fit or results wrote: what differs between their settings and inputs, the best
parameter set of each model with its difference from the first sweep's, sensitivity, people against models, and the warnings
of each. It compares at the judged goals, steps and stimuli that all have in common, says what it leaves out, and refuses
sweeps that have nothing in common. Sweeps of different studies, such as a study and its replication, are compared with
--different-studies only: what has one name in them is taken to be one thing. It writes comparison.html, which is one file without script or network, comparison.csv
and settings.csv, each also as Parquet, and the figures. It needs no coordinator.`,
		Example: "  foible report my-fit my-fit-by-sips\n  foible report first-study replication --different-studies --out side-by-side",
		GroupID: here, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			o.Sweeps = args
			return Compare(term, o)
		},
	}
	c.Flags().StringVar(&o.Out, "out", DefaultComparison, "output `directory`")
	overwriteFlag(c, &o.Overwrite)
	c.Flags().BoolVar(&o.DifferentStudies, "different-studies", false, "compare sweeps of different studies, at the stimuli, steps and goals that have one name in all")
	return c
}

func newRecover(term *Terminal) *cobra.Command {
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
		GroupID: here, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			for _, name := range []string{"coordinator", "coordinator-file", "token-file", "tls-ca", "insecure"} {
				if c.Flags().Changed(name) && !o.Submit {
					return usagef("--%s is of a coordinator elsewhere: say --submit too, to give it the work", name)
				}
			}
			if c.Flags().Changed("trajectories") && o.Plans == PlansStudy {
				return usagef("--trajectories are of simulated plans: leave them out, or --plans study")
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
	sweepFlags(c, &o.Sweep)
	notifyFlag(c, &o.Notify)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one a core)")
	memoryFlag(c, &o.Memory)
	c.Flags().BoolVar(&o.Submit, "submit", false, "give the sweeps to a coordinator and wait for them, in place of workers in this process")
	targetFlags(c, &o.Coordinator)
	c.Flags().StringVar(&o.Out, "out", "", "output `directory` (default: foible-NAME-recovery, by the study's name)")
	complete(c, "plans", PlansSimulated, PlansStudy)
	complete(c, "answers", recovery.Probability, recovery.Selection)
	return c
}

func newInfer(term *Terminal) *cobra.Command {
	o := InferOptions{StimulusChoice: StimulusChoice{Models: []string{"full"}, Inference: sweep.Inference{Method: sweep.Marginal}}}
	c := &cobra.Command{
		Use:   "infer STUDY STIMULUS",
		Short: "Infer the goal of one stimulus, step by step",
		Long: `Infer takes models to one stimulus and prints the probability of each goal after each action, with the mean judgement
below it where there is one. It writes inference.csv, a time course and a storyboard. An axis that is not set has the
value that the 2021 paper fitted for the domain and the model, or else the middle one of its default grid; what was used
is printed. STUDY is a directory with study.yaml, or the name of a sample: ` + strings.Join(domains.Names(), ", ") + `.`,
		Example: "  foible infer doors-keys-gems 3-1\n  foible infer my-study 1-2 --model full,boltzmann --set action_noise=0.1 --set alpha=1",
		GroupID: here, Args: stimulusOfStudy(&o.StimulusChoice), ValidArgsFunction: stimuli,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.Default(c.Flags().Changed); err != nil {
				return err
			}
			return Infer(c.Context(), term, o)
		},
	}
	stimulusFlags(c, &o.StimulusChoice)
	c.Flags().StringSliceVar(&o.Models, "model", o.Models, "`names` of the models: "+strings.Join(sweep.ModelNames(), ", "))
	alias(c, "model", "models")
	completeModels(c, "model")
	in, report := sweep.MarginalInference, sweep.MarginalReport
	c.Flags().IntVar(&o.Runs, "runs", 0, fmt.Sprintf("`number` of batches of samples (default %d), or of runs of sips (default %d), of models that are not exact", report.Runs, sweep.PaperReport.Runs))
	c.Flags().Float64Var(&o.Inference.MCSE, "mc-se", 0, fmt.Sprintf("`target` for the Monte-Carlo standard error of r in a fit with such samples (default %v)", in.MCSE))
	c.Flags().Float64Var(&o.Inference.PosteriorSE, "posterior-se", 0, fmt.Sprintf("`target` for the Monte-Carlo standard error of each probability at a judgement step (default %v)", in.PosteriorSE))
	c.Flags().IntVar(&o.ParticlesPerGoal, "particles", 0, fmt.Sprintf("`number` of particles a goal in a run of sips (default %d)", sweep.PaperReport.ParticlesPerGoal))
	for _, f := range InferenceFlags {
		wordFlag(c, f, &o.Inference)
	}
	c.Flags().Float64Var(&o.Inference.ResampleThreshold, "resample-threshold", 0, fmt.Sprintf("effective sample size, as a `part` of the particles, below which sips resamples (default %v)", sweep.PaperInference.ResampleThreshold))
	c.Flags().StringVar(&o.Out, "out", "", "output `directory` (default: foible-NAME-STIMULUS, by the study's name)")
	overwriteFlag(c, &o.Overwrite)
	return c
}

func newSimulate(term *Terminal) *cobra.Command {
	o := SimulateOptions{
		StimulusChoice: StimulusChoice{Models: []string{"full"}, Inference: sweep.MarginalInference},
		N:              10, Steps: 200,
	}
	c := &cobra.Command{
		Use:   "simulate STUDY STIMULUS",
		Short: "Let an agent act in one stimulus, mistakes and all",
		Long: `Simulate writes what an agent does with a goal as plans, one file a trajectory, in which slips, confused goals and
plans that lead out of the way are marked as comments, and a table of them. A trajectory ends when the goal is reached.
An axis that is not set has the value that the 2021 paper fitted for the domain and the model, or else the middle one of
its default grid; what was used is printed. Equal seeds give equal trajectories, however many there are.`,
		Example: "  foible simulate doors-keys-gems 3-1 --goal gem2\n  foible simulate my-study 1-2 --model boltzmann --set alpha=1 --n 100 --out runs",
		GroupID: here, Args: stimulusOfStudy(&o.StimulusChoice), ValidArgsFunction: stimuli,
		RunE: func(c *cobra.Command, _ []string) error { return Simulate(c.Context(), term, o) },
	}
	stimulusFlags(c, &o.StimulusChoice)
	c.Flags().StringVar(&o.Models[0], "model", o.Models[0], "`name` of the model: "+strings.Join(sweep.ModelNames(), ", "))
	alias(c, "model", "models")
	completeModels(c, "model")
	c.Flags().StringVar(&o.Goal, "goal", "", "`name` of the agent's goal (default: the stimulus's true goal)")
	c.Flags().IntVar(&o.N, "n", o.N, "`number` of trajectories")
	c.Flags().IntVar(&o.Steps, "steps", o.Steps, "`number` of steps after which a trajectory ends anyway")
	wordFlag(c, ActionNoiseKind, &o.Inference)
	c.Flags().StringVar(&o.Out, "out", "", "output `directory` (default: foible-NAME-STIMULUS-GOAL-simulated, by the study's name)")
	overwriteFlag(c, &o.Overwrite)
	return c
}

func wordFlag(c *cobra.Command, f InferenceFlag, in *sweep.Inference) {
	field := f.Field(in)
	c.Flags().StringVar(field, f.Name, *field, f.Usage)
	complete(c, f.Name, f.Words...)
}

func stimulusFlags(c *cobra.Command, o *StimulusChoice) {
	c.Flags().StringArrayVar(&o.Set, "set", nil, "`axis=value` of the model; may be repeated")
	c.Flags().StringVar(&o.Seed, "seed", "", fmt.Sprintf("random seed, a `number` (default %d)", DefaultSeed))
}

// stimulusOfStudy takes the arguments STUDY and STIMULUS. A missing stimulus is
// left to the command, which knows those that there are.
func stimulusOfStudy(o *StimulusChoice) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("name a study and a stimulus, as in `foible %s`; the samples are %s", c.Use, strings.Join(domains.Names(), ", "))
		}
		o.Study = args[0]
		if len(args) > 1 {
			o.Stimulus = args[1]
		}
		return atMost(2)(c, args)
	}
}

// stimuli completes STUDY and STIMULUS.
func stimuli(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return StimulusIDs(args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	return studies(c, args, word)
}

func newCheck(term *Terminal) *cobra.Command {
	var choice SweepChoice
	limit := DefaultCheckTime
	c := &cobra.Command{
		Use:   "check [STUDY]",
		Short: "Find everything wrong with a study and its sweep",
		Long: `Check reads a study and its sweep and prints all errors, warnings and notes, each with its place. It makes what the models
of the sweep need of each stimulus, such as heuristics and the states that can be reached, and says which models cannot be
used and why. Its exit code is 1 if there are errors. Commands that run a sweep check it first, and run nothing then.`,
		GroupID: here, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			return Check(c.Context(), term, argument(args), choice, limit)
		},
	}
	sweepFlags(c, &choice)
	c.Flags().DurationVar(&limit, "time", limit, "`time` after which it no longer tries what models need, and says what was left out")
	return c
}

func newSample(term *Terminal) *cobra.Command {
	var domain string
	c := &cobra.Command{
		Use:     "sample DIR",
		Short:   "Write a sample study, to start from",
		Long:    "Sample writes a study with simulated participants to a new directory, with its domain and its sweep, to be changed.",
		GroupID: here, Args: exactlyOne("name the directory to write"),
		RunE: func(_ *cobra.Command, args []string) error { return Sample(term, domain, args[0]) },
	}
	c.Flags().StringVar(&domain, "domain", domains.All[0].Name, "`domain` of the study: "+strings.Join(domains.Names(), ", "))
	complete(c, "domain", domains.Names()...)
	return c
}

func newCoordinator(term *Terminal) *cobra.Command {
	o := CoordinatorOptions{Limits: DefaultLimits()}
	c := &cobra.Command{
		Use:   "coordinator",
		Short: "Run the coordinator, which schedules the jobs of sweeps on workers",
		Long: `Coordinator keeps studies, sweeps and results in its data directory, and schedules jobs until it is interrupted.
Started again on the same directory, it goes on.

It speaks TLS, with a certificate that it makes itself, and lets in who has a token: one for workers and one for users
are made at the first start. Each names the coordinator's authority by its hash, so that who has it trusts this
coordinator and no other, at any address. ` + "`foible token`" + ` shows, makes and ends them. A site's own certificate is given with
--tls-cert and --tls-key; workers and users then trust it by --tls-ca.

With --nats, studies, sweeps and results are kept by NATS servers of the site, and any number of coordinators on them
work as one: workers and users dial any, and another when that is lost. The data directory then has only the
authority and the tokens, and all coordinators need the same: share it, or copy its directory access before they start.`,
		Example: "  foible coordinator --listen :7410\n  foible coordinator --listen :7410 --nats nats://a:4222,nats://b:4222,nats://c:4222 --nats-creds foible.creds",
		GroupID: cluster, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			o.WebAsked = c.Flags().Changed("web")
			return Coordinator(c.Context(), term, o)
		},
	}
	c.Flags().StringVar(&o.Listen, "listen", DefaultAddress, "`host:port` to listen on; :7410 for all addresses of this machine")
	c.Flags().StringVar(&o.Web, "web", DefaultWebAddress, "`host:port` of the dashboard, for browsers; off for none. Beyond this machine it has the coordinator's certificate")
	c.Flags().StringVar(&o.AddressFile, "address-file", "", "`file` to write host:port to when it listens, for those who read it with --coordinator-file")
	dataFlag(c, &o.Data, "of studies, sweeps, results and tokens")
	c.Flags().DurationVar(&o.Lease, "lease", DefaultLease, "`time` that a job stays with a worker that is not heard of")
	c.Flags().DurationVar(&o.JobDeadline, "job-deadline", 0, "`time` that a job may take before an idle worker gets it too; it doubles each time. 0: a minute and ten times what the slowest jobs like it have taken for their size, ten minutes before any is done")
	c.Flags().StringVar(&o.TLSCert, "tls-cert", "", "`file` of a certificate of the site's own, and of those between it and its authority")
	c.Flags().StringVar(&o.TLSKey, "tls-key", "", "`file` of its key")
	c.Flags().StringSliceVar(&o.NATS.URLs, "nats", nil, "`urls` of the site's NATS servers, in place of one in this process")
	c.Flags().StringVar(&o.NATS.CredsFile, "nats-creds", "", "`file` of credentials for them, as nsc makes it")
	c.Flags().StringVar(&o.NATS.LoginFile, "nats-login", "", "`file` with a user's name on its first line and the password on its second")
	c.Flags().StringVar(&o.NATS.CAFile, "nats-ca", "", "`file` of the authorities that sign their certificates (default: those that this machine trusts)")
	c.Flags().StringVar(&o.NATS.CertFile, "nats-cert", "", "`file` of a certificate to show them")
	c.Flags().StringVar(&o.NATS.KeyFile, "nats-key", "", "`file` of its key")
	c.Flags().BoolVar(&o.Insecure, "insecure", false, "no encryption and no tokens, within one machine: everyone on it may call")
	observeFlags(c, &o.Observe)
	for _, limit := range o.Limits.Table() {
		c.Flags().Var(limit.Value, limit.Flag, limit.Meaning)
	}
	return c
}

func newWorker(term *Terminal) *cobra.Command {
	var o WorkerOptions
	c := &cobra.Command{
		Use:     "worker",
		Short:   "Do jobs for a coordinator",
		Long:    "Worker does jobs until it is interrupted; then it finishes or hands back what it holds. It may be started before its\ncoordinator, and outlives it. It joins with the token that `foible token show worker` prints.",
		GroupID: cluster, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return Worker(c.Context(), term, o) },
	}
	targetFlags(c, &o.Coordinator)
	c.Flags().IntVar(&o.Slots, "slots", 0, "`number` of jobs done at once (default: one a core)")
	memoryFlag(c, &o.Memory)
	c.Flags().DurationVar(&o.Drain, "drain", 20*time.Second, "`time` that jobs may take after an interrupt, before they are handed back")
	c.Flags().DurationVar(&o.Patience, "patience", 0, "`time` without a coordinator that answers, or without the token that it makes at its first start, after which it ends (default: it waits for ever)")
	observeFlags(c, &o.Observe)
	return c
}

// memoryFlag bounds what workers may use.
func memoryFlag(c *cobra.Command, memory *string) {
	c.Flags().StringVar(memory, "memory", "", "`size` of the memory that this process may use, e.g. 8GiB; near it, fewer jobs are done at once (default: four fifths\nof what the machine, the control group or Slurm grants)")
}

// observeFlags are those of daemons.
func observeFlags(c *cobra.Command, o *ObserveOptions) {
	c.Flags().StringVar(&o.Metrics, "metrics", "", "`host:port` at which Prometheus reads /metrics, e.g. "+MetricsExample+" (default: nowhere)")
	c.Flags().BoolVar(&o.MetricsPublic, "metrics-public", false, "let --metrics name an address at which other machines reach this one, by any name; there are no\nsecrets in metrics, and no token is asked for")
	c.Flags().StringVar(&o.OTLP, "otel-endpoint", "", "`url`, e.g. http://127.0.0.1:4317, to send traces to by OTLP over gRPC; OTEL_EXPORTER_OTLP_ENDPOINT sets it too\n(default: there are none)")
}

func newToken(term *Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Show, make and end the tokens of a coordinator",
		Long: `Token works on the data directory of a coordinator, which takes up the changes whether or not it is running.

A token says what its owner may do: a worker's does jobs, a user's gives and follows sweeps. It also says which
coordinator its owner trusts. Whoever has it can use it: give it in a file that only its owner can read, or in FOIBLE_TOKEN.`,
		GroupID: cluster, Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTokenShow(term), newTokenList(term), newTokenCreate(term), newTokenRotate(term), newTokenRevoke(term))
	return c
}

const ofCoordinator = "of the coordinator"

// kindArgument is worker or user.
func kindArgument(c *cobra.Command) {
	c.Args = exactlyOne("say who it is for")
	c.ValidArgs = []string{"worker", "user"}
}

// tokenOutFlag is where a token is written to.
func tokenOutFlag(c *cobra.Command, out *string) {
	c.Flags().StringVar(out, "out", "", "`file` for the token, which only you can read (default: it is printed)")
}

func newTokenShow(term *Terminal) *cobra.Command {
	var data, out string
	c := &cobra.Command{
		Use:     "show worker|user",
		Short:   "Print the token with which workers, or users, join",
		Example: "  foible token show user --out user.token",
		RunE:    func(_ *cobra.Command, args []string) error { return ShowToken(term, data, args[0], out) },
	}
	kindArgument(c)
	tokenOutFlag(c, &out)
	dataFlag(c, &data, ofCoordinator)
	return c
}

func newTokenList(term *Terminal) *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Args:  atMost(0),
		RunE:  func(*cobra.Command, []string) error { return ListTokens(term, data) },
	}
	dataFlag(c, &data, ofCoordinator)
	return c
}

func newTokenCreate(term *Terminal) *cobra.Command {
	var o CreateTokenOptions
	c := &cobra.Command{
		Use:     "create worker|user",
		Short:   "Make and print another token",
		Example: "  foible token create user --expires 24h --read-only --out guest.token",
		RunE: func(_ *cobra.Command, args []string) error {
			o.Kind = args[0]
			return CreateToken(term, o)
		},
	}
	kindArgument(c)
	dataFlag(c, &o.Data, ofCoordinator)
	tokenOutFlag(c, &o.Out)
	c.Flags().DurationVar(&o.Expires, "expires", 0, "`time` after which it ends (default: never)")
	c.Flags().BoolVar(&o.ReadOnly, "read-only", false, "let a user look, and change nothing")
	return c
}

func newTokenRotate(term *Terminal) *cobra.Command {
	var o RotateTokenOptions
	c := &cobra.Command{
		Use:   "rotate worker|user",
		Short: "Replace the token with which workers, or users, join",
		Long:  "Rotate makes and prints the token with which workers, or users, join from now on. Those that have the one before are\ncut off when it ends; workers that read it from a file take the new one from there.",
		RunE: func(_ *cobra.Command, args []string) error {
			o.Kind = args[0]
			return RotateToken(term, o)
		},
	}
	kindArgument(c)
	dataFlag(c, &o.Data, ofCoordinator)
	tokenOutFlag(c, &o.Out)
	c.Flags().DurationVar(&o.KeepOld, "keep-old", 0, "`time` that the one before stays good")
	return c
}

func newTokenRevoke(term *Terminal) *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "End a token",
		Args:  exactlyOne("name a token as `foible token list` does"),
		RunE:  func(_ *cobra.Command, args []string) error { return RevokeToken(term, data, args[0]) },
	}
	dataFlag(c, &data, ofCoordinator)
	return c
}

func newSubmit(term *Terminal) *cobra.Command {
	var o SubmitOptions
	c := &cobra.Command{
		Use:     "submit [STUDY]",
		Short:   "Give a study's sweep to a coordinator",
		Long:    "Submit sends a study and its sweep to a coordinator and prints the sweep's id. The same study and sweep have the same\nid, and are not done twice. One that was cancelled goes on, with the results that it has;\nwhat has failed of one is tried again, as by foible retry.",
		GroupID: cluster, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			return Submit(c.Context(), term, o)
		},
	}
	sweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Priority, "priority", 0, "the sweep's `share` of the workers, see `foible priority` (default 10)")
	c.Flags().BoolVar(&o.Wait, "wait", false, "follow it until it ends, with the exit codes of `foible watch`")
	notifyFlag(c, &o.Notify)
	verifyFlag(c, &o.Verify)
	withoutJudgementsFlag(c, &o.WithoutJudgements)
	targetFlags(c, &o.Coordinator)
	return c
}

func newList(term *Terminal) *cobra.Command {
	var target Target
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the sweeps of a coordinator",
		GroupID: cluster, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return List(c.Context(), term, target, asJSON) },
	}
	jsonFlag(c, &asJSON)
	targetFlags(c, &target)
	return c
}

func jsonFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "print JSON, for scripts")
}

func newStatus(term *Terminal) *cobra.Command {
	var o StatusOptions
	c := &cobra.Command{
		Use:     "status [SWEEP]",
		Short:   "Show a sweep of a coordinator with its best fits, or list all",
		Long:    "Status shows a sweep with its best fits, or lists all. With --json it prints an object, or a list of them, with the fields\n\n" + StatusFields(),
		GroupID: cluster, Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = argument(args)
			return Status(c.Context(), term, o)
		},
	}
	jsonFlag(c, &o.JSON)
	targetFlags(c, &o.Coordinator)
	return c
}

// oneSweep is a command that takes a sweep.
func oneSweep(name, short, long string, run func(context.Context, Target, string) error) *cobra.Command {
	var target Target
	c := &cobra.Command{
		Use: name + " SWEEP", Short: short, Long: long,
		GroupID: cluster, Args: exactlyOne(nameSweep),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), target, args[0]) },
	}
	targetFlags(c, &target)
	return c
}

const nameSweep = "name a sweep of those that `foible list` lists"

func newWatch(term *Terminal) *cobra.Command {
	var o WatchOptions
	c := &cobra.Command{
		Use: "watch SWEEP", Short: "Follow a sweep until it ends",
		Long: fmt.Sprintf(`Watch shows the progress of a sweep until it ends, from any machine and at any time, also while its coordinator is
started again: on a terminal a view that is redrawn, where q quits and p pauses or resumes the sweep, and elsewhere, or
with TERM=dumb, lines. To stop watching changes nothing.

Its exit code is 0 if the sweep succeeded, %d if some jobs failed, %d if it was cancelled, %d if the watching was stopped,
and %d if the sweep could not be watched, as when no coordinator answers at first.

The ETA is a range in which the sweep ends in 8 of 10 cases. It counts what is left of each stage, the jobs that workers
have, and how jobs differ; it widens where workers come and go.`, ExitFailures, ExitCancelled, ExitInterrupted, ExitError),
		GroupID: cluster, Args: exactlyOne(nameSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Watch(c.Context(), term, o)
		},
	}
	notifyFlag(c, &o.Notify)
	targetFlags(c, &o.Coordinator)
	return c
}

func newPause(term *Terminal) *cobra.Command {
	return oneSweep("pause", "Pause a sweep",
		"Pause starts no more jobs of a sweep. Those that workers have are finished and recorded.", func(ctx context.Context, target Target, id string) error { return Pause(ctx, term, target, id) })
}

func newResume(term *Terminal) *cobra.Command {
	return oneSweep("resume", "Resume a paused sweep", "", func(ctx context.Context, target Target, id string) error { return Resume(ctx, term, target, id) })
}

func newCancel(term *Terminal) *cobra.Command {
	return oneSweep("cancel", "Cancel a sweep",
		"Cancel ends a sweep. What is recorded stays, `foible results --partial` writes it; what workers still have is refused when\nit comes. Submitted again, the sweep goes on from there.", func(ctx context.Context, target Target, id string) error { return Cancel(ctx, term, target, id) })
}

func newRetry(term *Terminal) *cobra.Command {
	return oneSweep("retry", "Try again what has failed of a sweep",
		`Retry removes the failures of a sweep from its results and computes what is missing: failed jobs, jobs with cells that
could not be computed, and what rests on them: the stages after theirs. No cell that is good is
computed again. Figures and tables are those of a sweep in which nothing failed, unless it fails again.

A sweep that still runs goes on, and tries again what failed when all its other jobs are done. Submitting a sweep again,
and foible fit in the same directory, do the same as retry.`, func(ctx context.Context, target Target, id string) error { return Retry(ctx, term, target, id) })
}

func newDelete(term *Terminal) *cobra.Command {
	var o DeleteOptions
	c := &cobra.Command{
		Use: "delete SWEEP...", Short: "Remove sweeps and their results from the disk",
		Long: `Delete removes sweeps that have ended, or were cancelled, from the coordinator's disk, with all that is recorded of them.
What foible results has written stays. Submitted again, such a sweep starts from nothing. It asks first; where nobody can
be asked, say --yes. Their studies stay at the coordinator: other sweeps may be of the same.`,
		Example: "  foible delete SWEEP --yes",
		GroupID: cluster,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s, as in `%s`", nameSweep, synopsis(c))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweeps = args
			return Delete(c.Context(), term, o)
		},
	}
	c.Flags().BoolVar(&o.Yes, "yes", false, "do not ask")
	targetFlags(c, &o.Coordinator)
	return c
}

func newExtend(term *Terminal) *cobra.Command {
	var o ExtendOptions
	c := &cobra.Command{
		Use:   "extend SWEEP",
		Short: "Add values to the grid of a sweep",
		Long: `Extend makes a sweep of a larger grid and prints its id, which is that of the larger grid submitted anew; so are its tables
and figures. It begins when SWEEP has ended, of itself or cancelled. Cells that SWEEP has recorded are not run again;
the comparisons with people and the report are.`,
		Example: "  foible extend SWEEP --set alpha=0.75,16",
		GroupID: cluster, Args: exactlyOne(nameSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Extend(c.Context(), term, o)
		},
	}
	c.Flags().StringArrayVar(&o.Set, "set", nil, "`axis=value,...` to add to the values of the axis; may be repeated")
	targetFlags(c, &o.Coordinator)
	return c
}

func newPriority(term *Terminal) *cobra.Command {
	var target Target
	c := &cobra.Command{
		Use:     "priority SWEEP N",
		Short:   "Change a sweep's share of the workers",
		Long:    fmt.Sprintf("Priority changes a sweep's share of the workers: of two sweeps, one of twice the priority is given twice as many jobs.\nIt is 1 to %d, and 10 unless told otherwise.", MaxPriority),
		GroupID: cluster,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("name a sweep and its priority, as in `%s`", synopsis(c))
			}
			return atMost(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return SetPriority(c.Context(), term, target, args[0], args[1])
		},
	}
	targetFlags(c, &target)
	return c
}

func newResults(term *Terminal) *cobra.Command {
	var o ResultsOptions
	c := &cobra.Command{
		Use:     "results SWEEP",
		Short:   "Write the tables and figures of a coordinator's sweep",
		GroupID: cluster, Args: exactlyOne(nameSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Results(c.Context(), term, o)
		},
	}
	targetFlags(c, &o.Coordinator)
	outFlag(c, &o.Out, &o.Overwrite)
	recoveryFlag(c, &o.Recovery)
	c.Flags().BoolVar(&o.Partial, "partial", false, "write what is there, though the sweep is not done")
	return c
}

func newHealth(term *Terminal) *cobra.Command {
	var target Target
	var live bool
	c := &cobra.Command{
		Use:   "health",
		Short: "Say whether a coordinator serves",
		Long: `Health asks a coordinator whether it serves, for scripts and probes. Its exit code is 0 if it does. One whose store does
not accept writes, because its disk is full or most of its NATS servers are lost, answers and does not serve: health
says why. For a probe that ends a coordinator which hangs, ask with --live: to end one with a full disk is of no use.`,
		GroupID: cluster, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return Health(c.Context(), term, target, live) },
	}
	targetFlags(c, &target)
	c.Flags().BoolVar(&live, "live", false, "exit code 0 if it answers, though it does not serve")
	return c
}

func newVersion(term *Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  atMost(0),
		Run:   func(*cobra.Command, []string) { PrintVersion(term) },
	}
}

// Exit codes of foible.
const (
	ExitError       = 1
	ExitUsage       = 2
	ExitFailures    = 3 // of watch: some jobs failed
	ExitCancelled   = 4 // of watch
	ExitInterrupted = 130
)
