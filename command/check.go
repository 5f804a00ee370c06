package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/words"
)

func newCheck(term *terminal.Terminal) *cobra.Command {
	var choice input.SweepChoice
	limit := DefaultCheckTime
	c := &cobra.Command{
		Use:   "check [STUDY]",
		Short: "Check a study and its sweep for errors",
		Long: `Check reads a study and its sweep and prints all errors, warnings and notes, each with its place. It makes what the models
of the sweep need of each stimulus, such as heuristics and the states that can be reached, and says which models cannot be
used and why. Its exit code is 1 if there are errors. Commands that run a sweep check it first, and run nothing then.`,
		GroupID: cli.GroupLocal, Args: cli.AtMost(1), ValidArgsFunction: input.CompleteStudy,
		RunE: func(c *cobra.Command, args []string) error {
			return Check(c.Context(), term, cli.OptionalArgument(args), choice, limit)
		},
	}
	input.SweepFlags(c, &choice)
	c.Flags().DurationVar(&limit, "time", limit, "`time` after which it no longer tries what models need, and says what was left out")
	return c
}

// Check reports everything that is wrong with a study and its sweep. It tries for so long
// whether its models can be used.
func Check(ctx context.Context, term *terminal.Terminal, name string, choice input.SweepChoice, limit time.Duration) error {
	if limit <= 0 {
		return cli.Usagef("--time %v: must be a time above 0, such as 10s", limit)
	}
	fsys, err := input.OpenStudy(name)
	if err != nil {
		return err
	}
	x, err := input.Examine(ctx, fsys, &choice, limit)
	if err != nil {
		return cli.Interrupted(ctx, err)
	}
	if x.Study != nil {
		term.Print("%s: %s of %s", x.Study.Name, words.Count(len(x.Study.Stimuli), "stimulus"), x.Study.Domain.Name)
	}
	found := x.Findings
	if x.Usable != "" {
		found = append(found, study.Finding{Severity: study.Note, Message: fmt.Sprintf("models that can be used with every stimulus: `%s`", x.Usable)})
	}
	counts := map[study.Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
		term.Print("%s", f)
	}
	if x.Err == nil {
		term.Print("sweep: %s", input.MethodText(x.Config))
	} else {
		for line := range strings.Lines(x.Err.Error()) {
			counts[study.Error]++
			term.Print("%s", strings.TrimSpace(line))
		}
	}
	if x.Beyond != nil {
		counts[study.Error]++
		term.Print("sweep: %v", x.Beyond)
	}
	term.Print("%s, %s, %s", words.Count(counts[study.Error], "error"), words.Count(counts[study.Warning], "warning"), words.Count(counts[study.Note], "note"))
	if counts[study.Error] > 0 {
		return cli.ErrReported
	}
	return nil
}

// DefaultCheckTime is how long check tries whether models can be used.
const DefaultCheckTime = 10 * time.Second
