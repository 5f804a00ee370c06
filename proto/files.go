// Package proto has the text of Foible's .proto files, whose comments are the
// reference of the files that users write.
package proto

import "embed"

// Files are the .proto files, by their import paths.
//
//go:embed foible/v1/*.proto buf/validate/validate.proto
var Files embed.FS
