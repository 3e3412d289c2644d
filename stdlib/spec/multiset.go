package spec

import (
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Multiset makes an aggregate that can take rows back of one that cannot: it keeps the rows of each group, with signed
// counts, and computes the result anew when asked. args are the types of the call's columns. It is for updating
// inputs only, where nothing less is right.
func Multiset(inner Aggregate, args []types.Type) Retractor {
	kept := append(append([]types.Type(nil), args...), types.T(types.Int), types.T(types.Int))
	return &multiset{inner: inner, sets: state.NewSets(kept), one: state.NewRows(inner.Words())}
}

type multiset struct {
	inner Aggregate
	sets  *state.Sets
	one   *state.Rows // the groups whose results are being computed
}

func (m *multiset) Words() int { return state.SetWords }

func (m *multiset) Add(g Groups, in *Input) { m.add(g, in, 1) }

// Retract takes rows back; one may come before the row that it takes back.
func (m *multiset) Retract(g Groups, in *Input) { m.add(g, in, -1) }

func (m *multiset) add(g Groups, in *Input, delta int64) {
	g, rows := in.NotNull(g)
	times, places := vec.New(types.T(types.Int), in.N), vec.New(types.T(types.Int), in.N)
	for _, r := range rows {
		t, p := in.Order(r)
		times.Ints[r], places.Ints[r] = t, int64(p)
	}
	cols := append(append([]*vec.Column(nil), in.Args...), times, places)
	m.sets.Add(g.Rows, g.Off, g.IDs, in.N, rows, cols, delta)
}

func (m *multiset) Merge(to, from Groups) {
	for i, id := range to.IDs {
		m.sets.Merge(to.Rows, to.Off, id, from.Rows, from.IDs[i])
	}
}

func (m *multiset) Result(g Groups) *vec.Column {
	m.one.Reset()
	all := Groups{Rows: m.one}
	var entries []uint32
	for i := range g.IDs {
		id := m.one.Add()
		all.IDs = append(all.IDs, id)
		entries = m.sets.Entries(g.Words(i), entries[:0])
		for len(entries) > 0 {
			part := entries[:min(len(entries), vec.MaxRows)]
			entries = entries[len(part):]
			m.fill(id, part)
		}
	}
	out := m.inner.Result(all)
	m.inner.Free(all)
	return out
}

// fill adds the entries, each as often as it counts, to a group of the inner aggregate.
func (m *multiset) fill(id uint32, entries []uint32) {
	cols := m.sets.Values(entries)
	k := len(cols) - 2
	in := &Input{N: len(entries), Args: cols[:k], Time: cols[k].Ints, Pos: make([]uint64, len(entries))}
	for i, p := range cols[k+1].Ints {
		in.Pos[i] = uint64(p)
	}
	var ids []uint32
	flush := func() {
		m.inner.Add(Groups{Rows: m.one, IDs: ids}, in)
		ids, in.Rows = ids[:0], in.Rows[:0]
	}
	for i, e := range entries {
		for range max(m.sets.Count(e), 0) {
			ids, in.Rows = append(ids, id), append(in.Rows, uint32(i))
			if len(ids) == vec.MaxRows {
				flush()
			}
		}
	}
	flush()
}

func (m *multiset) Free(g Groups) {
	for i := range g.IDs {
		m.sets.Free(g.Words(i))
	}
}
