package inspect

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

var stageFields = []field{{"stage", types.String, nil}, {"rows_in", types.Int, orNothing}, {"rows_out", types.Int, nil}, {"in_flight", types.Int, orNothing},
	{"state", types.Int, humanBytes}, {"watermark", types.Time, func(v any) string { return watermark(v.(int64)) }}}

// PrintStages prints how the stages of a run stand, a line each. State is in bytes, by stage.
func PrintStages(p *Printer, stages []exec.StageCount, state map[string]int64) error {
	var rows [][]any
	for _, s := range stages {
		row := []any{s.ID, s.In, s.Out, s.Waiting, nil, nil}
		if s.Source {
			row[1], row[3] = nil, nil
		}
		if n := state[s.ID]; n > 0 {
			row[4] = n
		}
		if s.W != types.MinInstant {
			row[5] = s.W
		}
		rows = append(rows, row)
	}
	return p.list(stageFields, rows)
}
