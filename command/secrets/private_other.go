//go:build !unix

package secrets

import "io/fs"

func othersRead(fs.FileInfo) bool { return false }

func KeepPrivate() {}
