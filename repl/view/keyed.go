package view

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/grid"
)

// keptRows is how many rows of a table are kept; those above are counted.
const keptRows = 100_000

// keyed shows the rows of an updating stream as they are after all changes, in order. On a terminal it is drawn again and
// again in place; else once, at the end.
type keyed struct {
	counter
	live
	w    io.Writer
	o    Options
	s    types.Schema
	grid *grid.Grid
	rows map[string]*keptRow // by all their columns
	lost int64               // rows that are not kept
	text []byte
	key  []byte
}

// keptRow is a row, as often as it is there.
type keptRow struct {
	cells string
	vals  []any
	n     int
}

func newKeyed(w io.Writer, o Options, s types.Schema) *keyed {
	g := grid.New(s, false)
	g.Color, g.Whole = o.Color, o.Whole
	return &keyed{live: newLive(w, o.Width), w: w, o: o, s: s, grid: g, rows: map[string]*keptRow{}}
}

// Add carries out the changes.
func (v *keyed) Add(b *vec.Batch) error {
	v.counter.rows += int64(b.Rows())
	for i := range b.Rows() {
		row := b.Row(i)
		v.key = vec.AppendRowJSON(v.key[:0], v.s.Fields, b.Cols, row)
		kept := v.rows[string(v.key)]
		retracts := b.Change != nil && b.Change[row].Retracts()
		switch {
		case retracts && kept != nil:
			if kept.n--; kept.n == 0 {
				delete(v.rows, string(v.key))
			}
		case retracts:
			v.lost = max(0, v.lost-1)
		case kept != nil:
			kept.n++
		case len(v.rows) >= keptRows:
			v.lost++
		default:
			v.text = grid.AppendCells(v.text[:0], b, row, false)
			kept = &keptRow{cells: string(v.text), n: 1}
			for _, c := range b.Cols {
				kept.vals = append(kept.vals, c.Value(row))
			}
			v.rows[string(v.key)] = kept
		}
	}
	return nil
}

// lines are the first rows, in the order of their columns, and how many there are.
func (v *keyed) lines(most int) (lines []string, all int64) {
	rows := make([]*keptRow, 0, min(len(v.rows), most+1)) // the first ones so far; sorted where others are left out
	less := func(a, b *keptRow) int { return compareRows(a.vals, b.vals) }
	for _, r := range v.rows {
		all += int64(r.n)
		switch {
		case len(v.rows) <= most:
			rows = append(rows, r)
		case len(rows) < most || less(r, rows[most-1]) < 0:
			i, _ := slices.BinarySearchFunc(rows, r, less)
			rows = slices.Insert(rows[:min(len(rows), most-1)], min(i, most-1), r)
		}
	}
	if len(v.rows) <= most {
		slices.SortFunc(rows, less)
	}
	for _, r := range rows {
		for range r.n {
			if len(lines) == most {
				return lines, all + v.lost
			}
			lines = append(lines, r.cells)
		}
	}
	return lines, all + v.lost
}

// Show draws the table anew.
func (v *keyed) Show(status string) error {
	if v.early() || v.counter.rows == 0 && status == "" {
		return nil
	}
	room := max(v.o.Height-5, 3) // the header, a line for what is left out, the status, the prompt's
	lines, all := v.lines(room)
	v.text = v.text[:0]
	if v.counter.rows > 0 {
		v.grid.Decide(lines, v.o.Width)
		v.table(lines, all)
	}
	return v.draw(append(v.text, grid.Cut(status, v.o.Width-1)...))
}

func (v *keyed) table(lines []string, all int64) {
	v.text = v.grid.AppendHeader(v.text)
	for _, line := range lines {
		v.text = v.grid.AppendLine(v.text, line)
	}
	if left := all - int64(len(lines)); left > 0 {
		v.text = fmt.Appendf(v.text, "… %s more\n", Count(left))
	}
}

// End draws the table as it is in the end: on a terminal a screenful, unless a pager shows it all.
func (v *keyed) End() error {
	most := keptRows
	room := max(v.o.Height-5, 3)
	var pager io.WriteCloser
	if v.o.Width > 0 && len(v.rows) > room {
		if most = room; v.o.Pager != nil {
			var err error
			if pager, err = v.o.Pager(); err != nil {
				return err
			}
			most = keptRows
		}
	}
	lines, all := v.lines(most)
	v.counter.rows, v.leftOut = all, all-int64(len(lines))
	v.grid.Decide(lines, v.o.Width)
	v.text = v.text[:0]
	v.table(lines, all)
	if pager == nil {
		return v.above(v.text)
	}
	err := v.above(nil)
	pager.Write(v.text) // it fails when whoever looks has seen enough
	pager.Close()
	return err
}

// compareRows orders rows by their values, column by column; null comes last.
func compareRows(a, b []any) int {
	for i := range a {
		if c := compareValues(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func compareValues(a, b any) int {
	if a == nil || b == nil {
		return order(a == nil && b != nil, b == nil && a != nil)
	}
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return order(x > y, x < y)
		}
	case float64:
		if y, ok := b.(float64); ok {
			return order(x > y, x < y)
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y)
		}
	case bool:
		if y, ok := b.(bool); ok {
			return order(x && !y, y && !x)
		}
	case map[string]any: // a window by its start, other records by their fields in the order of the names
		if y, ok := b.(map[string]any); ok {
			names := make([]string, 0, len(x))
			for name := range x {
				names = append(names, name)
			}
			sort.Strings(names)
			for _, name := range slices.Backward(names) {
				if c := compareValues(x[name], y[name]); c != 0 {
					return c
				}
			}
			return 0
		}
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func order(greater, less bool) int {
	switch {
	case greater:
		return 1
	case less:
		return -1
	}
	return 0
}

// Hidden returns how many columns the terminal has no room for.
func (v *keyed) Hidden() int { return v.grid.Hidden() }

// Resize fits the next picture.
func (v *keyed) Resize(width, height int) {
	v.o.Width, v.o.Height = width, height
	v.live.width = width
}
