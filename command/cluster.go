package command

import (
	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/kubernetes"
	"foible.dev/foible/command/cluster/slurm"
	"foible.dev/foible/command/terminal"
)

// clusterOf starts and stops coordinators and workers where a scheduler runs them.
func newCluster(term *terminal.Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:     "cluster",
		Short:   "Run a sweep on Slurm or Kubernetes",
		GroupID: cli.GroupCluster, Args: cli.UnknownCommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(slurm.New(term), kubernetes.New(term))
	return c
}
