// Foible fits models of other people's mistakes to human judgements, on a
// laptop or a cluster. This file is its table of commands; what each one does
// is in the package command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"foible/command"
	"foible/domains"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx))
}

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func run(ctx context.Context) int {
	err := root().ExecuteContext(ctx)
	var usage *command.UsageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, command.ErrInterrupted):
		return exitInterrupted
	case errors.Is(err, command.ErrReported):
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "foible:", err)
		fmt.Fprintln(os.Stderr, "`foible COMMAND --help` lists flags and examples.")
		return exitUsage
	}
	fmt.Fprintln(os.Stderr, "foible:", err)
	return exitFailed
}

func root() *cobra.Command {
	env := &command.Env{Out: os.Stdout, Err: os.Stderr, Version: command.Version()}
	var logLevel, logFormat string
	c := &cobra.Command{
		Use:   "foible",
		Short: "Fit models of other people's mistakes to human judgements",
		Long: `Foible fits models of agents that make mistakes to human judgements about their goals.

A study is a directory with study.yaml; without one, commands take a sample. Start with:

  foible fit                 fit the sample study, on this machine
  foible sample DIR          write the sample study to DIR, to make it yours
  foible check DIR           find everything wrong with a study before any time is spent
  foible fit DIR             fit it`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			level := hclog.LevelFromString(logLevel)
			if level == hclog.NoLevel || logFormat != "text" && logFormat != "json" {
				return &command.UsageError{Err: fmt.Errorf("--log-level is trace, debug, info, warn or error; --log-format is text or json")}
			}
			env.Logger = hclog.New(&hclog.LoggerOptions{Name: "foible", Level: level, Output: os.Stderr, JSONFormat: logFormat == "json"})
			return nil
		},
	}
	c.PersistentFlags().StringVar(&logLevel, "log-level", "warn", "least level of messages: trace, debug, info, warn, error")
	c.PersistentFlags().StringVar(&logFormat, "log-format", "text", "format of messages: text, json")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &command.UsageError{Err: err} })
	c.AddCommand(fit(env), check(env), sample(env), coordinator(env), worker(env), submit(env), status(env), results(env), version(env))
	return c
}

// atMost refuses more than n arguments, and says what they are.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return &command.UsageError{Err: fmt.Errorf("too many arguments %q: expected %s", args, what)}
		}
		return nil
	}
}

func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func sweepFlags(c *cobra.Command) *command.SweepChoice {
	s := &command.SweepChoice{}
	c.Flags().StringVar(&s.File, "sweep", "", "sweep.yaml to use in place of the study's")
	c.Flags().StringSliceVar(&s.Models, "models", nil, "models to sweep, in place of all of the sweep's")
	c.Flags().StringArrayVar(&s.Set, "set", nil, "values of an axis, axis=value[,value...], in place of the sweep's; may be repeated")
	c.Flags().IntVar(&s.Runs, "runs", 0, "runs a cell, for models that are not exact")
	c.Flags().StringVar(&s.Seed, "seed", "", "seed of the sweep")
	return s
}

func addressFlag(c *cobra.Command) *string {
	address := os.Getenv("FOIBLE_COORDINATOR")
	if address == "" {
		address = command.DefaultAddress
	}
	c.Flags().StringVar(&address, "coordinator", address, "coordinator's host:port (or FOIBLE_COORDINATOR)")
	return &address
}

func fit(env *command.Env) *cobra.Command {
	var o command.FitOptions
	c := &cobra.Command{
		Use:   "fit [STUDY]",
		Short: "Fit a study's sweep on this machine",
		Long: `Fit runs a sweep to its end on this machine, and writes tables and figures. Interrupted, it goes on where it
stopped when it is called again with the same output directory. STUDY is a directory with study.yaml, or the name
of a sample: ` + domains.Names() + `.`,
		Example: "  foible fit\n  foible fit my-study --out my-fit\n  foible fit block-words --models boltzmann --set alpha=0.25,0.5,1 --set value=optimal,on_policy",
		Args:    atMost(1, "[STUDY]"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			return env.Fit(c.Context(), o)
		},
	}
	choice := sweepFlags(c)
	c.PreRun = func(*cobra.Command, []string) { o.Sweep = *choice }
	c.Flags().IntVar(&o.Workers, "workers", 0, "worker slots (default: one a core)")
	c.Flags().StringVar(&o.Out, "out", "", "output directory (default: foible-STUDY)")
	return c
}

