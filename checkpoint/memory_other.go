//go:build !linux

package checkpoint

func largePages([]byte) {}
