//go:build !linux

package scheduler

import (
	"os"
	"os/exec"
)

// TimeIsUp never tells: there is no Slurm here.
func TimeIsUp() (told <-chan os.Signal, stop func()) { return nil, func() {} }

// Detach does nothing here.
func Detach(*exec.Cmd) {}
