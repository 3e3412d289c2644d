package disk

// writePiece is how many bytes a call of the system writes: so few that the runtime does not give the goroutine's core
// away meanwhile. To get one back takes longer than to write megabytes, if all cores are busy.
const writePiece = 64 << 10

// WriteAt writes in pieces.
func (f osFile) WriteAt(p []byte, off int64) (n int, err error) {
	for len(p) > writePiece && err == nil {
		var k int
		k, err = f.File.WriteAt(p[:writePiece], off)
		n, p, off = n+k, p[k:], off+int64(k)
	}
	if err == nil {
		var k int
		k, err = f.File.WriteAt(p, off)
		n += k
	}
	return n, err
}
