// Package command is the command line of foible: [NewRoot] puts together all
// commands. Those on sweeps, stimuli and clusters are in packages of their own;
// the small ones on files are here.
package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/fit"
	"foible.dev/foible/command/secrets"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/stimulus"
	"foible.dev/foible/command/sweeps"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

// NewRoot returns foible with all its commands.
func NewRoot(term *terminal.Terminal) *cobra.Command {
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
  foible check DIR           check a study for errors before running it
  foible fit DIR             fit it`,
		Args: cli.UnknownCommand,
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
			if err := cli.RefuseZero(c); err != nil {
				return err
			}
			level, err := levelOf(c, logLevel)
			if err != nil {
				return err
			}
			if !slices.Contains(logFormats, logFormat) {
				return cli.Usagef("--log-format %q: it can be %s", logFormat, words.Options(logFormat, logFormats))
			}
			term.Logger = hclog.New(&hclog.LoggerOptions{Name: "foible", Level: level, Output: term.Logs, JSONFormat: logFormat == "json"})
			return checkPrivate(term, c, strict)
		},
	}
	c.PersistentFlags().StringVar(&logLevel, "log-level", "", "minimum `level` of messages: "+strings.Join(logLevels, ", ")+" (default: info for coordinator and worker, else warn)")
	c.PersistentFlags().StringVar(&logFormat, "log-format", logFormats[0], "`format` of messages: "+strings.Join(logFormats, ", "))
	c.PersistentFlags().BoolVar(&strict, "strict", false, "refuse files of tokens and keys that others on this machine can read, instead of only warning")
	cli.Complete(c, "log-level", logLevels...)
	cli.Complete(c, "log-format", logFormats...)
	c.Flags().BoolVar(&printVersion, "version", false, "print the version")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &cli.UsageError{Err: cli.ExplainFlag(c, err)} })
	c.AddGroup(&cobra.Group{ID: cli.GroupLocal, Title: "Commands on this machine:"}, &cobra.Group{ID: cli.GroupCluster, Title: "Commands for a coordinator and workers:"})
	c.AddCommand(fit.NewFit(term), fit.NewEstimate(term), fit.NewRecover(term), newReport(term), stimulus.NewInfer(term), stimulus.NewSimulate(term), newCheck(term), newSample(term), serve.NewCoordinator(term), serve.NewWorker(term), secrets.NewToken(term),
		sweeps.NewSubmit(term), sweeps.NewList(term), sweeps.NewStatus(term), sweeps.NewWatch(term), sweeps.NewPause(term), sweeps.NewResume(term), sweeps.NewCancel(term), sweeps.NewRetry(term), sweeps.NewDelete(term), sweeps.NewExtend(term), sweeps.NewPriority(term), sweeps.NewResults(term), newCluster(term), sweeps.NewHealth(term), newDocs(term), newVersion(term))
	return c
}

// checkPrivate looks at the files with secrets that flags name. What runs for long says so in its log.
func checkPrivate(term *terminal.Terminal, c *cobra.Command, strict bool) error {
	value := func(flag string) string {
		f := c.Flags().Lookup(flag)
		switch {
		case f == nil:
			return ""
		case flag == "token-file" && f.Value.String() == "" && os.Getenv(connect.TokenEnv) == "":
			return cli.DefaultData
		}
		return f.Value.String()
	}
	return secrets.CheckPrivate(term, strict, value, func(message string) {
		if logsInfo(c) {
			term.Logger.Warn(message)
		} else {
			fmt.Fprintf(term.Err, "Warning: %s\n", message)
		}
	})
}

// logsInfo reports whether a command is one that logs what it does, by default.
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
		return 0, cli.Usagef("--log-level %q: it can be %s", asked, words.Options(asked, logLevels))
	case logsInfo(c):
		return hclog.Info, nil
	}
	return hclog.Warn, nil
}
