package inspect

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

var (
	humanRate   = func(v any) string { return Rate(v.(float64)) }
	stageFields = []field{{"stage", types.String, nil}, {"rows_in", types.Int, orNothing}, {"rows_out", types.Int, orNothing}, {"in_flight", types.Int, orNothing},
		{"in/s", types.Float, humanRate}, {"out/s", types.Float, humanRate}, {"state", types.Int, humanBytes},
		{"watermark", types.Time, func(v any) string { return watermark(v.(int64)) }}}
)

// Rates are rows a second.
type Rates struct{ In, Out float64 }

// PrintStages prints how the stages of a run stand, a line each. Rates, and state in bytes, are by stage.
func PrintStages(p *Printer, stages []exec.StageCount, rates map[string]Rates, state map[string]int64) error {
	var rows [][]any
	for _, s := range stages {
		row := []any{s.ID, s.In, s.Out, s.Waiting, rates[s.ID].In, rates[s.ID].Out, nil, nil}
		if s.Source {
			row[1], row[3], row[4] = nil, nil, nil
		}
		if s.Sink {
			row[2], row[5] = nil, nil
		}
		if n := state[s.ID]; n > 0 {
			row[6] = n
		}
		if s.W != types.MinInstant {
			row[7] = s.W
		}
		rows = append(rows, row)
	}
	return p.list(stageFields, rows)
}
