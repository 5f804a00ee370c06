package kubernetes

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

func newStatus(term *terminal.Terminal) *cobra.Command {
	var place Place
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the pods of coordinator and workers",
		Args:  cli.AtMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return Status(c.Context(), term, place) },
	}
	placeFlags(c, &place)
	return c
}

// Status prints what the cluster has.
func Status(ctx context.Context, term *terminal.Terminal, p Place) error {
	if err := p.validate(); err != nil {
		return err
	}
	found, err := p.kubectl(term).Status(ctx)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(found)) == 0 {
		return fmt.Errorf("the namespace %s has nothing of Foible; start it with `foible cluster kubernetes apply`, or name another with --namespace", p.Namespace)
	}
	_, err = term.Out.Write(found)
	return err
}
