package kubernetes

import (
	"context"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

func newDelete(term *terminal.Terminal) *cobra.Command {
	var place Place
	var volumes bool
	c := &cobra.Command{
		Use:   "delete",
		Short: "Delete coordinator and workers, and keep what is recorded",
		Long:  "Delete ends coordinator and workers. Volumes stay, and `apply` goes on with what they hold; so do the namespace, and\nauthority and tokens on this machine.",
		Args:  cli.AtMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return Delete(c.Context(), term, place, volumes) },
	}
	placeFlags(c, &place)
	c.Flags().BoolVar(&volumes, "volumes", false, "delete the volumes too, and with them studies, sweeps and results")
	return c
}

// Delete ends coordinator and workers, and deletes volumes if asked.
func Delete(ctx context.Context, term *terminal.Terminal, p Place, volumes bool) error {
	if err := p.validate(); err != nil {
		return err
	}
	return p.kubectl(term).Delete(ctx, volumes)
}
