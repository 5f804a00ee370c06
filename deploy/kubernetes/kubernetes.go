// Package kubernetes is the manifests of a coordinator and workers, as kustomize takes them.
package kubernetes

import "embed"

// Manifests are the directories base, and nats, which is made of it.
//
//go:embed base nats
var Manifests embed.FS
