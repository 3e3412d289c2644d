package exec

import (
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Failures is what a stage or source does with rows that fail: stop the run (the zero Mode), drop them, or send an
// error row to a port. It belongs to one task.
type Failures struct {
	Mode  string // "" and "fail", "drop", "into"
	Port  int    // of the Out, for "into"
	Stats *Stats
	// Keep takes the failed rows instead; nil: nobody does.
	Keep func([]*RowError)
}

// Add deals with the failed rows: it returns the first as an error if the run must stop, else emits error rows.
func (f *Failures) Add(out *Out, errs []*RowError) error {
	if len(errs) == 0 {
		return nil
	}
	if f.Keep != nil {
		f.Keep(errs)
		return nil
	}
	if f.Mode == "" || f.Mode == "fail" {
		return errs[0]
	}
	if f.Stats != nil {
		f.Stats.Errors.Add(int64(len(errs)))
		for _, e := range errs[max(0, len(errs)-f.Stats.Rejected.Room()):] {
			f.Stats.Rejected.Add(Sample{Stage: e.Stage, Source: e.Source, Row: e.Row, Raw: e.Raw, Reason: e.Err.Error()})
		}
	}
	if f.Mode == "drop" {
		return nil
	}
	rows := make([][]any, len(errs))
	for i, e := range errs {
		rows[i] = []any{e.Err.Error(), e.Stage, strings.Clone(e.Raw), e.Source, e.Row}
	}
	for len(rows) > 0 {
		n := min(len(rows), vec.MaxRows)
		out.EmitTo(f.Port, vec.FromRows(types.ErrorSchema, rows[:n]))
		rows = rows[n:]
	}
	return nil
}
