package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"foible.dev/foible/command/kubernetes"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
	"github.com/spf13/cobra"
)

// KubernetesData is where authority and tokens of a coordinator on Kubernetes are kept unless told otherwise.
const KubernetesData = "foible-kubernetes"

// KubernetesPlace is where in Kubernetes.
type KubernetesPlace struct {
	Namespace string
	Context   string // of kubectl; "": its current one
}

// KubernetesOptions say what to run on Kubernetes.
type KubernetesOptions struct {
	Place                        KubernetesPlace
	Image, Storage, StorageClass string
	Workers                      int
	NATS                         bool
	Data                         string // of authority and tokens
}

const mostPods = 100_000

func (p *KubernetesPlace) validate() error {
	if !kubernetes.ValidNamespace(p.Namespace) {
		return usagef("--namespace %q: a namespace is of small letters, digits and hyphens", p.Namespace)
	}
	return nil
}

func (p *KubernetesPlace) kubectl(e *Terminal) kubernetes.Kubectl {
	return kubernetes.Kubectl{Namespace: p.Namespace, Context: p.Context, Out: beneath(e.Err)}
}

// flags are those by which another command finds the same place.
func (p *KubernetesPlace) flags() string {
	flags := ""
	if p.Context != "" {
		flags += " --context " + words.Quoted(p.Context)
	}
	return flags + " --namespace " + p.Namespace
}

func (o *KubernetesOptions) validate() error {
	switch err := o.Place.validate(); {
	case err != nil:
		return err
	case o.Image == "":
		return usagef("--image: name an image of Foible that the cluster can fetch, as in registry.example.org/foible:1; deploy/Dockerfile builds it")
	case !kubernetes.ValidImage(o.Image):
		return usagef("--image %q: write it as registry.example.org/foible:1", o.Image)
	case o.Workers < 0 || o.Workers > mostPods:
		return usagef("--workers %d: must be 0 to %d", o.Workers, mostPods)
	case !kubernetes.ValidQuantity(o.Storage):
		return usagef("--storage %q: write it as 10Gi", o.Storage)
	case o.StorageClass != "" && !kubernetes.ValidStorageClass(o.StorageClass):
		return usagef("--storage-class %q: `kubectl get storageclass` lists those that there are", o.StorageClass)
	case o.Data == "":
		return usagef("--data: name a directory")
	}
	return nil
}

// manifests are those of the options, and the Secrets.
func renderManifests(ctx context.Context, term *Terminal, o *KubernetesOptions, secrets bool) ([]byte, error) {
	manifests, err := o.Place.kubectl(term).Manifests(ctx, kubernetes.Options{
		Namespace: o.Place.Namespace, Image: o.Image, Workers: o.Workers, Storage: o.Storage, StorageClass: o.StorageClass, NATS: o.NATS,
	})
	if err != nil || !secrets {
		return manifests, err
	}
	all, err := kubernetesSecrets(term, o)
	if err != nil {
		return nil, cannotWrite(o.Data, "--data", err)
	}
	return bytes.Join(append(all, manifests), []byte("---\n")), nil
}

// kubernetesSecrets make coordinators and workers known to each other.
func kubernetesSecrets(term *Terminal, o *KubernetesOptions) ([][]byte, error) {
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, err
	}
	_, err := access.OpenTokens(o.Data)
	fresh := errors.Is(err, access.ErrNone)
	if _, err := access.Open(access.Config{DataDir: o.Data, Limits: access.DefaultLimits(), Logger: term.Logger}); err != nil {
		return nil, err
	}
	if fresh {
		term.say("Made an authority and tokens in %s; keep it, and keep it to yourself.", words.Quoted(o.Data))
	}
	files, err := readFiles(access.Dir(o.Data), "ca.crt", "ca.key", "tokens.json", "user.token")
	if err != nil {
		return nil, err
	}
	token, err := readFiles(access.Dir(o.Data), "worker.token")
	if err != nil {
		return nil, err
	}
	names := map[string]map[string][]byte{"foible-access": files, "foible-worker-token": token}
	if o.NATS {
		password, err := natsPassword(filepath.Join(o.Data, natsPasswordFile))
		if err != nil {
			return nil, err
		}
		servers, renewed, err := kubernetes.Certificates(filepath.Join(o.Data, natsCertificates), time.Now())
		if err != nil {
			return nil, err
		}
		if renewed {
			term.say("The certificate of the NATS servers has been renewed. When it is applied: kubectl%s rollout restart statefulset/foible-nats", o.Place.flags())
		}
		servers["password"], servers["login"] = []byte(password), []byte("foible\n"+password+"\n")
		names["foible-nats"] = servers
	}
	var all [][]byte
	for _, name := range []string{"foible-access", "foible-worker-token", "foible-nats"} {
		if files, ok := names[name]; ok {
			secret, err := kubernetes.Secret(o.Place.Namespace, name, files)
			if err != nil {
				return nil, err
			}
			all = append(all, secret)
		}
	}
	return all, nil
}

func readFiles(dir string, names ...string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = content
	}
	return files, nil
}

// What the directory of authority and tokens has for NATS servers.
const natsCertificates = "nats" // a directory

// natsPassword reads the password of the NATS servers, or makes one. It begins with a letter: they take what looks like
// a number for one.
func natsPassword(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte("p" + strings.ToLower(rand.Text()))
		err = os.WriteFile(path, append(slices.Clip(text), '\n'), 0o600)
	}
	return strings.TrimSpace(string(text)), err
}

// KubernetesRender prints manifests, or writes them to a file.
func KubernetesRender(ctx context.Context, term *Terminal, o KubernetesOptions, secrets bool, out string) error {
	if err := o.validate(); err != nil {
		return err
	}
	manifests, err := renderManifests(ctx, term, &o, secrets)
	if err != nil {
		return err
	}
	if secrets || out != "" {
		return printSecret(term, manifests, out)
	}
	_, err = term.Out.Write(manifests)
	return err
}

// rolloutTime is how long a coordinator may take to serve: nodes may have to be added, and images fetched.
const rolloutTime = 10 * time.Minute

// KubernetesApply starts coordinator and workers, or changes them.
func KubernetesApply(ctx context.Context, term *Terminal, o KubernetesOptions) error {
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
	term.say("The coordinator serves. To submit sweeps:\n  kubectl%s port-forward service/foible-coordinator 7410 &\n  foible submit my-study --token-file %s", o.Place.flags(), words.Quoted(o.Data))
	return nil
}

// KubernetesScale changes the number of workers.
func KubernetesScale(ctx context.Context, term *Terminal, p KubernetesPlace, workers int) error {
	if err := p.validate(); err != nil {
		return err
	}
	if workers < 0 || workers > mostPods {
		return usagef("%d workers: must be 0 to %d", workers, mostPods)
	}
	return p.kubectl(term).Scale(ctx, workers)
}

// KubernetesStatus prints what the cluster has.
func KubernetesStatus(ctx context.Context, term *Terminal, p KubernetesPlace) error {
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

// KubernetesDelete ends coordinator and workers, and deletes volumes if asked.
func KubernetesDelete(ctx context.Context, term *Terminal, p KubernetesPlace, volumes bool) error {
	if err := p.validate(); err != nil {
		return err
	}
	return p.kubectl(term).Delete(ctx, volumes)
}

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
