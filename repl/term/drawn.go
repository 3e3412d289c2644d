package term

import (
	"bytes"
	"os"
	"sync"
)

// drawn is the terminal as it is written on. With each key the library clears the line and then writes it anew. Both go out
// as one, so that nobody sees the line gone, and a key waits for its core once.
type drawn struct {
	file    *os.File
	mu      sync.Mutex
	cleared []byte // what clears the line, until the line comes
}

var (
	clearFirst = []byte("\x1b[J")
	clearLast  = []byte("\x1b[2K\r")
)

func (d *drawn) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cleared = append(d.cleared, b...)
	if bytes.HasPrefix(b, clearFirst) && bytes.HasSuffix(b, clearLast) {
		return len(b), nil
	}
	_, err := d.file.Write(d.cleared)
	d.cleared = d.cleared[:0]
	if err != nil {
		return 0, err
	}
	return len(b), nil
}
