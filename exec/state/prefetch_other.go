//go:build !amd64

package state

import "unsafe"

// prefetch is a hint, which is not given here.
func prefetch(unsafe.Pointer, uint64, int) {}
