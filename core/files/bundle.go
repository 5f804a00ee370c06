package files

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"

	"foible.dev/foible/core/words"
)

// Bundle opens an archive of files that were stored without compression, so that
// it cannot be larger inside than limits allow. The FS holds to the limits too.
func Bundle(bundle []byte, limits Limits) (*FS, error) {
	if int64(len(bundle)) > limits.TotalBytes {
		return nil, Limitf("the bundle has %s, and the limit is %s", words.Bytes(int64(len(bundle))), words.Bytes(limits.TotalBytes))
	}
	// Of the archive's own numbers, none is true for certain, and an entry takes more memory than room in the archive.
	if n := bytes.Count(bundle, []byte("PK\x01\x02")); n > limits.Files {
		return nil, Limitf("the bundle has %d files, and the limit is %d", n, limits.Files)
	}
	archive, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, fmt.Errorf("the bundle is no zip archive: %w", err)
	}
	names, total := map[string]bool{}, uint64(0)
	for _, f := range archive.File {
		switch {
		case !fs.ValidPath(f.Name) || f.Name == "." || !f.Mode().IsRegular():
			return nil, fmt.Errorf("the bundle has %q, which is no path of a file", f.Name)
		case names[f.Name]:
			return nil, fmt.Errorf("the bundle has %q twice", f.Name)
		case f.Method != zip.Store || f.Flags&1 != 0 || f.CompressedSize64 != f.UncompressedSize64:
			return nil, fmt.Errorf("%s is compressed or encrypted in the bundle; a bundle stores files as they are", f.Name)
		case f.UncompressedSize64 > uint64(limits.FileBytes):
			return nil, fmt.Errorf("%s: %w", f.Name, tooLarge(int64(f.UncompressedSize64), limits.FileBytes))
		}
		names[f.Name] = true
		if total += f.UncompressedSize64; total > uint64(limits.TotalBytes) { // entries may share their bytes
			return nil, Limitf("the files of the bundle have more than %s together, which is the limit", words.Bytes(limits.TotalBytes))
		}
	}
	return Limited(archive, limits), nil
}

// Pack archives files of a file system in the order given, as Bundle opens them: stored, without times.
func Pack(fsys fs.FS, names []string) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range names {
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, err := w.Write(content); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
