// Package slurm has the commands that run a sweep under Slurm: a coordinator,
// workers as job arrays, and the directory that all nodes see. What it asks of
// Slurm is in the package scheduler. Read [Submit] first.
package slurm

import (
	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

// New returns the command slurm.
func New(term *terminal.Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "slurm",
		Short: "Run a sweep under Slurm",
		Long: `Slurm runs a sweep with workers that are jobs of Slurm. Submit returns at once; tables and figures appear in the
sweep's directory, which all nodes must see and by which the other commands know the sweep, on any of them.`,
		Example: "  foible cluster slurm submit my-study --workers 200 --time 4:00:00\n  foible cluster slurm status",
		Args:    cli.UnknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(newSubmit(term), newStatus(term), newScale(term), newStop(term), newRestart(term), newCoordinator(term), newWorker(term))
	return c
}

func dirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "", "`directory` of the sweep (default: the current one, or the only one in it)")
}

// jobFlags are what Slurm is asked for each worker.
func jobFlags(c *cobra.Command, o *JobOptions) {
	c.Flags().IntVar(&o.CPUs, "cpus-per-worker", 1, "`number` of cores of a worker, each with a job of its own")
	c.Flags().StringVar(&o.Memory, "mem", "", "`memory` of a worker, as sbatch takes it")
	c.Flags().StringVar(&o.Time, "time", "", "`limit` of a worker's time, as sbatch takes it; 5 minutes at least")
	c.Flags().StringVar(&o.Partition, "partition", "", "`name` of a partition")
	c.Flags().StringVar(&o.Account, "account", "", "`name` of an account")
	c.Flags().StringArrayVar(&o.Options, "sbatch-option", nil, "`option` for sbatch, such as --qos=long; may be repeated")
}
