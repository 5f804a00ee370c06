package command

import (
	"strconv"

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

func newSlurm(term *Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "slurm",
		Short: "Run a sweep under Slurm",
		Long: `Slurm runs a sweep with workers that are jobs of Slurm. Submit returns at once; tables and figures appear in the
sweep's directory, which all nodes must see and by which the other commands know the sweep, on any of them.`,
		Example: "  foible cluster slurm submit my-study --workers 200 --time 4:00:00\n  foible cluster slurm status",
		Args:    unknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(newSlurmSubmit(term), newSlurmStatus(term), newSlurmScale(term), newSlurmStop(term), newSlurmRestart(term), newSlurmCoordinator(term), newSlurmWorker(term))
	return c
}

func slurmDirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "", "`directory` of the sweep (default: the current one, or the only one in it)")
}

func newSlurmSubmit(term *Terminal) *cobra.Command {
	o := SlurmOptions{Workers: 10, Listen: SlurmListen}
	c := &cobra.Command{
		Use:   "submit [STUDY]",
		Short: "Start a coordinator and submit workers for a study's sweep",
		Long: `Submit starts a coordinator on this machine, which outlives the command, or as a job with --coordinator-job, where a
login node does not suffer it. It submits workers as job arrays and returns. Workers that learn that their time is
nearly up finish or hand back what they hold, and go back into the queue while something is left to do. When the sweep
has ended, workers and coordinator end too, and tables and figures are in DIR/results.

If Slurm refuses one of the jobs, all others are cancelled and nothing is left running. The same command again, with the
same directory, goes on with a sweep that was stopped or has lost its coordinator. Options for workers that are given
then hold for workers from now on: those that wait in the queue are replaced, and those that run keep theirs.`,
		Example: "  foible cluster slurm submit my-study --workers 200 --time 4:00:00 --partition short\n  foible cluster slurm submit my-study --workers 50 --cpus-per-worker 4 --mem 2G --sbatch-option=--qos=long",
		Args:    atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study, o.Given = argument(args), c.Flags().Changed
			return SlurmSubmit(c.Context(), term, o)
		},
	}
	sweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Workers, "workers", o.Workers, "`number` of workers")
	slurmJobFlags(c, &o.Jobs)
	c.Flags().StringVar(&o.Dir, "dir", "", "`directory` that all nodes see (default: foible-slurm-NAME, by the study's name)")
	c.Flags().StringVar(&o.Data, "data", "", "`directory` of the coordinator, best on a local disk (default: DIR/data)")
	c.Flags().StringVar(&o.Listen, "listen", o.Listen, "`host:port` on which the coordinator listens; without a host, on all addresses, and workers dial the\nmachine's name; port 0 is a free one")
	c.Flags().BoolVar(&o.Share, "share", false, "let others on the cluster read the directory, participants' answers and all but its tokens")
	c.Flags().BoolVar(&o.AsJob, "coordinator-job", false, "run the coordinator as a job of Slurm, with the options of the workers but --mem")
	return c
}

// slurmJobFlags are what Slurm is asked for each worker.
func slurmJobFlags(c *cobra.Command, o *SlurmJobOptions) {
	c.Flags().IntVar(&o.CPUs, "cpus-per-worker", 1, "`number` of cores of a worker, each with a job of its own")
	c.Flags().StringVar(&o.Memory, "mem", "", "`memory` of a worker, as sbatch takes it")
	c.Flags().StringVar(&o.Time, "time", "", "`limit` of a worker's time, as sbatch takes it; 5 minutes at least")
	c.Flags().StringVar(&o.Partition, "partition", "", "`name` of a partition")
	c.Flags().StringVar(&o.Account, "account", "", "`name` of an account")
	c.Flags().StringArrayVar(&o.Options, "sbatch-option", nil, "`option` for sbatch, such as --qos=long; may be repeated")
}

func newSlurmStatus(term *Terminal) *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how far the sweep is, and what Slurm has of it",
		Long:  "Status shows how far the sweep is, and what Slurm has of it. With --json it prints an object with the fields\n\n" + SlurmStatusFields(),
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return SlurmStatus(c.Context(), term, dir, asJSON) },
	}
	jsonFlag(c, &asJSON)
	slurmDirFlag(c, &dir)
	return c
}

func newSlurmScale(term *Terminal) *cobra.Command {
	var dir string
	var jobs SlurmJobOptions
	c := &cobra.Command{
		Use:   "scale N",
		Short: "Change the number of workers",
		Long:  "Scale submits workers until there are N, or tells as many to leave; those that have not begun go first.\nOptions for workers that are given hold from now on, as with `foible cluster slurm submit`; the others stay as they were.",
		Args:  exactlyOne("say how many workers there are to be"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef("%q: say how many workers there are to be, as a whole number", args[0])
			}
			return SlurmScale(c.Context(), term, dir, n, jobs, c.Flags().Changed)
		},
	}
	slurmJobFlags(c, &jobs)
	slurmDirFlag(c, &dir)
	return c
}

func newSlurmStop(term *Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "stop",
		Short: "End workers and coordinator; what is recorded stays",
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return SlurmStop(c.Context(), term, dir) },
	}
	slurmDirFlag(c, &dir)
	return c
}

func newSlurmRestart(term *Terminal) *cobra.Command {
	var dir string
	var jobs SlurmJobOptions
	c := &cobra.Command{
		Use:   "restart",
		Short: "Go on with a sweep that was stopped or has lost its coordinator",
		Long:  "Restart starts the coordinator again, here or as a job, where there is none any more; it needs the coordinator's data\ndirectory. It submits workers for those that have left. Options for workers that are given hold from now on;\nthe others stay as they were.",
		Args:  atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return SlurmRestart(c.Context(), term, dir, jobs, c.Flags().Changed)
		},
	}
	slurmJobFlags(c, &jobs)
	slurmDirFlag(c, &dir)
	return c
}

// slurmCoordinator is what submit starts.
func newSlurmCoordinator(term *Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "coordinator", Hidden: true, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return SlurmCoordinator(c.Context(), term, dir) },
	}
	slurmDirFlag(c, &dir)
	return c
}

// slurmWorker is what a job of Slurm runs.
func newSlurmWorker(term *Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "worker", Hidden: true, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return SlurmWorker(c.Context(), term, dir) },
	}
	slurmDirFlag(c, &dir)
	return c
}
