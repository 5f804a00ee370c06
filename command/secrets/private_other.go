//go:build !unix

package secrets

import "io/fs"

func othersRead(fs.FileInfo) bool { return false }

// KeepPrivate does nothing where there is no umask.
func KeepPrivate() {}
