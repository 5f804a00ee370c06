package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bounded "foible.dev/foible/core/files"
	"foible.dev/foible/core/words"
)

// Limits of the files that a user names.
const (
	MaxSmallFile  = 1 << 20   // a token, an address, what a command has noted
	maxResultFile = 256 << 20 // a table or a figure of an earlier sweep
	maxResults    = 1 << 30   // all that is read of a directory of results
)

// ReadFile reads a regular file of at most limit bytes. The error says what is wrong without the file's name.
func ReadFile(path string, limit int64) ([]byte, error) {
	// A link in the place of the file may lead anywhere: whoever names it means it.
	return bounded.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), limit)
}

// ReadStudyFile reads a file of a study, as readFile does.
func ReadStudyFile(study fs.FS, name string, limit int64) ([]byte, error) {
	return bounded.Read(study, name, limit)
}

// ResultsDir are the files of a directory of results, within limits.
func ResultsDir(dir string) fs.FS {
	return bounded.Limited(os.DirFS(dir), bounded.Limits{FileBytes: maxResultFile, TotalBytes: maxResults, Files: 1 << 20})
}

// StudyDir are the files below a study's directory. Links that lead out of it are refused, so that a study from elsewhere
// does not take files of its user's along when it is sent to a coordinator.
func StudyDir(dir string) (fs.FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the study %s: %w", words.Quoted(dir), Cause(err))
	}
	return root.FS(), nil // it is open as long as the process is
}
