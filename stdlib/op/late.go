package op

import (
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// sampleLate keeps some of the late rows of a batch for those who ask. fields are those of the rows, nil if they have been
// aggregated before.
func sampleLate(env *exec.Env, stage string, fields []types.Field, b *vec.Batch, rows []uint32) {
	keep := &env.Stats.Behind
	for _, r := range rows[max(0, len(rows)-keep.Room()):] {
		x := exec.Sample{Stage: stage, Reason: "late"}
		if b.Time != nil {
			x.Reason = "event time " + moment(b.Time[r])
			if b.Mark != nil {
				x.Reason += ", when its split had come to " + moment(b.Mark[r])
			}
		}
		if b.Pos != nil && env.Splits != nil {
			x.Source, x.Row = env.Splits.Where(b.Pos[r])
		}
		if fields != nil {
			x.Raw = string(vec.AppendRowJSON(nil, fields, b.Cols, int(r)))
		}
		keep.Add(x)
	}
}

func moment(t types.Instant) string {
	return time.Unix(0, t).UTC().Format("2006-01-02T15:04:05.999999999Z")
}
