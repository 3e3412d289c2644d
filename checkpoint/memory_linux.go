package checkpoint

import (
	"os"
	"syscall"
	"unsafe"
)

// largePages asks for large pages for what of p has not been touched yet. That there are none is no error.
func largePages(p []byte) {
	page := os.Getpagesize()
	if off := -int(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) & (page - 1); off < len(p) {
		syscall.Madvise(p[off:], syscall.MADV_HUGEPAGE)
	}
}
