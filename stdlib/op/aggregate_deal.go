package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// deal puts rows into the panes of the slices of time that they lie in.
type deal struct {
	*panes
	passing
	late  lateness
	allow int64
	batch []*pane // with rows of the batch at hand
}

func newDeal(c *spec.StageContext, cs *calls, self exec.Drainer) deal {
	return deal{passing: newPassing(c, self), late: newLateness(c), panes: newPanes(newGrid(c.Args.Window), keyTypes(c.Args), cs.words)}
}

// dealt forgets the rows of the batch at hand.
func (d *deal) dealt() {
	for _, p := range d.batch {
		p.rows, p.hashes = p.rows[:0], p.hashes[:0]
	}
	d.batch = d.batch[:0]
}

// divide deals the rows out to panes. A row is late for a window that had closed when it was read.
func (d *deal) divide(r *rowsIn) {
	var p *pane
	lo, hi := int64(0), int64(0) // rows in [lo, hi) go to p
	for i := 0; i < len(r.rows); {
		row := r.rows[i]
		if t := r.time[row]; t < lo || t >= hi {
			closed := d.w
			if r.mark != nil {
				closed = max(closed, r.mark[row])
			}
			start, end := d.grid.sliceOf(t)
			open, ok := d.grid.firstOpen(start, satSub(closed, d.allow))
			if !ok {
				if d.grid.first(start) <= d.grid.last(start) {
					d.late.add(row)
				}
				i++
				continue
			}
			if p == nil || p.start != start || p.open != open {
				if p = d.panes.at(start, open, d.w); len(p.rows) == 0 {
					d.batch = append(d.batch, p)
				}
			}
			lo, hi = start, end
			if r.mark != nil || end == types.MaxInstant {
				hi = lo // the next row is looked at by itself
			}
		}
		from := i
		for i++; i < len(r.rows); i++ {
			if t := r.time[r.rows[i]]; t < lo || t >= hi {
				break
			}
		}
		p.rows = append(p.rows, r.rows[from:i]...)
		p.hashes = append(p.hashes, r.hashes[from:i]...)
	}
}

// partialRows deals out partial results.
func (d *deal) partialRows(r *rowsIn) {
	for i, row := range r.rows {
		open, ok := r.open[row], true
		if open <= d.w { // only after an input was idle
			if open, ok = d.grid.firstOpen(r.slice[row], d.w); !ok {
				d.late.add(row)
				continue
			}
		}
		p := d.panes.at(r.slice[row], open, d.w)
		if len(p.rows) == 0 {
			d.batch = append(d.batch, p)
		}
		p.rows = append(p.rows, row)
		p.hashes = append(p.hashes, r.hashes[i])
	}
}
