package view

import (
	"io"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/grid"
)

const (
	decideRows = 1000                   // of which the widths of columns are taken
	decideWait = 100 * time.Millisecond // for so many rows
)

// scroll is a table whose rows scroll.
type scroll struct {
	counter
	w       io.Writer
	o       Options
	grid    *grid.Grid
	changes bool     // the kind of change is a column
	waiting []string // lines of cells that are not drawn
	since   time.Time
	text    []byte
}

func newScroll(w io.Writer, o Options, s types.Schema) *scroll {
	changes := o.Updating || o.Mode == Changes
	g := grid.New(s, changes)
	g.Color = o.Color
	return &scroll{w: w, o: o, grid: g, changes: changes}
}

func (v *scroll) Add(b *vec.Batch) error {
	if len(v.waiting) == 0 {
		v.since = time.Now()
	}
	for i := range b.Rows() {
		v.text = grid.AppendCells(v.text[:0], b, b.Row(i), v.changes)
		v.waiting = append(v.waiting, string(v.text))
	}
	v.rows += int64(b.Rows())
	if len(v.waiting) < decideRows {
		return nil
	}
	return v.draw()
}

func (v *scroll) Show(string) error {
	if len(v.waiting) == 0 || !v.grid.Decided() && len(v.waiting) < decideRows && time.Since(v.since) < decideWait {
		return nil
	}
	return v.draw()
}

func (v *scroll) draw() error {
	v.text = v.text[:0]
	if !v.grid.Decided() {
		v.grid.Decide(v.waiting, v.o.Width)
		v.text = v.grid.AppendHeader(v.text)
	}
	for _, line := range v.waiting {
		v.text = v.grid.AppendLine(v.text, line)
	}
	v.waiting = v.waiting[:0]
	_, err := v.w.Write(v.text)
	return err
}

func (v *scroll) End() error { return v.draw() }
