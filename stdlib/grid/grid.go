package grid

import (
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

const (
	narrowest = 8 // to which a column is cut where the terminal is too narrow
	gap       = "  "
	rule      = "─"
	null      = "null"
	dim       = "\x1b[2m"
	undim     = "\x1b[22m"
)

// ChangeColumn is the first column of the rows of an updating stream.
const ChangeColumn = "_change"

// Grid is how the lines of one table are drawn. It belongs to one goroutine.
type Grid struct {
	Color bool // nulls are dimmed
	Whole int  // so many columns at the beginning are not cut, unless one takes more than half of the terminal
	names []string
	right []bool // numbers
	width []int  // nil before it is known
	limit []int  // where columns were cut to fit the terminal, else 0
	drawn int    // columns that are drawn; those behind them have no place on the terminal
}

// New returns the grid of rows of a schema; with changes the kind of change is the first column.
func New(s types.Schema, changes bool) *Grid {
	g := &Grid{}
	if changes {
		g.names, g.right = append(g.names, ChangeColumn), append(g.right, false)
	}
	for _, f := range s.Fields {
		g.names = append(g.names, string(AppendCell(nil, []byte(f.Name))))
		g.right = append(g.right, f.Type.Numeric() || f.Type.Kind == types.Duration)
	}
	return g
}

// Decided reports whether it is known how wide the columns are.
func (g *Grid) Decided() bool { return g.width != nil }

// Reset forgets how wide the columns are.
func (g *Grid) Reset() { g.width = nil }

// Decide takes the widths from lines of cells. The widest columns are cut until a line fits into so many columns of a
// terminal; 0: they are not cut.
func (g *Grid) Decide(lines []string, columns int) {
	g.width = make([]int, len(g.names))
	g.limit = make([]int, len(g.names))
	for i, name := range g.names {
		g.width[i] = Width(name)
	}
	for _, line := range lines {
		for i := range g.width {
			var cell string
			cell, line = nextCell(line)
			if cell == nullCell {
				cell = null
			}
			g.width[i] = max(g.width[i], Width(cell))
		}
	}
	g.drawn = len(g.width)
	if columns > 0 {
		g.fit(columns)
	}
}

// Hidden returns how many columns have no place on the terminal.
func (g *Grid) Hidden() int { return len(g.width) - g.drawn }

// fit cuts the widest columns until the table fits; where nothing is left to cut, the last columns are left out.
func (g *Grid) fit(columns int) {
	total := len(gap) * (len(g.width) - 1)
	for _, w := range g.width {
		total += w
	}
	for total > columns {
		widest := -1
		for i, w := range g.width {
			whole := i < g.Whole && w <= columns/2
			if !whole && !g.right[i] && w > narrowest && (widest < 0 || w > g.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		g.width[widest]--
		g.limit[widest] = g.width[widest]
		total--
	}
	for g.drawn = len(g.width); g.drawn > 1 && total > columns; g.drawn-- {
		if g.drawn == len(g.width) {
			total += len(gap) + 1 // for what stands in their place
		}
		total -= g.width[g.drawn-1] + len(gap)
	}
}

// AppendHeader appends the names of the columns and a rule under them.
func (g *Grid) AppendHeader(dst []byte) []byte {
	rules := make([]string, len(g.width))
	for i, w := range g.width {
		rules[i] = strings.Repeat(rule, w)
	}
	dst = g.AppendLine(dst, strings.Join(g.names, string(cellEnd)))
	return g.AppendLine(dst, strings.Join(rules, string(cellEnd)))
}

// AppendLine appends a line of cells, aligned. A cell that is wider than those that decided is drawn whole.
func (g *Grid) AppendLine(dst []byte, line string) []byte {
	for i, width := range g.width[:g.drawn] {
		var cell string
		cell, line = nextCell(line)
		isNull := cell == nullCell
		if isNull {
			cell = null
		}
		if g.limit[i] > 0 {
			cell = Cut(cell, g.limit[i])
		}
		pad := max(0, width-Width(cell))
		if i > 0 {
			dst = append(dst, gap...)
		}
		if g.right[i] {
			dst = appendBlanks(dst, pad)
		}
		if isNull && g.Color {
			dst = append(append(append(dst, dim...), cell...), undim...)
		} else {
			dst = append(dst, cell...)
		}
		if !g.right[i] && i < len(g.width)-1 { // the last one is not filled up
			dst = appendBlanks(dst, pad)
		}
	}
	if g.drawn < len(g.width) {
		dst = append(dst, gap+ellipse...)
	}
	return append(dst, '\n')
}

func appendBlanks(b []byte, n int) []byte {
	for range n {
		b = append(b, ' ')
	}
	return b
}

// nextCell takes the first cell off a line.
func nextCell(line string) (cell, rest string) {
	if i := strings.IndexByte(line, cellEnd); i >= 0 {
		return line[:i], line[i+1:]
	}
	return strings.TrimSuffix(line, "\n"), ""
}
