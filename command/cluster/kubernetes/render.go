package kubernetes

import (
	"context"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/secrets"
	"foible.dev/foible/command/terminal"
)

func newRender(term *terminal.Terminal) *cobra.Command {
	var o Options
	var secrets bool
	var out string
	c := &cobra.Command{
		Use:   "render",
		Short: "Print the manifests",
		Args:  cli.AtMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return Render(c.Context(), term, o, secrets, out) },
	}
	optionFlags(c, &o)
	c.Flags().BoolVar(&secrets, "secrets", false, "print the Secrets too, which hold authority and tokens: keep them to yourself")
	c.Flags().StringVar(&out, "out", "", "`file` for the manifests, which only you can read (default: they are printed)")
	return c
}

// Render prints manifests, or writes them to a file.
func Render(ctx context.Context, term *terminal.Terminal, o Options, withSecrets bool, out string) error {
	if err := o.validate(); err != nil {
		return err
	}
	manifests, err := renderManifests(ctx, term, &o, withSecrets)
	if err != nil {
		return err
	}
	if withSecrets || out != "" {
		return secrets.PrintSecret(term, manifests, out)
	}
	_, err = term.Out.Write(manifests)
	return err
}
