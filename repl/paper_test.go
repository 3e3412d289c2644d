package repl

import (
	"bytes"
	"sync"
)

// paper is a screen that keeps what it is shown. Jobs write notes on it from goroutines of their own.
type paper struct {
	sheet
	notes     sheet
	width     int
	interrupt chan struct{}
}

func (p *paper) Note(text string)            { p.notes.Write([]byte(text + "\n")) }
func (p *paper) Ask(string) bool             { return true }
func (p *paper) Size() (int, int)            { return p.width, 24 }
func (p *paper) Interrupts() <-chan struct{} { return p.interrupt }

// sheet is text that several goroutines write.
type sheet struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sheet) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *sheet) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *sheet) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}
