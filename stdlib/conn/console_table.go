package conn

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// A table is printed while its rows come: the encoders make cells of them, a line a row with tabs between the cells;
// the sink looks at the first lines to find how wide the columns are, and then aligns line by line.

const (
	widestCell   = 80
	narrowest    = 8 // to which a column is cut where the terminal is too narrow
	tableRows    = 1000
	tableWait    = int64(time.Second) // for so many rows
	tableGap     = "  "
	tableNull    = "null"
	cellEnd      = '\t' // is printed as \t within cells
	tableRule    = "─"
	tableEllipse = "…"
)

// tableEncoder turns rows into cells. It belongs to one task.
type tableEncoder struct {
	w     *spec.Write
	ends  []int
	plain []byte
}

func newTableEncoder(w *spec.Write) *tableEncoder { return &tableEncoder{w: w} }

// Encode writes a line of cells for each row.
func (e *tableEncoder) Encode(b *vec.Batch) (*vec.Batch, error) {
	block := make([]byte, 0, b.Rows()*(1+12*len(b.Cols)))
	e.ends = e.ends[:0]
	for i := range b.Rows() {
		row := b.Row(i)
		if e.w.Changes {
			change := vec.Insert
			if b.Change != nil {
				change = b.Change[row]
			}
			block = append(append(block, change.String()...), cellEnd)
		}
		for k, c := range b.Cols {
			if k > 0 {
				block = append(block, cellEnd)
			}
			if c.Null(row) {
				block = append(block, tableNull...)
				continue
			}
			if c.Type.Kind == types.String {
				block = appendCell(block, bytesOf(c.Strs[row]))
				continue
			}
			e.plain = appendPlain(e.plain[:0], c, row)
			block = appendCell(block, e.plain)
		}
		block = append(block, '\n')
		e.ends = append(e.ends, len(block))
	}
	return encoded(block, e.ends), nil
}

// screen is how wide characters are on a terminal, whatever the locale.
var screen = &runewidth.Condition{StrictEmojiNeutral: true}

// cellWidth is how many columns of the terminal a cell takes.
func cellWidth(cell string) int {
	if printable(bytesOf(cell)) {
		return len(cell)
	}
	return screen.StringWidth(cell)
}

// appendCell writes a value so that it takes one line, does nothing to the terminal, and is not too wide.
func appendCell(dst, value []byte) []byte {
	if len(value) <= widestCell && printable(value) {
		return append(dst, value...)
	}
	start := len(dst)
	for n := 0; len(value) > 0 && n <= widestCell; n++ {
		r, size := utf8.DecodeRune(value)
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case !unicode.IsPrint(r) && r != utf8.RuneError || r == utf8.RuneError && size == 1: // controls, marks of direction
			dst = append(dst, escapeRune(r, value[0], size)...)
		default:
			dst = append(dst, value[:size]...)
		}
		value = value[size:]
	}
	if cell := string(dst[start:]); len(value) > 0 || cellWidth(cell) > widestCell {
		cut := screen.Truncate(cell, widestCell-1, "")
		dst = append(append(dst[:start], cut...), tableEllipse...)
	}
	return dst
}

func escapeRune(r rune, first byte, size int) string {
	if size == 1 {
		return fmt.Sprintf(`\x%02x`, first)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// printable reports whether text is plain ASCII.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// table prints cells. It is the sink.
type table struct {
	w       *spec.Write
	out     io.Writer
	names   []string
	right   []bool // numbers
	width   []int  // nil before it is known
	limit   []int  // where columns were cut to fit the terminal, else 0
	waiting []string
	since   int64 // when the first of them came
	line    []byte
	failed  bool
}

func newTable(w *spec.Write) *table {
	t := &table{w: w, out: pipe{w.Env.Stdout}}
	if w.Changes {
		t.names, t.right = append(t.names, changeColumn), append(t.right, false)
	}
	for _, f := range w.Schema.Fields {
		t.names = append(t.names, string(appendCell(nil, []byte(f.Name))))
		t.right = append(t.right, f.Type.Numeric() || f.Type.Kind == types.Duration)
	}
	return t
}

// Write prints rows, or keeps them until there are enough to see how wide the columns are.
func (t *table) Write(b *vec.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	lines := b.Cols[0].Strs
	t.line = t.line[:0]
	for i := range b.Rows() {
		line := lines[b.Row(i)]
		if t.width == nil {
			t.waiting = append(t.waiting, strings.Clone(line))
			if len(t.waiting) == tableRows {
				t.begin()
			}
			continue
		}
		t.print(line)
	}
	if t.width == nil {
		now := t.w.Env.Now()
		if len(t.waiting) == b.Rows() {
			t.since = now
		}
		if t.w.Env.Stats.Unbounded.Load() || now-t.since >= tableWait {
			t.begin()
		}
	}
	return t.flush()
}

// Finish prints what is waiting.
func (t *table) Finish() error {
	if t.width == nil {
		t.line = t.line[:0]
		t.begin()
	}
	return t.flush()
}

// Close prints what is waiting: rows that a run has brought before it failed are worth seeing.
func (t *table) Close() error {
	if t.failed || len(t.waiting) == 0 {
		return nil
	}
	return t.Finish()
}

func (t *table) flush() error {
	if len(t.line) == 0 {
		return nil
	}
	_, err := t.out.Write(t.line)
	t.line = t.line[:0]
	t.failed = err != nil
	return outputError("the standard output", err)
}

// begin decides the widths, and prints the header and the rows that have waited.
func (t *table) begin() {
	t.width = make([]int, len(t.names))
	t.limit = make([]int, len(t.names))
	for i, name := range t.names {
		t.width[i] = cellWidth(name)
	}
	for _, line := range t.waiting {
		for i := range t.width {
			var cell string
			cell, line = nextCell(line)
			t.width[i] = max(t.width[i], cellWidth(cell))
		}
	}
	if f, ok := t.w.Env.Stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			t.fit(columns)
		}
	}
	var header, rule strings.Builder
	for i, name := range t.names {
		if i > 0 {
			header.WriteByte(cellEnd)
			rule.WriteByte(cellEnd)
		}
		header.WriteString(name)
		rule.WriteString(strings.Repeat(tableRule, t.width[i]))
	}
	t.print(header.String())
	t.print(rule.String())
	for _, line := range t.waiting {
		t.print(line)
	}
	t.waiting = nil
}

// fit cuts the widest columns until the table fits into so many columns of a terminal, or nothing is left to cut.
func (t *table) fit(columns int) {
	total := len(tableGap) * (len(t.width) - 1)
	for _, w := range t.width {
		total += w
	}
	for total > columns {
		widest := -1
		for i, w := range t.width {
			if !t.right[i] && w > narrowest && (widest < 0 || w > t.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.width[widest]--
		t.limit[widest] = t.width[widest]
		total--
	}
}

// print aligns the cells of a line. A cell that is wider than those before is printed whole.
func (t *table) print(line string) {
	for i, width := range t.width {
		var cell string
		cell, line = nextCell(line)
		if t.limit[i] > 0 {
			cell = screen.Truncate(cell, t.limit[i], tableEllipse)
		}
		pad := max(0, width-cellWidth(cell))
		if i > 0 {
			t.line = append(t.line, tableGap...)
		}
		if t.right[i] {
			t.line = appendBlanks(t.line, pad)
		}
		t.line = append(t.line, cell...)
		if !t.right[i] && i < len(t.width)-1 {
			t.line = appendBlanks(t.line, pad)
		}
	}
	t.line = append(t.line, '\n')
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
