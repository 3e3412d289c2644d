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
		s.saveRuns(w, s.open[end])
	}
	state.SaveBatches(w, s.ready)
	w.Int(types.MinInstant) // in the place of what earlier versions wrote here
	w.Int(s.w)
	w.Int(s.given)
	w.Uint(uint64(len(s.going)))
	for _, g := range s.going {
		s.saveRuns(w, g)
	}
	return nil
}

// saveRuns writes what is left of the rows, and their keys.
func (s *sorter) saveRuns(w *checkpoint.Writer, all *runs) {
	var rows, keys []*vec.Batch
	for _, r := range all.left() {
		b, n := r.b.Slice(r.next, r.b.N), len(s.cols)
		rows, keys = append(rows, b.With(b.Cols[:n])), append(keys, &vec.Batch{N: b.N, Sel: b.Sel, Cols: b.Cols[n:]})
	}
	state.SaveBatches(w, rows)
	state.SaveBatches(w, keys)
}

// Load reads what Save wrote.
func (s *sorter) Load(r *checkpoint.Reader) error {
	s.open, s.going, s.ready = map[int64]*runs{}, nil, nil
	for range r.Count(3) {
		end := r.Int()
		s.open[end] = s.loadRuns(r)
	}
	s.ready = state.LoadBatches(r, s.cols)
	switch s.given = r.Int(); {
	case s.given >= 0: // a version that sorted a window whole when it closed
		return r.Err()
	case s.given == types.MinInstant:
		s.w, s.given = r.Int(), r.Int()
	default: // one that did not remember event time
		s.given = ^s.given
	}
	for range r.Count(2) {
		s.going = append(s.going, s.loadRuns(r))
	}
	return r.Err()
}

func (s *sorter) loadRuns(r *checkpoint.Reader) *runs {
	all := &runs{}
	rows, keys := state.LoadBatches(r, s.cols), state.LoadBatches(r, s.keys)
	for i, b := range rows {
		if r.Err() == nil && (len(rows) != len(keys) || b.N != keys[i].N) {
			r.Fail("rows and their keys are not as many")
		}
		if r.Err() != nil {
			return all
		}
		if b.N == 0 {
			continue
		}
		order := make([]uint32, b.N) // what is loaded may be damaged, or not sorted
		for k := range order {
			order[k] = uint32(k)
		}
		s.add(all, b.With(append(b.Cols[:len(b.Cols):len(b.Cols)], keys[i].Cols...)), order)
	}
	return all
}

// columnTypes returns the types of the columns of a schema.
func columnTypes(s types.Schema) []types.Type {
	ts := make([]types.Type, len(s.Fields))
	for i, f := range s.Fields {
		ts[i] = f.Type
	}
	return ts
}