func check(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [STUDY]",
		Short: "Find everything wrong with a study and its sweep",
		Long:  "Check reads a study and its sweep and prints all errors, warnings and notes. It ends with 1 if there are errors.",
		Args:  atMost(1, "[STUDY]"),
	}
	choice := sweepFlags(c)
	c.RunE = func(_ *cobra.Command, args []string) error { return env.Check(argument(args), *choice) }
	return c
}

func sample(env *command.Env) *cobra.Command {
	var domain string
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "Write a sample study, to start from",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &command.UsageError{Err: errors.New("name the directory to write: foible sample DIR")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return env.Sample(domain, args[0]) },
	}
	c.Flags().StringVar(&domain, "domain", domains.All[0].Name, "domain of the study: "+domains.Names())
	return c
}

// daemonLevel makes info the level of a daemon that has not been told another.
func daemonLevel(c *cobra.Command, env *command.Env) {
	if !c.Flags().Changed("log-level") {
		env.Logger.SetLevel(hclog.Info)
	}
}

func coordinator(env *command.Env) *cobra.Command {
	var o command.CoordinatorOptions
	c := &cobra.Command{
		Use:   "coordinator",
		Short: "Give out the jobs of sweeps to workers",
		Long:  "Coordinator keeps studies, sweeps and results in its data directory, and gives out jobs until it is interrupted. Started again on the same directory, it goes on.",
		Args:  atMost(0, "none"),
		RunE: func(c *cobra.Command, _ []string) error {
			daemonLevel(c, env)
			return env.Coordinator(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.Listen, "listen", command.DefaultAddress, "loopback address to listen on")
	c.Flags().StringVar(&o.Data, "data", "foible-data", "directory of studies, sweeps and results")
	c.Flags().DurationVar(&o.Lease, "lease", 30*time.Second, "how long a job that is not heard of stays with its worker")
	return c
}

func worker(env *command.Env) *cobra.Command {
	var o command.WorkerOptions
	c := &cobra.Command{
		Use:   "worker",
		Short: "Do jobs for a coordinator",
		Long:  "Worker does jobs until it is interrupted; then it finishes or hands back what it holds.",
		Args:  atMost(0, "none"),
		RunE: func(c *cobra.Command, _ []string) error {
			daemonLevel(c, env)
			return env.Worker(c.Context(), o)
		},
	}
	address := addressFlag(c)
	c.PreRun = func(*cobra.Command, []string) { o.Coordinator = *address }
	c.Flags().IntVar(&o.Slots, "slots", runtime.GOMAXPROCS(0), "jobs done at once")
	c.Flags().DurationVar(&o.Drain, "drain", 20*time.Second, "how long jobs may go on after an interrupt before they are handed back")
	return c
}

func submit(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "submit [STUDY]",
		Short: "Give a sweep to a coordinator",
		Long:  "Submit sends a study and its sweep to a coordinator and prints the sweep's id. The same study and sweep have the same id, and are not done twice.",
		Args:  atMost(1, "[STUDY]"),
	}
	choice, address := sweepFlags(c), addressFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.Submit(c.Context(), *address, argument(args), *choice)
	}
	return c
}

func status(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "status [SWEEP]",
		Short: "Show the sweeps of a coordinator, or one with its best fits",
		Args:  atMost(1, "[SWEEP]"),
	}
	address := addressFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.Status(c.Context(), *address, argument(args))
	}
	return c
}

func results(env *command.Env) *cobra.Command {
	var out string
	var partial bool
	c := &cobra.Command{
		Use:   "results SWEEP",
		Short: "Write the tables and figures of a sweep",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &command.UsageError{Err: errors.New("name one sweep; `foible status` lists them")}
			}
			return nil
		},
	}
	address := addressFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.Results(c.Context(), *address, args[0], out, partial)
	}
	c.Flags().StringVar(&out, "out", "", "output directory (default: foible-STUDY)")
	c.Flags().BoolVar(&partial, "partial", false, "write what is there, though the sweep is still running")
	return c
}

func version(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  atMost(0, "none"),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(env.Out, "foible %s (%s, %s/%s)\n", env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
