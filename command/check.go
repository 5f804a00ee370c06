package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"foible.dev/foible/core/study"
	"foible.dev/foible/core/words"
	"github.com/spf13/cobra"
)

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

// Check reports everything that is wrong with a study and its sweep. It tries for so long
// whether its models can be used.
func Check(ctx context.Context, term *Terminal, name string, choice SweepChoice, limit time.Duration) error {
	if limit <= 0 {
		return usagef("--time %v: must be a time above 0, such as 10s", limit)
	}
	fsys, err := openStudy(name)
	if err != nil {
		return err
	}
	x, err := examine(ctx, fsys, &choice, limit)
	if err != nil {
		return interrupted(ctx, err)
	}
	if x.study != nil {
		term.print("%s: %s of %s", x.study.Name, words.Count(len(x.study.Stimuli), "stimulus"), x.study.Domain.Name)
	}
	found := x.findings
	if x.usable != "" {
		found = append(found, study.Finding{Severity: study.Note, Message: fmt.Sprintf("models that can be used with every stimulus: `%s`", x.usable)})
	}
	counts := map[study.Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
		term.print("%s", f)
	}
	if x.err == nil {
		term.print("sweep: %s", methodText(x.config))
	} else {
		for line := range strings.Lines(x.err.Error()) {
			counts[study.Error]++
			term.print("%s", strings.TrimSpace(line))
		}
	}
	if x.beyond != nil {
		counts[study.Error]++
		term.print("sweep: %v", x.beyond)
	}
	term.print("%s, %s, %s", words.Count(counts[study.Error], "error"), words.Count(counts[study.Warning], "warning"), words.Count(counts[study.Note], "note"))
	if counts[study.Error] > 0 {
		return ErrReported
	}
	return nil
}

// How long check, and commands that run a sweep, try whether its models can be used.
const (
	DefaultCheckTime = 10 * time.Second
	briefCheckTime   = 5 * time.Second
)
