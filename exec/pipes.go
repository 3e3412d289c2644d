package exec

import (
	"io"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// OpenFile reports whether a path names an open file, such as /dev/stdout or /proc/self/fd/3: whatever it leads to is
// written to, never replaced.
func OpenFile(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

// Passing reports whether an output at a path is none that stays: standard output, an open file, a device, a named pipe. Any
// number of jobs may write there.
func Passing(path string, fsys FS) bool {
	if path == "-" || OpenFile(path) {
		return true
	}
	info, err := fsys.Stat(path)
	return err == nil && disk.Passes(info)
}

// Pipes are the inputs of a process that give each byte once: standard input, named pipes, devices. The look for a schema
// reads the start of one before the run does, so what was looked at is kept for the run.
type Pipes struct {
	mu   sync.Mutex
	list map[any]*Pipe
}

// Of returns the pipe with a key, which tells it from others whatever name it goes by.
func (p *Pipes) Of(key any) *Pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.list == nil {
		p.list = map[any]*Pipe{}
	}
	x := p.list[key]
	if x == nil {
		x = &Pipe{}
		p.list[key] = x
	}
	return x
}

// Pipe is one of them.
type Pipe struct {
	mu    sync.Mutex // held by who waits for bytes to look at
	open  io.ReadCloser
	head  []byte // what was looked at
	end   error  // came behind it
	taken bool
}

// Look returns a reader of the start of the pipe, which takes nothing away from whoever takes it. Of one that was taken
// it gives what was looked at before. open may block.
func (p *Pipe) Look(open func() (io.ReadCloser, error)) io.Reader { return &lookout{p: p, open: open} }

type lookout struct {
	p    *Pipe
	open func() (io.ReadCloser, error)
	at   int // of the head
}

func (l *lookout) Read(b []byte) (int, error) {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.at == len(p.head) {
		if p.end != nil {
			return 0, p.end
		}
		if p.taken {
			return 0, io.EOF
		}
		if p.open == nil {
			f, err := l.open()
			if err != nil {
				return 0, err
			}
			p.open = f
		}
		more := make([]byte, 64<<10)
		n, err := p.open.Read(more)
		p.head, p.end = append(p.head, more[:n]...), err
		if n == 0 {
			return 0, err
		}
	}
	n := copy(b, p.head[l.at:])
	l.at += n
	return n, nil
}

// Take hands over the pipe: head is what was looked at, and comes before what rest gives, or before end if that is not nil.
// Whoever takes it again gets it as open opens it. open may block.
func (p *Pipe) Take(open func() (io.ReadCloser, error)) (head []byte, rest io.ReadCloser, end error) {
	p.mu.Lock()
	if rest = p.open; rest != nil {
		head, end = p.head, p.end
	}
	p.open, p.taken = nil, true
	p.mu.Unlock()
	if rest == nil {
		rest, end = open()
	}
	return head, rest, end
}
