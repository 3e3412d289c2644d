package conn

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/grid"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// A table is printed while its rows come: the encoders make cells of them, a line a row; the sink looks at the first lines
// to find how wide the columns are, and then aligns line by line.

const (
	tableRows = 1000
	tableWait = int64(time.Second) // for so many rows
)

// tableEncoder turns rows into cells. It belongs to one task.
type tableEncoder struct {
	w    *spec.Write
	ends []int
}

func newTableEncoder(w *spec.Write) *tableEncoder { return &tableEncoder{w: w} }

// Encode writes a line of cells for each row.
func (e *tableEncoder) Encode(b *vec.Batch) (*vec.Batch, error) {
	block := make([]byte, 0, b.Rows()*(1+12*len(b.Cols)))
	e.ends = e.ends[:0]
	for i := range b.Rows() {
		block = grid.AppendCells(block, b, b.Row(i), e.w.Changes)
		e.ends = append(e.ends, len(block))
	}
	return encoded(block, e.ends), nil
}

// table prints cells. It is the sink.
type table struct {
	w       *spec.Write
	out     io.Writer
	grid    *grid.Grid
	waiting []string
	since   int64 // when the first of them came
	line    []byte
	failed  bool
}

func newTable(w *spec.Write) *table {
	return &table{w: w, out: pipe{w.Env.Stdout}, grid: grid.New(w.Schema, w.Changes)}
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
		if !t.grid.Decided() {
			t.waiting = append(t.waiting, strings.Clone(line))
			if len(t.waiting) == tableRows {
				t.begin()
			}
			continue
		}
		t.line = t.grid.AppendLine(t.line, line)
	}
	if !t.grid.Decided() {
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
	if !t.grid.Decided() {
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
	columns := 0
	if f, ok := t.w.Env.Stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			columns = n
		}
		t.grid.Color = os.Getenv("NO_COLOR") == ""
	}
	t.grid.Decide(t.waiting, columns)
	t.line = t.grid.AppendHeader(t.line)
	for _, line := range t.waiting {
		t.line = t.grid.AppendLine(t.line, line)
	}
	t.waiting = nil
}
