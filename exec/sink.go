package exec

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// An OutputError is an output that cannot be written, as opposed to a failing row or input.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// SinkOperator runs a Sink as the last operator of a task and counts what it writes.
type SinkOperator struct {
	Sink  Sink
	Stats *Stats
}

// Process writes the rows.
func (s *SinkOperator) Process(_ int, b *vec.Batch, _ *Out) error {
	if err := s.Sink.Write(b); err != nil {
		return &OutputError{err}
	}
	s.Stats.RowsOut.Add(int64(b.Rows()))
	return nil
}

// Advance notes how far event time has come at the output.
func (s *SinkOperator) Advance(w types.Instant, _ *Out) error {
	if w != types.MaxInstant {
		s.Stats.Watermark.Store(w)
	}
	return nil
}

// Finish makes the output visible.
func (s *SinkOperator) Finish(*Out) error {
	if err := s.Sink.Finish(); err != nil {
		return &OutputError{err}
	}
	return nil
}

// Close closes the sink.
func (s *SinkOperator) Close() error { return s.Sink.Close() }
