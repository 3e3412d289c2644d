package conn

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
)

// Save notes the rows that wait for their columns to be wide enough. What was printed cannot be taken back: after a
// restart rows may be printed twice.
func (t *table) Save(w *checkpoint.Writer) error {
	w.Uint(savedPassing)
	w.Uint(uint64(len(t.waiting)))
	for _, line := range t.waiting {
		w.String(line)
	}
	return nil
}

// Load takes the rows over that had not been printed.
func (t *table) Load(r *checkpoint.Reader) error {
	if kind := r.Uint(); kind != savedPassing {
		r.Fail("an output of kind %d", kind)
	}
	t.waiting = make([]string, r.Count(1))
	for i := range t.waiting {
		t.waiting[i] = r.String()
	}
	t.since = t.w.Env.Now()
	return r.Done()
}

// Undo says that what was printed stays.
func (t *table) Undo(*exec.Undo) ([]exec.Undone, error) {
	t.waiting = nil
	return []exec.Undone{{Output: "standard output", Why: "what was printed cannot be taken back"}}, nil
}
