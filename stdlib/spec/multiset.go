package spec

import (
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Multiset makes an aggregate that can take rows back of one that cannot: it keeps the rows of each group, with signed
// counts, and computes the result anew when asked. args are the types of the call's columns; ordered says that the
// aggregate asks for the order of rows, so that their event times and positions are kept, too. It is for updating inputs
// only, where nothing less is right.
func Multiset(inner Aggregate, args []types.Type, ordered bool) Retractor {
	kept := append([]types.Type(nil), args...)
	if ordered {
		kept = append(kept, types.T(types.Int), types.T(types.Int))
	}
	return &multiset{inner: inner, args: len(args), ordered: ordered, sets: state.NewSets(kept, true), one: state.NewRows(inner.Words())}
}

type multiset struct {
	inner   Aggregate
	args    int
	ordered bool
	sets    *state.Sets
	one     *state.Rows // the groups whose results are being computed
}

func (m *multiset) Words() int { return state.SetWords }

func (m *multiset) Add(g Groups, in *Input) { m.add(g, in, 1) }

// Retract takes rows back; one may come before the row that it takes back.
func (m *multiset) Retract(g Groups, in *Input) { m.add(g, in, -1) }

func (m *multiset) add(g Groups, in *Input, delta int64) {
	g, rows := in.NotNull(g)
	cols := in.Args
	if m.ordered {
		times, places := vec.New(types.T(types.Int), in.N), vec.New(types.T(types.Int), in.N)
		for _, r := range rows {
			t, p := in.Order(r)
			times.Ints[r], places.Ints[r] = t, int64(p)
		}
		cols = append(append([]*vec.Column(nil), in.Args...), times, places)
	}
	m.sets.Add(g.Rows, g.Off, g.IDs, in.N, rows, cols, delta)
}

func (m *multiset) Merge(to, from Groups) {
	for i := range to.IDs {
		m.sets.Merge(to.Words(i), from.Words(i))
	}
}

func (m *multiset) Result(g Groups) *vec.Column {
	m.one.Reset()
	all := Groups{Rows: m.one}
	var entries []uint64
	var counts []int64
	for i := range g.IDs {
		id := m.one.Add()
		all.IDs = append(all.IDs, id)
		for again := true; again; {
			entries, counts = m.sets.Entries(g.Words(i), entries[:0]), m.sets.Counts(g.Words(i), counts[:0])
			again = m.ordered && m.settle(g, i, entries, counts)
		}
		for from := 0; from < len(entries); from += vec.MaxRows {
			to := min(from+vec.MaxRows, len(entries))
			m.fill(id, entries[from:to], counts[from:to])
		}
	}
	out := m.inner.Result(all)
	m.inner.Free(all)
	return out
}

// settle sets what was taken back against what was given, of the i-th group. A row that takes another one back may have
// been read elsewhere (a source of changes): it takes back the first that is equal in all but the position. It reports
// whether it changed entries.
func (m *multiset) settle(g Groups, i int, entries []uint64, counts []int64) bool {
	if !slices.ContainsFunc(counts, func(n int64) bool { return n < 0 }) {
		return false
	}
	cols := m.sets.Values(entries)
	order := make([]uint32, len(entries))
	for k := range order {
		order[k] = uint32(k)
	}
	compare := func(a, b uint32, n int) int {
		for _, c := range cols[:n] {
			if o := vec.Compare(c, int(a), c, int(b)); o != 0 {
				return o
			}
		}
		return 0
	}
	slices.SortFunc(order, func(a, b uint32) int { return compare(a, b, len(cols)) })
	left := make([]int64, len(order))
	for k, at := range order {
		left[k] = counts[at]
	}
	var cut, add []uint32 // rows of cols to take from and to give to, as often as they stand here
	for from, to := 0, 0; from < len(order); from = to {
		for to = from; to < len(order) && compare(order[from], order[to], len(cols)-1) == 0; to++ {
		}
		given := from
		for taken := from; taken < to; taken++ {
			for left[taken] < 0 {
				for given < to && left[given] <= 0 {
					given++
				}
				if given == to {
					break // the row itself is still to come
				}
				left[taken]++
				left[given]--
				cut, add = append(cut, order[given]), append(add, order[taken])
			}
		}
	}
	g.Rows.Touch(g.IDs[i])
	owners := make([]uint32, len(cut))
	for k := range owners {
		owners[k] = g.IDs[i]
	}
	m.sets.Add(g.Rows, g.Off, owners, len(entries), cut, cols, -1)
	m.sets.Add(g.Rows, g.Off, owners, len(entries), add, cols, 1)
	return len(cut) > 0
}

// fill adds the entries, each as often as it counts, to a group of the inner aggregate.
func (m *multiset) fill(id uint32, entries []uint64, counts []int64) {
	cols := m.sets.Values(entries)
	in := &Input{N: len(entries), Args: cols[:m.args]}
	if m.ordered {
		in.Time, in.Pos = cols[m.args].Ints, make([]uint64, len(entries))
		for i, p := range cols[m.args+1].Ints {
			in.Pos[i] = uint64(p)
		}
	}
	var ids []uint32
	flush := func() {
		m.inner.Add(Groups{Rows: m.one, IDs: ids}, in)
		ids, in.Rows = ids[:0], in.Rows[:0]
	}
	for i, n := range counts {
		for range max(n, 0) {
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

// Save writes the rows of all groups. What the inner aggregate keeps is only there while results are made.
func (m *multiset) Save(w *checkpoint.Writer) { m.sets.Freeze(w) }

func (m *multiset) Load(r *checkpoint.Reader) error { return m.sets.Load(r) }

func (m *multiset) Adopt(g Groups, other Aggregate) {
	for i := range g.IDs {
		m.sets.Adopt(g.Words(i), other.(*multiset).sets)
	}
}
