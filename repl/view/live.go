package view

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// frame is how often a terminal is drawn at most.
const frame = 100 * time.Millisecond

// live is the end of what a terminal shows, drawn again and again: a status line, or a table that changes. What is written
// through it comes above it.
type live struct {
	w     io.Writer
	width int // of the terminal; 0: there is none, and nothing is drawn
	lines int // of the picture that stands there, all but the last end with a newline
	shown string
	every time.Duration // a picture stands at least so long
	drawn time.Time
}

func newLive(w io.Writer, width int) live { return live{w: w, width: width, every: frame} }

// early reports whether it is too early for another picture.
func (l *live) early() bool { return l.width == 0 || l.lines > 0 && time.Since(l.drawn) < l.every }

// above writes text where the picture is; the picture is gone then.
func (l *live) above(text []byte) error {
	if l.lines > 0 {
		text = append([]byte(l.clear()), text...)
	}
	if len(text) == 0 {
		return nil
	}
	_, err := l.w.Write(text)
	return err
}

// clear takes the picture away.
func (l *live) clear() string {
	up := ""
	if l.lines > 1 {
		up = fmt.Sprintf("\x1b[%dA", l.lines-1)
	}
	l.lines, l.shown = 0, ""
	return "\r" + up + "\x1b[J"
}

// draw shows a picture of lines that fit the terminal, the last one without a newline.
func (l *live) draw(picture []byte) error {
	if l.early() || string(picture) == l.shown {
		return nil
	}
	text := append([]byte(nil), picture...)
	if l.lines > 0 {
		text = append([]byte(l.clear()), text...)
	}
	l.lines, l.shown = bytes.Count(picture, []byte("\n"))+1, string(picture)
	if len(picture) == 0 {
		l.lines = 0
	}
	l.drawn = time.Now()
	_, err := l.w.Write(text)
	return err
}
