package repl

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/repl/plot"
	"github.com/ebb-lang/ebb/stdlib/grid"
)

// plotView draws rows of x and y, or of y only. It is a view: on a terminal it is drawn in place while rows come.
type plotView struct {
	screen   Screen
	o        plot.Options
	by       bool
	updating bool
	line     plot.Line
	bars     plot.Bars
	now      map[float64]float64 // of an updating stream: the points there are
	rows     int64
	drawn    int // lines of the last drawing
	at       time.Time
	live     bool
}

// drawEvery is how often a plot is drawn while rows come.
const drawEvery = 500 * time.Millisecond

func newPlotView(screen Screen, p plotting, out *check.Write) *plotView {
	v := &plotView{screen: screen, by: p.by != "", updating: out.In.Updating, live: !out.In.Bounded}
	width, height := screen.Size()
	v.o = plot.Options{Width: width, Axis: plot.Rows}
	if height > 0 {
		v.o.Height = max(5, min(height-5, 20))
	}
	if v.by {
		v.o.Height = max(v.o.Height, 20)
	}
	if width == 0 {
		v.live = false
	}
	if p.over != "" {
		v.o.Axis = plot.Number
		if out.Schema.Fields[0].Type.Kind == types.Time {
			v.o.Axis = plot.Time
		}
	}
	if v.updating {
		v.now = map[float64]float64{}
	}
	return v
}

// Add takes rows.
func (v *plotView) Add(b *vec.Batch) error {
	y := b.Cols[len(b.Cols)-1]
	var text []byte
	for i := range b.Rows() {
		row := b.Row(i)
		away := b.Change != nil && b.Change[row].Retracts()
		val, ok := number(y, row)
		v.rows++
		switch {
		case v.by:
			text = grid.AppendCells(text[:0], &vec.Batch{N: b.N, Cols: b.Cols[:1]}, row, false)
			key := strings.TrimSuffix(string(text), "\n")
			if b.Cols[0].Null(row) {
				key = "null"
			}
			if away {
				v.bars.Remove(key)
			} else {
				v.bars.Set(key, val, ok)
			}
		case len(b.Cols) == 1:
			v.line.Add(float64(v.rows), val, ok)
		default:
			x, known := number(b.Cols[0], row)
			switch {
			case !known:
			case away:
				delete(v.now, x)
			case v.updating && ok:
				v.now[x] = val
			default:
				v.line.Add(x, val, ok)
			}
		}
	}
	return nil
}

// number is a value as a number; not ok if it is null.
func number(c *vec.Column, row int) (float64, bool) {
	if c.Null(row) {
		return 0, false
	}
	switch c.Type.Kind {
	case types.Float:
		return c.Floats[row], true
	case types.Bool:
		if c.Bools[row] {
			return 1, true
		}
		return 0, true
	}
	return float64(c.Ints[row]), true
}

// Show draws what there is in the place of what was drawn before, if rows do not end by themselves.
func (v *plotView) Show(status string) error {
	if !v.live || time.Since(v.at) < drawEvery {
		return nil
	}
	v.at = time.Now()
	text := v.text()
	if text != "" && status != "" {
		text += status + "\n"
	}
	return v.draw(text)
}

func (v *plotView) draw(text string) error {
	if text == "" {
		return nil
	}
	up := ""
	if v.drawn > 0 {
		up = fmt.Sprintf("\x1b[%dA\x1b[J", v.drawn)
	}
	v.drawn = strings.Count(text, "\n")
	_, err := io.WriteString(v.screen, up+text)
	return err
}

func (v *plotView) text() string {
	if v.by {
		return v.bars.Draw(v.o, v.updating)
	}
	line := &v.line
	if v.updating {
		line = &plot.Line{}
		for x, y := range v.now {
			line.Add(x, y, true)
		}
	}
	return line.Draw(v.o)
}

// End draws the whole.
func (v *plotView) End() error { return v.draw(v.text()) }

// Counts returns the rows.
func (v *plotView) Counts() (rows, leftOut int64) { return v.rows, 0 }

func (v *plotView) empty() bool { return v.text() == "" }

func (v *plotView) why(stopped bool) string {
	switch {
	case v.rows > 0:
		return "all values are null"
	case stopped:
		return "no row has come yet"
	}
	return "no rows"
}
