package agg

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// extreme keeps the largest (sign 1) or smallest (sign -1) value: a word that says that there is one, and a cell.
type extreme struct {
	sign  int
	cell  state.Cell
	arena state.Arena
	t     types.Type
}

func newExtreme(call *types.AggCall, sign int) spec.Aggregate {
	e := &extreme{sign: sign, cell: state.NewCell(call.Args[0].Type.NotNull()), t: call.Result}
	switch call.Args[0].Type.Kind {
	case types.Int, types.Time, types.Duration:
		return &intExtreme{extreme: e}
	}
	return e
}

func (e *extreme) Words() int { return 1 + e.cell.Words }

func (e *extreme) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	col := in.Args[0]
	for i, r := range sel {
		w := g.Words(i)
		if w[0] != 0 && e.cell.Compare(w[1:], &e.arena, col, int(r))*e.sign >= 0 {
			continue
		}
		if w[0] != 0 {
			e.cell.Free(w[1:], &e.arena)
		}
		w[0] = 1
		e.cell.Set(w[1:], &e.arena, col, int(r))
	}
}

func (e *extreme) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		w, f := to.Words(i), from.Words(i)
		if f[0] == 0 || w[0] != 0 && e.cell.CompareCells(w[1:], &e.arena, f[1:], &e.arena)*e.sign >= 0 {
			continue
		}
		if w[0] != 0 {
			e.cell.Free(w[1:], &e.arena)
		}
		w[0] = 1
		e.cell.Move(w[1:], &e.arena, f[1:], &e.arena)
	}
}

func (e *extreme) Result(g spec.Groups) *vec.Column { return cellColumn(e.t, &e.cell, &e.arena, g, 1) }

// cellColumn returns the cells at word at of the groups, null where the first word is zero.
func cellColumn(t types.Type, cell *state.Cell, a *state.Arena, g spec.Groups, at int) *vec.Column {
	b := state.NewBuf(t)
	for i := range g.IDs {
		if w := g.Words(i); w[0] != 0 {
			cell.AppendTo(b, w[at:], a)
		} else {
			b.Null()
		}
	}
	return b.Column()
}

func (e *extreme) Free(g spec.Groups) {
	if e.cell.Words == 1 {
		return
	}
	for i := range g.IDs {
		if w := g.Words(i); w[0] != 0 {
			e.cell.Free(w[1:], &e.arena)
			w[0] = 0
		}
	}
}

func (e *extreme) PartialTypes() []types.Type { return []types.Type{e.cell.Type.Null()} }

func (e *extreme) Partial(g spec.Groups) []*vec.Column {
	return []*vec.Column{cellColumn(e.cell.Type.Null(), &e.cell, &e.arena, g, 1)}
}

func (e *extreme) AddPartial(g spec.Groups, in *spec.Input) { e.Add(g, in) }

// intExtreme is an extreme over ints, times or durations.
type intExtreme struct{ *extreme }

func (e *intExtreme) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v, rows, off := in.Args[0].Ints, g.Rows, g.Off
	if e.sign > 0 {
		for i, id := range g.IDs {
			w := rows.At(id)[off : off+2]
			if x := v[sel[i]]; x > int64(w[1]) || w[0] == 0 {
				w[0], w[1] = 1, uint64(x)
			}
		}
		return
	}
	for i, id := range g.IDs {
		w := rows.At(id)[off : off+2]
		if x := v[sel[i]]; x < int64(w[1]) || w[0] == 0 {
			w[0], w[1] = 1, uint64(x)
		}
	}
}

func (e *intExtreme) Result(g spec.Groups) *vec.Column { return e.column(e.t, g) }

func (e *intExtreme) Partial(g spec.Groups) []*vec.Column {
	return []*vec.Column{e.column(e.cell.Type.Null(), g)}
}

// KeepsNothing tells that groups need no Free.
func (e *intExtreme) KeepsNothing() {}

func (e *intExtreme) column(t types.Type, g spec.Groups) *vec.Column {
	return vecOf(t, g, func(w []uint64) bool { return w[0] != 0 }, func(c *vec.Column, i int, w []uint64) { c.Ints[i] = int64(w[1]) })
}

func (e *intExtreme) AddPartial(g spec.Groups, in *spec.Input) { e.Add(g, in) }

func (e *extreme) Save(w *checkpoint.Writer) { e.arena.Freeze(w) }

func (e *extreme) Load(r *checkpoint.Reader) error { return e.arena.Load(r) }

func (e *extreme) Adopt(g spec.Groups, other spec.Aggregate) {
	if e.cell.Words == 1 {
		return
	}
	for i := range g.IDs {
		if w := g.Words(i); w[0] != 0 {
			e.cell.Adopt(w[1:], &e.arena, &other.(*extreme).arena)
		}
	}
}
