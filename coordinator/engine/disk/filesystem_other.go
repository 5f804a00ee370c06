//go:build !linux

package disk

// NetworkFileSystem knows none here.
func NetworkFileSystem(string) string { return "" }
