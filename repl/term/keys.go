package term

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// keys stands between the terminal and the line editor. It takes pastes as one thing, and takes out what the library would
// do harm with: Ctrl-Z stops the parent process, NUL ends the input, Delete on an empty line ends the session.
type keys struct {
	in    io.Reader
	folds *folds
	clear func() // Ctrl-L
	empty atomic.Bool
	once  sync.Once
	gone  chan struct{} // closed when the terminal is gone or the process was told to end

	held   []byte // the beginning of an escape sequence
	ready  []byte // what has not been read yet
	paste  []byte
	inside bool
}

const mostPasted = 16 << 20

func newKeys(in io.Reader, f *folds, clear func()) *keys {
	k := &keys{in: in, folds: f, clear: clear, gone: make(chan struct{})}
	k.empty.Store(true)
	return k
}

func (k *keys) end() {
	k.once.Do(func() { close(k.gone) })
}

// Read implements io.Reader for the library, which asks when it wants the next key of a line and never ahead: while something
// else runs the keys are not ours.
func (k *keys) Read(b []byte) (int, error) {
	// The echo of the last key waits for this core, and the runtime would take it from a read that waits only after 10 ms. Twice,
	// for now and then the runtime looks first at those who have let others in.
	runtime.Gosched()
	runtime.Gosched()
	for len(k.ready) == 0 {
		buf := make([]byte, 4096)
		n, err := k.in.Read(buf)
		if n == 0 || err != nil {
			k.end()
			return 0, io.EOF
		}
		k.take(buf[:n])
	}
	n := copy(b, k.ready)
	k.ready = k.ready[n:]
	return n, nil
}

// Close implements io.Closer.
func (k *keys) Close() error { return nil }

// sequences are what terminals send, and what it means to the library.
var sequences = map[string]string{
	"\x1b[1~": "\x01", "\x1b[7~": "\x01", "\x1b[4~": "\x05", "\x1b[8~": "\x05",
	"\x1b[1;5C": "\x1bf", "\x1b[1;5D": "\x1bb", "\x1b[1;3C": "\x1bf", "\x1b[1;3D": "\x1bb",
	"\x1b[3~": "delete", "\x1b[200~": "paste", "\x1b[201~": "",
	"\x1b[2~": "", "\x1b[5~": "", "\x1b[6~": "", "\x1b[I": "", "\x1b[O": "",
}

var pasteEnd = []byte("\x1b[201~")

func (k *keys) take(b []byte) {
	b = append(k.held, b...)
	k.held = nil
	for len(b) > 0 {
		if k.inside {
			if i := bytes.Index(b, pasteEnd); i >= 0 {
				k.add(b[:i])
				b = b[i+len(pasteEnd):]
				k.inside = false
				k.ready = append(k.ready, k.folds.paste(string(k.paste))...)
				k.paste = nil
				continue
			}
			keep := 0 // a part of the mark at the end
			for n := min(len(pasteEnd)-1, len(b)); n > 0; n-- {
				if bytes.HasSuffix(b, pasteEnd[:n]) {
					keep = n
					break
				}
			}
			k.add(b[:len(b)-keep])
			k.held = bytes.Clone(b[len(b)-keep:])
			return
		}
		switch c := b[0]; {
		case c == 0 || c == 0x1a:
			b = b[1:]
		case c == 0x0c:
			k.clear()
			b = b[1:]
		case c == 0x1b:
			n, partial := k.escape(b)
			if partial {
				k.held = bytes.Clone(b)
				return
			}
			b = b[n:]
		default:
			if c > ' ' { // the library tells us so later
				k.empty.Store(false)
			}
			_, n := utf8.DecodeRune(b)
			k.ready = append(k.ready, b[:n]...)
			b = b[n:]
		}
	}
}

func (k *keys) add(b []byte) {
	if len(k.paste)+len(b) <= mostPasted {
		k.paste = append(k.paste, b...)
	}
}

// escape takes an escape sequence and returns its length; partial if it may go on.
func (k *keys) escape(b []byte) (n int, partial bool) {
	if len(b) == 1 {
		return 0, true
	}
	if b[1] == '[' {
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				n = i + 1
				break
			}
		}
		if n == 0 {
			return 0, len(b) < 32
		}
		out, known := sequences[string(b[:n])]
		switch {
		case !known:
			k.ready = append(k.ready, b[:n]...)
		case out == "paste":
			k.inside = true
		case out == "delete":
			if !k.empty.Load() {
				k.ready = append(k.ready, 4)
			}
		default:
			k.ready = append(k.ready, out...)
		}
		return n, false
	}
	k.ready = append(k.ready, b[0])
	return 1, false
}
