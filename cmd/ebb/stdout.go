package main

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/exec"
)

// pipeOut is a standard output that leads into a pipe. Its reader may take nothing for ever; a run that has been told to
// end gives such a reader up. Writes are made by a goroutine, which is left behind then.
type pipeOut struct {
	mu    sync.Mutex // one Write at a time
	todo  chan []byte
	done  chan error
	buf   []byte        // a copy: the goroutine may still read it when the caller's bytes are used again
	busy  atomic.Bool   // a write has not come back
	moved atomic.Int64  // pieces that the reader has taken
	gone  chan struct{} // closed: the reader has been given up
	once  sync.Once
}

// pieceOut is how many bytes are written at once, so that a slow reader can be told from one that has stopped.
const pieceOut = 16 << 10

// standardOutput returns stdout, wrapped if it is a pipe.
func standardOutput() io.Writer {
	info, err := os.Stdout.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return os.Stdout
	}
	p := &pipeOut{todo: make(chan []byte), done: make(chan error, 1), gone: make(chan struct{})}
	go p.pump(os.Stdout)
	return p
}

func (p *pipeOut) pump(w io.Writer) {
	for b := range p.todo {
		var err error
		for len(b) > 0 && err == nil {
			var n int
			n, err = w.Write(b[:min(len(b), pieceOut)])
			b = b[n:]
			p.moved.Add(1)
		}
		p.done <- err
	}
}

// Write writes all of b, unless the reader has been given up.
func (p *pipeOut) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gone:
		return 0, exec.ErrReaderGone
	default:
	}
	p.buf = append(p.buf[:0], b...)
	p.busy.Store(true)
	defer p.busy.Store(false)
	p.todo <- p.buf
	select {
	case err := <-p.done:
		if err != nil {
			return 0, err
		}
		return len(b), nil
	case <-p.gone:
		return 0, exec.ErrReaderGone
	}
}

// giveUp makes the present Write and all later ones fail.
func (p *pipeOut) giveUp() { p.once.Do(func() { close(p.gone) }) }
