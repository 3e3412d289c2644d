package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// PrintList prints a line for each checkpoint.
func (f *Folder) PrintList(p *Printer) error {
	now := time.Now().UnixNano()
	bytes := func(v any) string { return Size(v.(int64)) }
	dash := func(v any) string {
		if v.(int64) == 0 {
			return ""
		}
		return fmt.Sprint(v)
	}
	fields := []field{
		{"id", types.Int, nil},
		{"name", types.String, func(v any) string { return v.(string) }},
		{"time", types.Time, func(v any) string { return Moment(v.(int64)) }},
		{"age", types.Duration, func(v any) string { return Span(v.(int64)) }},
		{"took", types.Duration, func(v any) string { return Span(v.(int64)) }},
		{"state_bytes", types.Int, bytes},
		{"flight_rows", types.Int, nil},
		{"flight_bytes", types.Int, bytes},
		{"mode", types.String, nil},
		{"reason", types.String, nil},
		{"parent", types.Int, dash},
		{"branch", types.Int, nil},
		{"status", types.String, func(v any) string { return v.(string) }},
	}
	var rows [][]any
	for _, i := range f.All {
		var name, parent, status any
		if s := infoStatus(i); s != "" {
			status = s
		}
		if i.Name != "" {
			name = i.Name
		}
		if i.Parent != 0 {
			parent = int64(i.Parent)
		}
		rows = append(rows, []any{int64(i.ID), name, i.Created, (now - i.Created) / 1e6 * 1e6, (i.Durable - i.Created) / 1e3 * 1e3, i.StateBytes, i.FlightRows, i.FlightBytes,
			i.Mode, i.Reason, parent, int64(i.Branch), status})
	}
	if len(rows) == 0 && p.people() {
		fmt.Fprintf(p.Out, "there are no checkpoints in %s\n", f.Dir)
		return nil
	}
	return p.list(fields, rows)
}

// infoStatus is what became of a checkpoint, in words: the head is where the next run goes on.
func infoStatus(i checkpoint.Info) string {
	var words []string
	if i.Head {
		words = append(words, "head")
	}
	if i.Abandoned {
		words = append(words, "abandoned")
	}
	if i.Finished {
		words = append(words, "finished")
	}
	if i.Foreign {
		words = append(words, "of another job")
	}
	if !i.Committed {
		words = append(words, "uncommitted")
	}
	return strings.Join(words, " ")
}
