package state

import "unsafe"

// pageBytes is the size of a page of memory, or less.
const pageBytes = 4 << 10

// fresh returns n zeros for what is looked up before it is written, such as the slots of a hash table, and writes to each
// page of them. Memory of the system that is read first is all one page of zeros; the first write to each page then maps
// it anew, and all cores that run the process are interrupted to learn of that.
func fresh[T uint64 | byte](n int) []T {
	s := make([]T, n)
	for i := 0; i < n; i += pageBytes / int(unsafe.Sizeof(s[0])) {
		s[i] = 0
	}
	return s
}
