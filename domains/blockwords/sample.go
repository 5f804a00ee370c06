package blockwords

import (
	"embed"

	"foible.dev/foible/core/files"
)

//go:embed sample
var embedded embed.FS

// Sample is the directory of the domain's sample study: our own stimuli and
// simulated participants.
var Sample = files.Below(embedded, "sample")

// Sweep is the sweep.yaml of studies that bring none.
//
//go:embed sweep.yaml
var Sweep []byte
