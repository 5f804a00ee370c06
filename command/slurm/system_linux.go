package slurm

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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

var networkFileSystems = map[uint32]string{
	0x6969: "NFS", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS", 0x00c36400: "CephFS",
	0x5346414f: "AFS", 0xaad7aaea: "PanFS", 0x01021997: "9P", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x517b: "SMB",
}

// NetworkFileSystem is the kind of network file system that a directory is
// on, or will be when it is made; "" if it is on none that is known.
func NetworkFileSystem(dir string) string {
	for {
		var s syscall.Statfs_t
		err := syscall.Statfs(dir, &s)
		if err == nil {
			return networkFileSystems[uint32(s.Type)]
		}
		parent := filepath.Dir(dir)
		if err != syscall.ENOENT || parent == dir {
			return ""
		}
		dir = parent
	}
}
