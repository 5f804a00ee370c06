//go:build !unix

package command

import "io/fs"

func othersRead(fs.FileInfo) bool { return false }

func keepPrivate() {}
