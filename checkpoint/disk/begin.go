package disk

// BeginBytes is how many bytes are worth a call of Begin.
const BeginBytes = 8 << 20

// A Beginner is a file that can have what was written to it brought to the disk ahead of Sync.
type Beginner interface {
	// Begin has the system begin to write out n bytes at off, and does not wait for it. It promises nothing: what is to be
	// durable needs Sync, which then has less to do.
	Begin(off, n int64)
}

// Begin begins to bring whole pages from off up to end to the disk, if there are enough of them, and returns where to go
// on. The last page, which may still be written to, is left alone.
func Begin(f File, off, end int64) int64 {
	b, ok := f.(Beginner)
	if end = end &^ 4095; !ok || end-off < BeginBytes {
		return off
	}
	b.Begin(off, end-off)
	return end
}
