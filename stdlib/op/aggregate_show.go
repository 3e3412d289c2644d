package op

import (
	"github.com/ebb-lang/ebb/exec/state"
)

// Changelogs remember what they have given out for each group. To show what a state stands for, they forget it: then all
// of it is a change.

// Repeat makes every group owed.
func (g *groupAll) Repeat() {
	if !g.updating {
		return
	}
	g.dirty = forgetSent(g.table, agSent, agDirty)
}

// Repeat makes every window owed, with all its keys.
func (s *sliced) Repeat() {
	if s.rev == nil {
		return
	}
	s.rev.changed = nil
	for _, ow := range s.rev.windows {
		ow.dirty = nil
		s.rev.owe(ow, forgetSent(ow.sent, owSent, owDirty))
	}
}

// forgetSent clears what was given out for all rows of a table, two words from sent on, and marks and returns them all as
// changed.
func forgetSent(t *state.Table, sent, dirty int) []uint32 {
	ids, _ := t.All(0, t.Len(), nil)
	for _, id := range ids {
		w := t.Rows().At(id)[t.Off():]
		w[sent], w[sent+1], w[dirty] = 0, 0, 1
	}
	return ids
}

// Repeat makes every session owed that is not over.
func (s *session) Repeat() {
	if !s.updating {
		return
	}
	s.gone = s.gone[:0]
	ids, _ := s.keys.All(0, s.keys.Len(), nil)
	for _, key := range ids {
		for at := *s.head(key); at != 0; {
			w := s.rows.At(uint32(at) - 1)
			at = w[spNext]
			w[spSent], w[spSent+1] = 0, 0
		}
	}
}
