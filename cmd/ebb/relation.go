package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// A printer writes rows to the standard output in the format of --output.
type printer struct {
	format string // table, json (one array), jsonl, csv
	out    io.Writer
}

var rowFormats = []string{"table", "json", "jsonl", "csv"}

// outputFlag adds --output to a command that prints rows.
func outputFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "output", "table", "`FORMAT` of what is printed: table, json (one array), jsonl or csv")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(rowFormats, cobra.ShellCompDirectiveNoFileComp))
}

// newPrinter returns what prints in a format, one of those given.
func newPrinter(format string, formats ...string) (*printer, error) {
	for _, f := range formats {
		if f == format {
			return &printer{format: format, out: os.Stdout}, nil
		}
	}
	return nil, usage("--output takes %s or %s, not %q", strings.Join(formats[:len(formats)-1], ", "), formats[len(formats)-1], format)
}

// people reports whether what is printed is for people and not for programs.
func (p *printer) people() bool { return p.format == "table" }

// rows prints batches of one schema.
func (p *printer) rows(s types.Schema, batches ...*vec.Batch) error {
	if p.format == "json" {
		return p.array(s, batches)
	}
	env := exec.OS()
	env.Stdout = p.out
	w := &spec.Write{Name: "stdout", Args: &types.ConnArgs{Name: "console", Args: map[string]any{"format": p.format}}, Schema: s, Env: env}
	console := stdlib.New().ConnDef("console")
	enc, err := console.Encoder(w)
	if err != nil {
		return err
	}
	sink, err := console.Sink(w)
	if err != nil {
		return err
	}
	for _, b := range batches {
		lines, err := enc.Encode(b)
		if err == nil {
			err = sink.Write(lines)
		}
		if err != nil {
			return written(err)
		}
	}
	return written(errors.Join(sink.Finish(), sink.Close()))
}

// array prints one JSON array of objects, a line each.
func (p *printer) array(s types.Schema, batches []*vec.Batch) error {
	text := []byte("[")
	n := 0
	for _, b := range batches {
		for i := range b.Rows() {
			if n++; n > 1 {
				text = append(text, ',')
			}
			text = vec.AppendRowJSON(append(text, "\n  "...), s.Fields, b.Cols, b.Row(i))
		}
	}
	if n > 0 {
		text = append(text, '\n')
	}
	_, err := p.out.Write(append(text, "]\n"...))
	return written(err)
}

// written is the error of writing to the standard output; that nobody reads it any more is none.
func written(err error) error {
	if err == nil || errors.Is(err, exec.ErrReaderGone) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return &status{exitOutput, fmt.Errorf("write the standard output: %w", err)}
}

// A field is a column of a list: its values as programs want them and, in a table, as people do.
type field struct {
	name string
	typ  types.Kind
	show func(v any) string // nil: as it is
}

// list prints rows of Go values (int64, string, bool, nil).
func (p *printer) list(fields []field, rows [][]any) error {
	var s types.Schema
	for _, f := range fields {
		s.Fields = append(s.Fields, types.Field{Name: f.name, Type: types.Type{Kind: f.typ, Nullable: true}})
	}
	if p.people() {
		for i, f := range fields {
			if f.show != nil {
				s.Fields[i].Type = types.T(types.String)
				rows = shown(rows, i, f.show)
			}
		}
	}
	return p.rows(s, vec.FromRows(s, rows))
}

// shown returns rows with column i as text for people, numbers to the right.
func shown(rows [][]any, i int, show func(any) string) [][]any {
	out := make([][]any, len(rows))
	width := 0
	for k, r := range rows {
		text := ""
		if r[i] != nil {
			text = show(r[i])
		}
		out[k] = append([]any(nil), r...)
		out[k][i] = text
		width = max(width, len(text))
	}
	for _, r := range out {
		if text := r[i].(string); text != "" && text[0] >= '0' && text[0] <= '9' {
			r[i] = strings.Repeat(" ", width-len(text)) + text
		}
	}
	return out
}

// size prints bytes as people read them: 999 B, 12.3 KiB, 4.56 MiB.
func size(n int64) string {
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

// span prints a duration in nanoseconds with three digits or so: 850µs, 12.3ms, 4.5s, 3m12s, 5h7m, 12d.
func span(n int64) string {
	d := time.Duration(n)
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// moment prints a time to the second.
func moment(n int64) string { return time.Unix(0, n).UTC().Format("2006-01-02T15:04:05Z") }
