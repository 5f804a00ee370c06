package blockwords

import (
	"embed"
	"io/fs"
)

//go:embed sample
var files embed.FS

// Sample is the directory of the domain's sample study: our own stimuli and
// simulated participants.
var Sample = sample()

func sample() fs.FS {
	f, err := fs.Sub(files, "sample")
	if err != nil {
		panic(err) // only for an invalid path
	}
	return f
}

// Sweep is the sweep.yaml of studies that bring none.
//
//go:embed sweep.yaml
var Sweep []byte
