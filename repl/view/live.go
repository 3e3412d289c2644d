package view

import (
	"bytes"
	"fmt"
	"io"
)

// live is the end of what a terminal shows, drawn again and again: a status line, or a table that changes. What is written
// through it comes above it.
type live struct {
	w     io.Writer
	width int // of the terminal; 0: there is none, and nothing is drawn
	lines int // of the picture that stands there, all but the last end with a newline
	shown string
}

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
	if l.width == 0 || string(picture) == l.shown {
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
	_, err := l.w.Write(text)
	return err
}
