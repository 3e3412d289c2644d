package view

import (
	"fmt"
	"io"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/grid"
)

const (
	ringRows    = 1000                  // rows that wait to be drawn on a terminal
	decideRows  = 1000                  // of which the widths of columns are taken
	decideWait  = 50 * time.Millisecond // for so many rows
	headerEvery = 10                    // screenfuls after which the names of the columns come again
)

// scroll is a table whose rows scroll. Without a terminal all rows are drawn. On a terminal a long result that comes at
// once goes through the pager; else, of rows that come quicker than they could be read, a screenful of the last ones is
// drawn each time.
type scroll struct {
	counter
	live
	w       io.Writer
	o       Options
	grid    *grid.Grid
	changes bool     // the kind of change is a column
	waiting []string // lines of cells that are not drawn
	skipped int64    // rows before them that are left out
	since   time.Time
	rolled  time.Time // when the last rows were drawn
	below   int       // rows since the last header
	first   bool      // nothing has been drawn yet
	pager   io.WriteCloser
	text    []byte
}

func newScroll(w io.Writer, o Options, s types.Schema) *scroll {
	changes := o.Updating || o.Mode == Changes
	g := grid.New(s, changes)
	g.Color, g.Whole = o.Color, o.Whole
	return &scroll{live: newLive(w, o.Width), w: w, o: o, grid: g, changes: changes, first: true}
}

func (v *scroll) terminal() bool { return v.o.Width > 0 }

// screenful is how many rows a screen shows below the names of the columns.
func (v *scroll) screenful() int { return max(v.o.Height-4, 5) }

// Add keeps the rows until they are drawn.
func (v *scroll) Add(b *vec.Batch) error {
	if len(v.waiting) == 0 {
		v.since = time.Now()
	}
	from := 0
	if v.terminal() && !v.first && v.pager == nil { // no more than a screenful of them can be drawn
		if from = max(0, b.Rows()-v.screenful()); from > 0 {
			v.skipped += int64(from + len(v.waiting))
			v.waiting = v.waiting[:0]
		}
	}
	for i := from; i < b.Rows(); i++ {
		v.text = grid.AppendCells(v.text[:0], b, b.Row(i), v.changes)
		v.waiting = append(v.waiting, string(v.text))
	}
	v.rows += int64(b.Rows())
	switch {
	case v.pager != nil:
		return v.draw()
	case v.first && v.terminal() && v.o.Pager != nil && len(v.waiting) > v.screenful():
		v.first = false
		pager, err := v.o.Pager()
		if err != nil {
			return err
		}
		if pager == nil {
			return nil
		}
		if err := v.above(nil); err != nil {
			return err
		}
		v.pager = pager
		return v.draw()
	case v.terminal():
		if n := len(v.waiting) - ringRows; n > 0 {
			v.skipped += int64(n)
			v.waiting = append(v.waiting[:0], v.waiting[n:]...)
		}
	case len(v.waiting) >= decideRows:
		return v.draw()
	}
	return nil
}

// Show draws rows that have waited long enough, and the status.
func (v *scroll) Show(status string) error {
	now := time.Now()
	due := len(v.waiting) > 0
	switch {
	case v.pager != nil:
		return nil
	case !v.grid.Decided() && len(v.waiting) < decideRows:
		due = due && now.Sub(v.since) >= decideWait
	case v.terminal():
		due = due && now.Sub(v.rolled) >= frame
	}
	if due {
		if n := len(v.waiting) - v.screenful(); v.terminal() && n > 0 && !v.first {
			v.skipped += int64(n)
			v.waiting = append(v.waiting[:0], v.waiting[n:]...)
		}
		if err := v.draw(); err != nil {
			return err
		}
		v.rolled = now
	}
	if !v.terminal() || now.Sub(v.since) < 2*decideWait && v.rows > 0 && v.first {
		return nil
	}
	return v.live.draw([]byte(grid.Cut(status, v.o.Width-1)))
}

// draw writes what is waiting.
func (v *scroll) draw() error {
	v.first = false
	v.text = v.text[:0]
	if !v.grid.Decided() {
		v.grid.Decide(v.waiting, v.o.Width)
		v.text = v.grid.AppendHeader(v.text)
	}
	if v.skipped > 0 {
		v.text = fmt.Appendf(v.text, "… %s rows left out\n", Count(v.skipped))
		v.leftOut += v.skipped
		v.skipped = 0
	}
	for _, line := range v.waiting {
		if v.terminal() && v.pager == nil && v.below >= headerEvery*v.screenful() {
			v.text = v.grid.AppendHeader(v.text)
			v.below = 0
		}
		v.text = v.grid.AppendLine(v.text, line)
		v.below++
	}
	v.waiting = v.waiting[:0]
	if v.pager == nil {
		return v.above(v.text)
	}
	if _, err := v.pager.Write(v.text); err != nil { // whoever looked has left
		return ErrEnough
	}
	return nil
}

// End draws what is waiting.
func (v *scroll) End() error {
	err := v.draw()
	if err == ErrEnough {
		err = nil
	}
	if v.pager != nil {
		v.pager.Close() // returns when whoever looks has seen enough
	}
	return err
}

// Hidden returns how many columns the terminal has no room for.
func (v *scroll) Hidden() int { return v.grid.Hidden() }

// Resize lets the columns be fitted anew, with their names above them.
func (v *scroll) Resize(width, height int) {
	if width > 0 && v.o.Width > 0 && width != v.o.Width && v.pager == nil {
		v.grid.Reset()
		v.below = 0
	}
	v.o.Width, v.o.Height = width, height
	v.live.width = width
}
