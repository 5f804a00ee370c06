package command

import (
	"github.com/spf13/cobra"
)

// clusterOf starts and stops coordinators and workers where a scheduler runs them.
func newCluster(term *Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:     "cluster",
		Short:   "Run a sweep on a cluster with a scheduler of its own",
		GroupID: cluster, Args: unknownCommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(newSlurm(term), newKubernetes(term))
	return c
}
