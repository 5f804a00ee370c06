package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"foible.dev/foible/core/words"
	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
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
