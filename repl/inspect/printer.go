package inspect

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/repl/view"
	"github.com/ebb-lang/ebb/stdlib/grid"
)

// A Printer writes rows.
type Printer struct {
	Format string // table, json (one array), jsonl, csv
	Out    io.Writer
	// Width and Height are those of the terminal in cells, Color whether it shows colours; 0: there is none.
	Width, Height int
	Color         bool
}

// Formats are those of rows.
var Formats = []string{"table", "json", "jsonl", "csv"}

// people reports whether what is printed is for people and not for programs.
func (p *Printer) people() bool { return p.Format == "table" }

// rows prints batches of one schema, of which so many columns say what a row is about.
func (p *Printer) rows(s types.Schema, whole int, batches ...*vec.Batch) error {
	o := view.Options{Mode: view.Mode(p.Format), Width: p.Width, Height: p.Height, Color: p.Color, Whole: whole}
	if p.people() {
		o.Mode = view.Append
	}
	return written(view.Print(p.Out, o, s, batches...))
}

// Rows prints batches of one schema.
func (p *Printer) Rows(s types.Schema, batches ...*vec.Batch) error { return p.rows(s, 0, batches...) }

// written is the error of writing to the standard output; that nobody reads it any more is none.
func written(err error) error {
	if err == nil || errors.Is(err, exec.ErrReaderGone) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return &exec.OutputError{Err: fmt.Errorf("write the standard output: %w", err)}
}

// A field is a column of a list: its values as programs want them and, in a table, as people do.
type field struct {
	name string
	typ  types.Kind
	show func(v any) string // nil: as it is
}

// list prints rows of Go values (int64, string, bool, nil).
func (p *Printer) list(fields []field, rows [][]any) error {
	var s types.Schema
	for _, f := range fields {
		s.Fields = append(s.Fields, types.Field{Name: f.name, Type: types.Type{Kind: f.typ, Nullable: true}})
	}
	if p.people() {
		for i, f := range fields {
			if f.show != nil {
				s.Fields[i].Type = types.T(types.String)
				width := len(f.name)
				if p.Width > 0 && p.Width < 12*len(fields) { // columns will be cut, from the right
					width = 0
				}
				rows = shown(rows, i, f, width)
			}
		}
	}
	return p.rows(s, 1, vec.FromRows(s, rows))
}

// shown returns rows with column i as text for people, numbers to the right, also below a name that is wider than they are.
func shown(rows [][]any, i int, f field, width int) [][]any {
	out := make([][]any, len(rows))
	for k, r := range rows {
		text := ""
		if r[i] != nil {
			text = f.show(r[i])
		}
		out[k] = append([]any(nil), r...)
		out[k][i] = text
		width = max(width, grid.Width(text))
	}
	for _, r := range out {
		if text := r[i].(string); f.typ != types.Time && text != "" && text[0] >= '0' && text[0] <= '9' {
			r[i] = strings.Repeat(" ", width-grid.Width(text)) + text
		}
	}
	return out
}

// Size prints bytes as people read them: 999 B, 12.3 KiB, 4.56 MiB.
func Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f /= 1024; f < 1000 || unit == "TiB" {
			switch {
			case f < 10:
				return fmt.Sprintf("%.2f %s", f, unit)
			case f < 100:
				return fmt.Sprintf("%.1f %s", f, unit)
			}
			return fmt.Sprintf("%.0f %s", f, unit)
		}
	}
	return ""
}

// Rate prints how many of something come a second: 0/s, 12.3/s, 45.6k/s.
func Rate(r float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G"} {
		if r < 999.5 {
			break
		}
		r, unit = r/1000, u
	}
	switch {
	case r == 0:
		return "0/s"
	case r < 99.95:
		return strconv.FormatFloat(r, 'f', 1, 64) + unit + "/s"
	}
	return strconv.FormatFloat(r, 'f', 0, 64) + unit + "/s"
}

// Span prints a duration in nanoseconds with three digits or so.
func Span(n int64) string { return view.Span(time.Duration(n)) }

// Moment prints a time to the second.
func Moment(n int64) string { return time.Unix(0, n).UTC().Format("2006-01-02T15:04:05Z") }
