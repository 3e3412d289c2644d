package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

const reachedName = "REACHED"

// reached is a note of how far a run has read its inputs, whatever checkpoints know of that. It is told to people and decides
// nothing, so it is never flushed: a kill loses nothing that was handed to the system; after a loss of power it may be an older one,
// or none.
type reached struct {
	Rows   int64  `json:"rows"`   // of all sources, since the job began
	Over   bool   `json:"over"`   // the run had ended; else it may have read more
	Branch uint64 `json:"branch"` // that the run was on
}

// reachedBytes is how long the note is, whatever it says: it is written over in place, within a sector.
const reachedBytes = 96

// readReached returns the note of the run before; the zero value if there is none that can be read.
func readReached(fs disk.FS, dir string) (x reached) {
	f, err := openPlain(fs, filepath.Join(dir, reachedName))
	if err != nil {
		return x
	}
	defer f.Close()
	p, err := io.ReadAll(io.LimitReader(f, reachedBytes))
	if err != nil || json.Unmarshal(p, &x) != nil {
		return reached{}
	}
	return x
}

// NoteReached notes that the run has read so many rows of all sources since the job began; over: and has ended. It is called
// by one goroutine at a time, before Close. What cannot be noted is not known to the next run, which is no reason to end this one.
func (s *Store) NoteReached(rows int64, over bool) {
	s.mu.Lock()
	x := reached{Rows: rows, Over: over, Branch: s.st.branch}
	s.reached = x
	s.mu.Unlock()
	p, err := json.Marshal(x)
	if err == nil && s.noted == nil {
		s.noted, err = s.fs.Edit(filepath.Join(s.dir, reachedName))
	}
	if err == nil {
		s.noted.WriteAt(fmt.Appendf(nil, "%-*s\n", reachedBytes-1, p), 0)
	}
}

// A Rewind is how many rows of the input a run reads again that goes on from a checkpoint. The zero Rewind is one that is not known.
type Rewind struct {
	Rows  int64
	Least bool // the run before was killed, and may have read more
	Known bool
}

// Rewind says what a run reads again that goes on from checkpoint m: what the last run had read after it. That is not known
// if that run did not come after m, or left no note.
func (s *Store) Rewind(m *Manifest) Rewind {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.ID > s.st.upto(s.reached.Branch)[m.Branch] {
		return Rewind{}
	}
	rows := s.reached.Rows - m.Stats["rows_in"]
	if rows < 0 { // the run was killed after the checkpoint and before its next note
		return Rewind{Least: true, Known: true}
	}
	return Rewind{Rows: rows, Least: !s.reached.Over, Known: true}
}

// Text says how many rows, given their number as its caller writes it: "at least 12 rows".
func (r Rewind) Text(rows string) string {
	if r.Least {
		return "at least " + rows
	}
	return rows
}

// After is Text as it stands behind the place that a run goes on from: ", at least 12 rows rewound"; "" if it is not known.
func (r Rewind) After(rows string) string {
	if !r.Known {
		return ""
	}
	return ", " + r.Text(rows) + " rewound"
}
