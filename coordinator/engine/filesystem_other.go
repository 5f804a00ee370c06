//go:build !linux

package engine

// NetworkFileSystem knows none here.
func NetworkFileSystem(string) string { return "" }
