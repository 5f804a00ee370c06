package kubernetes

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

func newScale(term *terminal.Terminal) *cobra.Command {
	var place Place
	c := &cobra.Command{
		Use:   "scale N",
		Short: "Change the number of workers",
		Long:  "Scale changes the number of workers. Those that leave finish or hand back what they hold.",
		Args:  cli.ExactlyOne("say how many workers there are to be"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return cli.Usagef("%q: say how many workers there are to be, as a whole number", args[0])
			}
			return Scale(c.Context(), term, place, n)
		},
	}
	placeFlags(c, &place)
	return c
}

// Scale changes the number of workers.
func Scale(ctx context.Context, term *terminal.Terminal, p Place, workers int) error {
	if err := p.validate(); err != nil {
		return err
	}
	if workers < 0 || workers > mostPods {
		return cli.Usagef("%d workers: must be 0 to %d", workers, mostPods)
	}
	return p.kubectl(term).Scale(ctx, workers)
}
