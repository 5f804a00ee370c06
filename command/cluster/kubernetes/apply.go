package kubernetes

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

func newApply(term *terminal.Terminal) *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use:   "apply",
		Short: "Start coordinator and workers, or change them",
		Long:  "Apply gives manifests and Secrets to the cluster, and waits until the coordinator serves. Called again, it changes what\nhas changed: an image, or tokens after `foible token rotate --data DIR`.",
		Args:  cli.AtMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return Apply(c.Context(), term, o) },
	}
	optionFlags(c, &o)
	return c
}

// Apply starts coordinator and workers, or changes them.
func Apply(ctx context.Context, term *terminal.Terminal, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	manifests, err := renderManifests(ctx, term, &o, true)
	if err != nil {
		return err
	}
	kubectl := o.Place.kubectl(term)
	if err := kubectl.EnsureNamespace(ctx); err != nil {
		return err
	}
	if err := kubectl.Apply(ctx, manifests); err != nil {
		return err
	}
	if err := kubectl.Coordinator(ctx, rolloutTime); err != nil {
		return err
	}
	term.Say("The coordinator serves. To submit sweeps:\n  kubectl%s port-forward service/foible-coordinator 7410 &\n  foible submit my-study --token-file %s", o.Place.flags(), words.Quoted(o.Data))
	return nil
}

// rolloutTime is how long a coordinator may take to serve: nodes may have to be added, and images fetched.
const rolloutTime = 10 * time.Minute
