package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Version is the module's version from the build information. A build of no
// released version adds a fingerprint of the program itself, so that two
// different ones never pass for the same.
var Version = sync.OnceValue(func() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	if version != "(devel)" && !strings.HasSuffix(version, "+dirty") {
		return version
	}
	version = strings.Trim(version, "()")
	path, err := os.Executable()
	if err != nil {
		return version
	}
	f, err := os.Open(path)
	if err != nil {
		return version
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return version
	}
	return version + "-" + hex.EncodeToString(h.Sum(nil)[:4])
})
