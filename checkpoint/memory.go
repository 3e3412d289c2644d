package checkpoint

import "unsafe"

// memoryBytes is how much memory is worth large pages; they have 2 MiB where there are any.
const memoryBytes = 8 << 20

// Memory returns n zeros. Where the system has large pages, many bytes lie in them: to touch fresh memory for the first time
// costs as much a page as a copy of some of them, and who brings a large state back does little else.
func Memory[T byte | uint64](n int) []T {
	out := make([]T, n)
	var one T
	if size := n * int(unsafe.Sizeof(one)); size >= memoryBytes {
		largePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), size))
	}
	return out
}
