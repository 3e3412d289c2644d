package disk

// How many bytes a call of the system writes: so few that the runtime does not give the goroutine's core away meanwhile. To
// get one back takes longer than to write megabytes, if all cores are busy. Of much that is written calls that take longer
// are a smaller part, and the system keeps what comes in one call in larger pages.
const (
	writePiece = 64 << 10
	largePiece = 256 << 10 // of writes of that size and more
)

// WriteAt writes in pieces that end where a multiple of their size ends: pages are as large as their place in the file
// allows. A new file took 0.49 ms of CPU a MB by pieces of 64 KiB, 0.71 by such that lie across, 0.37 by 256 KiB.
func (f osFile) WriteAt(p []byte, off int64) (n int, err error) {
	piece := int64(writePiece)
	if len(p) >= largePiece {
		piece = largePiece
	}
	for len(p) > 0 && err == nil {
		var k int
		k, err = f.File.WriteAt(p[:min(int64(len(p)), piece-off%piece)], off)
		n, p, off = n+k, p[k:], off+int64(k)
	}
	return n, err
}
