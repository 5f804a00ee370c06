package scheduler

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// TimeIsUp tells when Slurm says that the job's time is nearly up, by SIGUSR1.
func TimeIsUp() (told <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}

// Detach makes a command outlive its terminal.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
