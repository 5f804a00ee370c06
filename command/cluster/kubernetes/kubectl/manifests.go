package kubectl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"foible.dev/foible/deploy/kubernetes"
)

// Options are what manifests leave open.
type Options struct {
	Namespace    string
	Image        string // of Foible
	Workers      int
	Storage      string // size of a volume
	StorageClass string // "": the cluster's
	NATS         bool   // three NATS servers and two coordinators
}

// Manifests are those of a coordinator and workers, but for the Secrets.
func (k Client) Manifests(ctx context.Context, o Options) ([]byte, error) {
	dir, err := os.MkdirTemp("", "foible-kubernetes-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(dir, kubernetes.Manifests); err != nil {
		return nil, err
	}
	overlay := filepath.Join(dir, "overlay")
	if err := os.Mkdir(overlay, 0o700); err != nil {
		return nil, err
	}
	text, err := json.Marshal(o.kustomization()) // JSON is YAML
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), text, 0o600); err != nil {
		return nil, err
	}
	return Client{}.output(ctx, quick, nil, "kustomize", overlay)
}

type object = map[string]any

// kustomization puts the options into the manifests.
func (o *Options) kustomization() object {
	base, holder := "../base", "foible-coordinator"
	if o.NATS {
		base, holder = "../nats", "foible-nats"
	}
	path := "/spec/volumeClaimTemplates/0/spec/"
	volume := []object{{"op": "replace", "path": path + "resources/requests/storage", "value": o.Storage}}
	if o.StorageClass != "" {
		volume = append(volume, object{"op": "add", "path": path + "storageClassName", "value": o.StorageClass})
	}
	patch, err := json.Marshal(volume)
	if err != nil {
		panic(err) // only strings
	}
	return object{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
		"namespace": o.Namespace,
		"resources": []string{base},
		"images":    []object{image(o.Image)},
		"replicas":  []object{{"name": "foible-worker", "count": o.Workers}},
		"patches":   []object{{"target": object{"kind": "StatefulSet", "name": holder}, "patch": string(patch)}},
	}
}

// image takes an image apart as kustomize wants it.
func image(text string) object {
	to := object{"name": "foible"}
	name, digest, pinned := strings.Cut(text, "@")
	if pinned {
		to["digest"] = digest
	}
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		if !pinned {
			to["newTag"] = name[i+1:]
		}
		name = name[:i]
	}
	to["newName"] = name
	return to
}

var (
	imageForm    = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*(:[a-zA-Z0-9_][a-zA-Z0-9._-]*)?(@sha256:[0-9a-f]{64})?$`)
	nameForm     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	classForm    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	quantityForm = regexp.MustCompile(`^[1-9][0-9]*(\.[0-9]+)?([kMGTPE]|[KMGTPE]i)?$`)
)

// ValidImage, ValidNamespace, ValidStorageClass and ValidQuantity say whether Kubernetes takes it.
func ValidImage(s string) bool        { return imageForm.MatchString(s) }
func ValidNamespace(s string) bool    { return nameForm.MatchString(s) }
func ValidStorageClass(s string) bool { return classForm.MatchString(s) }
func ValidQuantity(s string) bool     { return quantityForm.MatchString(s) }

// Secret is a manifest of one, with its files.
func Secret(namespace, name string, files map[string][]byte) ([]byte, error) {
	text, err := json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": object{"name": name, "namespace": namespace, "labels": object{"app.kubernetes.io/part-of": "foible"}},
		"data":     files, // in base 64
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return append(text, '\n'), nil
}
