package exec

import "sync/atomic"

// Stats are the running totals of a job, for the progress line and the summary. All fields may be read at any time.
type Stats struct {
	RowsIn, RowsOut, BytesIn  atomic.Int64
	BytesTotal                atomic.Int64 // of the bounded inputs whose size is known
	SizeUnknown               atomic.Bool  // there are others: no part of the whole can be told
	Unbounded                 atomic.Bool
	Late, LateDropped, Errors atomic.Int64 // Late counts all late rows, LateDropped those that no target took
	Rejected, Behind          Samples      // of the rows with errors, and of those that were late
	Watermark                 atomic.Int64 // of the slowest sink or stage that looked last
	InBefore, OutBefore       atomic.Int64 // the part of RowsIn and RowsOut that earlier runs counted, up to the checkpoint this one goes on from
	Checkpoint                atomic.Int64 // the newest published; 0: none yet
	Checkpointed              atomic.Int64 // when it was, nanoseconds since 1970 UTC
	Killed                    atomic.Bool  // an output still bears the lock of a run before, which must have been killed
}

// values returns the totals that a checkpoint keeps.
func (s *Stats) values() map[string]int64 {
	return map[string]int64{"rows_in": s.RowsIn.Load(), "rows_out": s.RowsOut.Load(), "bytes_in": s.BytesIn.Load(),
		"late": s.Late.Load(), "late_dropped": s.LateDropped.Load(), "errors": s.Errors.Load(), "watermark": s.Watermark.Load()}
}

// goOn takes over the totals of rows that a checkpoint keeps, so that they tell of the job and not of the run.
func (s *Stats) goOn(values map[string]int64) {
	s.InBefore.Store(values["rows_in"])
	s.OutBefore.Store(values["rows_out"])
	s.RowsIn.Add(values["rows_in"])
	s.RowsOut.Add(values["rows_out"])
	s.Late.Add(values["late"])
	s.LateDropped.Add(values["late_dropped"])
	s.Errors.Add(values["errors"])
}
