package command

import (
	"strconv"

	"github.com/spf13/cobra"
)

func newKubernetes(term *Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "kubernetes",
		Short: "Run a coordinator and workers on Kubernetes",
		Long: `Kubernetes runs a coordinator and workers on a cluster, with the kubectl that is on PATH. The coordinator's authority and
tokens are made here, in a directory that is kept: it is what lets you, and nobody else, submit sweeps.`,
		Example: `  foible cluster kubernetes apply --image registry.example.org/foible:1 --workers 20
  kubectl --namespace foible port-forward service/foible-coordinator 7410 &
  foible submit my-study --token-file foible-kubernetes`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(newKubernetesRender(term), newKubernetesApply(term), newKubernetesScale(term), newKubernetesStatus(term), newKubernetesDelete(term))
	return c
}

func kubernetesPlaceFlags(c *cobra.Command, p *KubernetesPlace) {
	c.Flags().StringVar(&p.Namespace, "namespace", "foible", "`name` of the namespace")
	c.Flags().StringVar(&p.Context, "context", "", "`name` of kubectl's context (default: its current one)")
}

func kubernetesFlags(c *cobra.Command, o *KubernetesOptions) {
	kubernetesPlaceFlags(c, &o.Place)
	c.Flags().StringVar(&o.Image, "image", "", "`image` of Foible, as in registry.example.org/foible:1")
	c.Flags().IntVar(&o.Workers, "workers", 3, "`number` of workers, with a core each")
	c.Flags().StringVar(&o.Storage, "storage", "10Gi", "`size` of the volume with the results; with --nats, of each of three")
	c.Flags().StringVar(&o.StorageClass, "storage-class", "", "`name` of its storage class (default: the cluster's)")
	c.Flags().BoolVar(&o.NATS, "nats", false, "keep studies, sweeps and results on three NATS servers, with two coordinators: no loss of one node stops a sweep")
	c.Flags().StringVar(&o.Data, "data", KubernetesData, "`directory` of authority and tokens; made if it is not there")
}

func newKubernetesRender(term *Terminal) *cobra.Command {
	var o KubernetesOptions
	var secrets bool
	var out string
	c := &cobra.Command{
		Use:   "render",
		Short: "Print the manifests",
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return KubernetesRender(c.Context(), term, o, secrets, out) },
	}
	kubernetesFlags(c, &o)
	c.Flags().BoolVar(&secrets, "secrets", false, "print the Secrets too, which hold authority and tokens: keep them to yourself")
	c.Flags().StringVar(&out, "out", "", "`file` for the manifests, which only you can read (default: they are printed)")
	return c
}

func newKubernetesApply(term *Terminal) *cobra.Command {
	var o KubernetesOptions
	c := &cobra.Command{
		Use:   "apply",
		Short: "Start coordinator and workers, or change them",
		Long:  "Apply gives manifests and Secrets to the cluster, and waits until the coordinator serves. Called again, it changes what\nhas changed: an image, or tokens after `foible token rotate --data DIR`.",
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return KubernetesApply(c.Context(), term, o) },
	}
	kubernetesFlags(c, &o)
	return c
}

func newKubernetesScale(term *Terminal) *cobra.Command {
	var place KubernetesPlace
	c := &cobra.Command{
		Use:   "scale N",
		Short: "Change the number of workers",
		Long:  "Scale changes the number of workers. Those that leave finish or hand back what they hold.",
		Args:  exactlyOne("say how many workers there are to be"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef("%q: say how many workers there are to be, as a whole number", args[0])
			}
			return KubernetesScale(c.Context(), term, place, n)
		},
	}
	kubernetesPlaceFlags(c, &place)
	return c
}

func newKubernetesStatus(term *Terminal) *cobra.Command {
	var place KubernetesPlace
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what the cluster has of coordinator and workers",
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return KubernetesStatus(c.Context(), term, place) },
	}
	kubernetesPlaceFlags(c, &place)
	return c
}

func newKubernetesDelete(term *Terminal) *cobra.Command {
	var place KubernetesPlace
	var volumes bool
	c := &cobra.Command{
		Use:   "delete",
		Short: "End coordinator and workers; what is recorded stays",
		Long:  "Delete ends coordinator and workers. Volumes stay, and `apply` goes on with what they hold; so do the namespace, and\nauthority and tokens on this machine.",
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return KubernetesDelete(c.Context(), term, place, volumes) },
	}
	kubernetesPlaceFlags(c, &place)
	c.Flags().BoolVar(&volumes, "volumes", false, "delete the volumes too, and with them studies, sweeps and results")
	return c
}
