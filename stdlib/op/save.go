package op

import (
	"maps"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Save and Load of the stages that are not aggregate.

func (l *limit) Save(w *checkpoint.Writer) error {
	w.Int(l.left)
	return nil
}

func (l *limit) Load(r *checkpoint.Reader) error {
	if n := r.Int(); !fault.On("forget-count") {
		l.left = n
	}
	return r.Err()
}

// Merge takes the larger count: it only chooses among rows that have no position.
func (s *sample) Merge(from exec.Operator, _ func(hash uint64) bool) error {
	if o, ok := from.(*sample); ok {
		s.n = max(s.n, o.n)
	}
	return nil
}

func (s *sample) Save(w *checkpoint.Writer) error {
	w.Uint(s.n)
	return nil
}

func (s *sample) Load(r *checkpoint.Reader) error {
	s.n = r.Uint()
	return r.Err()
}

// Merge is for a task that takes the place of another one: there is one task always.
func (l *limit) Merge(from exec.Operator, _ func(hash uint64) bool) error {
	if o, ok := from.(*limit); ok {
		l.left = min(l.left, o.left)
	}
	return nil
}

// Save writes the rows that wait for the end of their window, and those that are sorted and owed.
func (s *sorter) Save(w *checkpoint.Writer) error {
	ends := slices.Sorted(maps.Keys(s.open))
	w.Uint(uint64(len(ends)))
	for _, end := range ends {
		w.Int(end)
		var rows, keys []*vec.Batch
		for _, part := range s.open[end] {
			rows, keys = append(rows, part.b), append(keys, &vec.Batch{N: part.b.N, Cols: part.keys})
		}
		state.SaveBatches(w, rows)
		state.SaveBatches(w, keys)
	}
	state.SaveBatches(w, s.ready)
	w.Int(s.given)
	return nil
}

// Load reads what Save wrote.
func (s *sorter) Load(r *checkpoint.Reader) error {
	s.open, s.ready = map[int64][]sortable{}, nil
	for range r.Count(3) {
		end := r.Int()
		rows, keys := state.LoadBatches(r, s.cols), state.LoadBatches(r, s.keys)
		for i, b := range rows {
			if r.Err() == nil && (len(rows) != len(keys) || b.N != keys[i].N) {
				r.Fail("rows and their keys are not as many")
			}
			if r.Err() != nil {
				return r.Err()
			}
			s.open[end] = append(s.open[end], sortable{b, keys[i].Cols})
		}
	}
	s.ready = state.LoadBatches(r, s.cols)
	s.given = r.Int()
	return r.Err()
}

// columnTypes returns the types of the columns of a schema.
func columnTypes(s types.Schema) []types.Type {
	ts := make([]types.Type, len(s.Fields))
	for i, f := range s.Fields {
		ts[i] = f.Type
	}
	return ts
}
