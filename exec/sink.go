package exec

import (
	"errors"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// An OutputError is an output that cannot be written, as opposed to a failing row or input.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// ErrReaderGone is the error of a Sink whose output nobody reads any more, such as a closed pipe. It fails no run: the
// sink is written to no more, and whatever only leads to it ends.
var ErrReaderGone = errors.New("the reader of the output is gone")

// SinkOperator runs a Sink as the last operator of a task and counts what it writes.
type SinkOperator struct {
	Sink  Sink
	Stats *Stats
	gone  bool // nobody reads the output
}

// Process writes the rows.
func (s *SinkOperator) Process(_ int, b *vec.Batch, _ *Out) error {
	if err := s.Sink.Write(b); err != nil {
		return s.outcome(err)
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

// Finish makes the output visible, if the run takes no checkpoints.
func (s *SinkOperator) Finish(*Out) error {
	return s.outcome(s.Sink.Finish())
}

func (s *SinkOperator) outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrReaderGone):
		s.gone = true
		return nil
	}
	return &OutputError{err}
}

// Save seals what was written.
func (s *SinkOperator) Save(w *checkpoint.Writer) error {
	if v, ok := s.Sink.(Saver); ok {
		if err := v.Save(w); err != nil {
			return s.outcome(err)
		}
	}
	return nil
}

// Load undoes what was written after the checkpoint.
func (s *SinkOperator) Load(r *checkpoint.Reader) error {
	if v, ok := s.Sink.(Saver); ok {
		if err := v.Load(r); err != nil {
			return s.outcome(err)
		}
	}
	return nil
}

// Satisfied reports whether nobody reads the output any more.
func (s *SinkOperator) Satisfied() bool { return s.gone }

// Close closes the sink.
func (s *SinkOperator) Close() error {
	if err := s.Sink.Close(); err != nil {
		return s.outcome(err)
	}
	return nil
}
