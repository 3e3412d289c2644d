package state

import "unsafe"

// prefetch has the processor fetch the units of word, whose first one lies at base and each of which has size bytes: as
// many as it can at a time, while plain reads of memory that lies all over wait for one another.
//
//go:noescape
func prefetch(base unsafe.Pointer, word uint64, size int)
