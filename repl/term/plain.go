package term

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Plain is a session without a terminal: results go to one writer and notes to another. Its methods may be called from any
// goroutine, but for ReadLine.
type Plain struct {
	in       *bufio.Reader
	mu       sync.Mutex
	out, err io.Writer
	stop     chan struct{}
	lines    chan line
}

type line struct {
	text string
	err  error
}

// NewPlain returns a session that reads in. Sending to stop, or closing it, ends what runs.
func NewPlain(in io.Reader, out, err io.Writer, stop chan struct{}) *Plain {
	return &Plain{in: bufio.NewReader(in), out: out, err: err, stop: stop}
}

// ReadLine returns the next line without its end; io.EOF behind the last one, and ErrInterrupt when stop is closed first.
func (p *Plain) ReadLine() (string, error) {
	if p.lines == nil { // a read that waits for a pipe cannot be ended: it has a goroutine of its own
		p.lines = make(chan line)
		go p.read()
	}
	select {
	case <-p.stop:
		return "", ErrInterrupt
	case l, ok := <-p.lines:
		if !ok {
			return "", io.EOF
		}
		return l.text, l.err
	}
}

func (p *Plain) read() {
	defer close(p.lines)
	for {
		text, err := p.in.ReadString('\n')
		if text != "" {
			p.lines <- line{text: strings.TrimSuffix(text, "\n")}
		}
		switch err {
		case nil:
		case io.EOF:
			return
		default:
			p.lines <- line{err: err}
			return
		}
	}
}

// Write shows results.
func (p *Plain) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// Note shows a message beside the results.
func (p *Plain) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.err, text)
}

// Ask is answered with yes.
func (p *Plain) Ask(string) bool { return true }

// Size is 0, 0: there is no terminal.
func (p *Plain) Size() (width, height int) { return 0, 0 }

// Interrupts is closed when the session shall end.
func (p *Plain) Interrupts() <-chan struct{} { return p.stop }
