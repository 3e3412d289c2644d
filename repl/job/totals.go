package job

import (
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// Totals are the running totals of a job.
type Totals struct {
	RowsIn, RowsOut           int64 // of the job, over restarts
	InBefore, OutBefore       int64 // the part that was counted up to the checkpoint this run went on from
	BytesIn, BytesTotal       int64 // BytesTotal is -1 if not known
	Late, LateDropped, Errors int64
	Watermark                 types.Instant // of the slowest stage that looked last
	StateBytes                int64         // at the last checkpoint
	Committed                 int64         // rows out up to it
	FlightRows                int64         // now
	Checkpoint                checkpoint.ID // the last one, or the one that the run went on from; 0: none yet
	Checkpointed              int64         // when, nanoseconds since 1970 UTC
	For                       time.Duration // that the run has taken so far, or did take
}

// Totals returns how much the job has done.
func (j *Job) Totals() Totals {
	r, _ := j.now()
	s := r.env.Stats
	t := Totals{RowsIn: s.RowsIn.Load(), RowsOut: s.RowsOut.Load(), InBefore: s.InBefore.Load(), OutBefore: s.OutBefore.Load(),
		BytesIn: s.BytesIn.Load(), BytesTotal: s.BytesTotal.Load(), Late: s.Late.Load(), LateDropped: s.LateDropped.Load(), Errors: s.Errors.Load(),
		Watermark: s.Watermark.Load(), FlightRows: r.exec.InFlight(), Checkpoint: checkpoint.ID(s.Checkpoint.Load()), Checkpointed: s.Checkpointed.Load()}
	if s.SizeUnknown.Load() || s.Unbounded.Load() {
		t.BytesTotal = -1
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if t.For = r.ended.Sub(r.started); r.ended.IsZero() {
		t.For = time.Since(r.started)
	}
	m := r.launched.From
	if n := len(j.taken); n > 0 {
		m = j.taken[n-1]
	}
	if m == nil {
		return t
	}
	t.StateBytes, t.Committed = m.StateBytes, m.Stats["rows_out"]
	if t.Checkpoint == 0 {
		t.Checkpoint, t.Checkpointed = m.ID, m.Durable
	}
	return t
}
