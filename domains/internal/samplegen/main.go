// Command samplegen writes the simulated responses of the sample studies:
//
//	go run ./domains/internal/samplegen
//
// from the root of the repository. The same code gives the same bytes. How the
// participants are made is said in each study.yaml.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	for _, s := range samples {
		b, err := s.responses()
		if err == nil {
			err = os.WriteFile(filepath.Join("domains", s.folder, "sample", "responses.csv"), b, 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "samplegen: %s: %v\n", s.name, err)
			os.Exit(1)
		}
	}
}
