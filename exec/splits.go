package exec

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
)

// SplitState is how far event time has come in a split, for people who ask what holds it back.
type SplitState struct {
	Source, Name string // Name is "" if the source is one split
	High         types.Instant
	Lag          int64 // that the source allows, nanoseconds
	IdleAfter    int64 // what counts as idle, nanoseconds; 0: nothing does
	Idle         bool
	Since        int64 // when High last moved, nanoseconds since 1970 UTC
	Unread       int   // files of the source that are read after this one: they hold event time back
}

// Watermark is that of the split.
func (s *SplitState) Watermark() types.Instant {
	if s.High < types.MinInstant+s.Lag {
		return types.MinInstant
	}
	return s.High - s.Lag
}

// Report tells how a split stands. High never goes back; Since is set here. Tasks that share a split may all report.
func (s *Splits) Report(now int64, x SplitState) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.states, func(y SplitState) bool { return y.Source == x.Source && y.Name == x.Name })
	if i < 0 {
		x.Since = now
		s.states = append(s.states, x)
		return
	}
	old := s.states[i]
	if x.Since = old.Since; x.High > old.High {
		x.Since = now
	}
	x.High = max(x.High, old.High)
	s.states[i] = x
}

// States returns how the splits stand that have been reported, in the order in which they were first.
func (s *Splits) States() []SplitState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.states)
}
