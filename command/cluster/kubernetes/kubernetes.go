// Package kubernetes has the commands that run a coordinator and workers on
// Kubernetes. What they ask of kubectl is in the package kubectl. Read [Apply]
// first.
package kubernetes

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/kubernetes/kubectl"
	"foible.dev/foible/command/secrets"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
)

// DefaultData is where authority and tokens of a coordinator on Kubernetes are kept by default.
const DefaultData = "foible-kubernetes"

// Place is where in Kubernetes.
type Place struct {
	Namespace string
	Context   string // of kubectl; "": its current one
}

// Options say what to run on Kubernetes.
type Options struct {
	Place                        Place
	Image, Storage, StorageClass string
	Workers                      int
	NATS                         bool
	Data                         string // of authority and tokens
}

const mostPods = 100_000

func (p *Place) validate() error {
	if !kubectl.ValidNamespace(p.Namespace) {
		return cli.Usagef("--namespace %q: a namespace is of small letters, digits and hyphens", p.Namespace)
	}
	return nil
}

func (p *Place) kubectl(e *terminal.Terminal) kubectl.Client {
	return kubectl.Client{Namespace: p.Namespace, Context: p.Context, Out: terminal.Underlying(e.Err)}
}

// flags are those by which another command finds the same place.
func (p *Place) flags() string {
	flags := ""
	if p.Context != "" {
		flags += " --context " + words.Quoted(p.Context)
	}
	return flags + " --namespace " + p.Namespace
}

func (o *Options) validate() error {
	switch err := o.Place.validate(); {
	case err != nil:
		return err
	case o.Image == "":
		return cli.Usagef("--image: name an image of Foible that the cluster can fetch, as in registry.example.org/foible:1; deploy/Dockerfile builds it")
	case !kubectl.ValidImage(o.Image):
		return cli.Usagef("--image %q: write it as registry.example.org/foible:1", o.Image)
	case o.Workers < 0 || o.Workers > mostPods:
		return cli.Usagef("--workers %d: must be 0 to %d", o.Workers, mostPods)
	case !kubectl.ValidQuantity(o.Storage):
		return cli.Usagef("--storage %q: write it as 10Gi", o.Storage)
	case o.StorageClass != "" && !kubectl.ValidStorageClass(o.StorageClass):
		return cli.Usagef("--storage-class %q: `kubectl get storageclass` lists those that there are", o.StorageClass)
	case o.Data == "":
		return cli.Usagef("--data: name a directory")
	}
	return nil
}

// manifests are those of the options, and the Secrets.
func renderManifests(ctx context.Context, term *terminal.Terminal, o *Options, secrets bool) ([]byte, error) {
	manifests, err := o.Place.kubectl(term).Manifests(ctx, kubectl.Options{
		Namespace: o.Place.Namespace, Image: o.Image, Workers: o.Workers, Storage: o.Storage, StorageClass: o.StorageClass, NATS: o.NATS,
	})
	if err != nil || !secrets {
		return manifests, err
	}
	all, err := secretManifests(term, o)
	if err != nil {
		return nil, cli.CannotWrite(o.Data, "--data", err)
	}
	return bytes.Join(append(all, manifests), []byte("---\n")), nil
}

// secretManifests make coordinators and workers known to each other.
func secretManifests(term *terminal.Terminal, o *Options) ([][]byte, error) {
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, err
	}
	_, err := access.OpenTokens(o.Data)
	fresh := errors.Is(err, access.ErrNone)
	if _, err := access.Open(access.Config{DataDir: o.Data, Limits: access.DefaultLimits(), Logger: term.Logger}); err != nil {
		return nil, err
	}
	if fresh {
		term.Say("Made an authority and tokens in %s; keep it, and keep it to yourself.", words.Quoted(o.Data))
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
		password, err := natsPassword(filepath.Join(o.Data, secrets.NatsPasswordFile))
		if err != nil {
			return nil, err
		}
		servers, renewed, err := kubectl.Certificates(filepath.Join(o.Data, natsCertificates), time.Now())
		if err != nil {
			return nil, err
		}
		if renewed {
			term.Say("The certificate of the NATS servers has been renewed. When it is applied: kubectl%s rollout restart statefulset/foible-nats", o.Place.flags())
		}
		servers["password"], servers["login"] = []byte(password), []byte("foible\n"+password+"\n")
		names["foible-nats"] = servers
	}
	var all [][]byte
	for _, name := range []string{"foible-access", "foible-worker-token", "foible-nats"} {
		if files, ok := names[name]; ok {
			secret, err := kubectl.Secret(o.Place.Namespace, name, files)
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

// New returns the command kubernetes.
func New(term *terminal.Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "kubernetes",
		Short: "Run a coordinator and workers on Kubernetes",
		Long: `Kubernetes runs a coordinator and workers on a cluster, with the kubectl that is on PATH. The coordinator's authority and
tokens are made here, in a directory that is kept: it is what lets you, and nobody else, submit sweeps.`,
		Example: `  foible cluster kubernetes apply --image registry.example.org/foible:1 --workers 20
  kubectl --namespace foible port-forward service/foible-coordinator 7410 &
  foible submit my-study --token-file foible-kubernetes`,
		Args: cli.UnknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(newRender(term), newApply(term), newScale(term), newStatus(term), newDelete(term))
	return c
}

func placeFlags(c *cobra.Command, p *Place) {
	c.Flags().StringVar(&p.Namespace, "namespace", "foible", "`name` of the namespace")
	c.Flags().StringVar(&p.Context, "context", "", "`name` of kubectl's context (default: its current one)")
}

func optionFlags(c *cobra.Command, o *Options) {
	placeFlags(c, &o.Place)
	c.Flags().StringVar(&o.Image, "image", "", "`image` of Foible, as in registry.example.org/foible:1")
	c.Flags().IntVar(&o.Workers, "workers", 3, "`number` of workers, with a core each")
	c.Flags().StringVar(&o.Storage, "storage", "10Gi", "`size` of the volume with the results; with --nats, of each of three")
	c.Flags().StringVar(&o.StorageClass, "storage-class", "", "`name` of its storage class (default: the cluster's)")
	c.Flags().BoolVar(&o.NATS, "nats", false, "keep studies, sweeps and results on three NATS servers, with two coordinators: no loss of one node stops a sweep")
	c.Flags().StringVar(&o.Data, "data", DefaultData, "`directory` of authority and tokens; made if it is not there")
}
