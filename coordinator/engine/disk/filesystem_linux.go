package disk

import (
	"path/filepath"
	"syscall"
)

// networkFileSystems have these magic numbers (statfs(2)). FUSE is among them: on clusters it is mostly one over a network.
var networkFileSystems = map[uint32]string{
	0x6969: "NFS", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS", 0x00c36400: "CephFS",
	0x5346414f: "AFS", 0xaad7aaea: "PanFS", 0x01021997: "9P", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x517b: "SMB",
	0x65735546: "FUSE",
}

// NetworkFileSystem is the kind of network file system that a directory is
// on, or will be when it is made; "" if it is on none that is known.
func NetworkFileSystem(dir string) string { return networkFileSystem(dir, syscall.Statfs) }

func networkFileSystem(dir string, statfs func(string, *syscall.Statfs_t) error) string {
	for {
		var s syscall.Statfs_t
		err := statfs(dir, &s)
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
