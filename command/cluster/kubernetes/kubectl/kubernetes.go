// Package kubectl is what Foible asks of Kubernetes, all of it by kubectl. Read [Client] and [Manifests] first.
package kubectl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Client calls the kubectl on PATH, for a namespace and a context.
type Client struct {
	// Namespace and Context are kubectl's; "" for those that it takes by itself.
	Namespace, Context string
	// Out takes what it says of its progress.
	Out io.Writer
}

// Error is a kubectl that failed.
type Error struct {
	Command string // the subcommand
	Said    string // on standard error; may be empty
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("kubectl %s: %v", e.Command, e.Err)
	if e.Said != "" {
		text = fmt.Sprintf("kubectl %s says %q", e.Command, e.Said)
	}
	if advice := e.advice(); advice != "" {
		text += "; " + advice
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const (
	noContext   = "`kubectl config get-contexts` lists the clusters that it knows; choose one with --context"
	unreachable = "see whether `kubectl cluster-info` reaches the cluster; --context chooses another"
)

// advice says what to do about what kubectl says.
func (e *Error) advice() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return "install kubectl, or call this where it is on PATH"
	}
	said := strings.ToLower(e.Said)
	for _, known := range []struct{ said, advice string }{
		{"specified context", noContext},
		{`context "`, noContext},
		{"connection to the server", unreachable},
		{"connect to the server", unreachable},
		{"logged in to the server", "log in to the cluster as its site says; --context chooses another"},
		{"updates to statefulset spec", "volumes, and whether there are NATS servers, cannot be changed: write what you have with `foible results`, call `foible cluster kubernetes delete`, then apply again"},
		{"namespaces", "ask for a namespace in which you may work, and name it with --namespace"},
		{`"foible-worker" not found`, "start it with `foible cluster kubernetes apply`, or name another namespace with --namespace"},
		{"forbidden", "ask for the right to do this, or name a namespace where you have it with --namespace"},
		{"timed out waiting", "`foible cluster kubernetes status` shows what is missing, and kubectl describe says why"},
	} {
		if strings.Contains(said, known.said) {
			return known.advice
		}
	}
	return ""
}

// quick is how long what is no rollout may take.
const quick = 60 * time.Second

// output returns what kubectl writes to standard output.
func (k Client) output(ctx context.Context, limit time.Duration, input []byte, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := k.run(ctx, limit, input, &out, args...)
	return out.Bytes(), err
}

func (k Client) run(ctx context.Context, limit time.Duration, input []byte, out io.Writer, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	name := args[0]
	if k.Context != "" {
		args = append(args, "--context="+k.Context)
	}
	if k.Namespace != "" {
		args = append(args, "--namespace="+k.Namespace)
	}
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.WaitDelay = time.Second // should it leave children that hold its output
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Command: name, Err: fmt.Errorf("no answer within %v; see whether `kubectl cluster-info` reaches the cluster", limit)}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &Error{Command: name, Said: oneLine(said.String()), Err: err}
}

// logged begins a message of a log, which kubectl writes before it says what the matter is.
var logged = regexp.MustCompile(`^[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ \S+:[0-9]+\] `)

// oneLine is what a text says, once and in one line, not too long.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if said := slices.DeleteFunc(slices.Clone(lines), logged.MatchString); len(said) > 0 {
		lines = said
	}
	text = strings.Join(slices.Compact(lines), "; ")
	const most = 500
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// EnsureNamespace makes the namespace if it can be seen that there is none. Its pods must keep to the pod security
// standard "restricted".
func (k Client) EnsureNamespace(ctx context.Context) error {
	anywhere := k
	anywhere.Namespace = ""
	found, err := anywhere.output(ctx, quick, nil, "get", "namespace", k.Namespace, "--ignore-not-found", "--output=name")
	if kubectl := (*Error)(nil); errors.As(err, &kubectl) && strings.Contains(strings.ToLower(kubectl.Said), "forbidden") {
		return nil // who may not look may work in it all the same
	}
	if err != nil || len(bytes.TrimSpace(found)) > 0 {
		return err
	}
	text, err := json.Marshal(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{
		"name": k.Namespace, "labels": object{"pod-security.kubernetes.io/enforce": "restricted"}, // Foible's pods need no more
	}})
	if err != nil {
		return err
	}
	return anywhere.run(ctx, quick, text, k.Out, "create", "--filename=-")
}

// Apply gives manifests to the cluster.
func (k Client) Apply(ctx context.Context, manifests []byte) error {
	return k.run(ctx, 2*quick, manifests, k.Out, "apply", "--server-side", "--force-conflicts", "--filename=-") // conflicts are with `scale`
}

// Coordinator waits until the coordinator serves in all its replicas, and is as it was last applied.
func (k Client) Coordinator(ctx context.Context, limit time.Duration) error {
	return k.run(ctx, limit+quick, nil, k.Out, "rollout", "status", "statefulset/foible-coordinator", "--timeout="+limit.String())
}

// Scale changes the number of workers.
func (k Client) Scale(ctx context.Context, workers int) error {
	return k.run(ctx, quick, nil, k.Out, "scale", "deployment/foible-worker", fmt.Sprintf("--replicas=%d", workers))
}

const ours = "--selector=app.kubernetes.io/part-of=foible"

// Status is what the cluster has, as kubectl prints it; empty if it has nothing.
func (k Client) Status(ctx context.Context) ([]byte, error) {
	return k.output(ctx, quick, nil, "get", "statefulsets,deployments,pods,persistentvolumeclaims", ours)
}

// Delete ends everything but volumes, and these too if asked.
func (k Client) Delete(ctx context.Context, volumes bool) error {
	kinds := "deployments,statefulsets,services,poddisruptionbudgets,networkpolicies,configmaps,secrets"
	err := k.run(ctx, 3*quick, nil, k.Out, "delete", kinds, ours, "--ignore-not-found")
	if err == nil && volumes {
		err = k.run(ctx, 3*quick, nil, k.Out, "delete", "persistentvolumeclaims", ours, "--ignore-not-found")
	}
	return err
}
