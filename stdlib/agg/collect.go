package agg

import (
	"cmp"
	"errors"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "collect", Group: "values", Signature: "collect(x[, limit: n]) -> [same]",
		Text: "The values that are not null as a list, in the order of event time (ties in the order of the source, else of arrival), at most the first n. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 3}, {a: nil}, {a: 1}]) |> aggregate all = collect(a), one = collect(a, limit: 1)`,
			Want: `{"all":[3,1],"one":[3]}`}}},
	AggSig: types.AggSig{Keeps: types.KeepsRows, Cap: "limit", Ordered: true, Params: []types.AggParam{{Name: "x"}, {Name: "limit", Kinds: ints, Constant: true, Optional: true}},
		Result: func(args []*types.Expr) (types.Type, error) {
			if _, err := limitOf(args); err != nil {
				return types.Type{}, err
			}
			return types.ListOf(args[0].Type.NotNull()).OrNull(args[0].Type.Nullable), nil
		}},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		limit, err := limitOf(call.Args)
		c := state.NewCell(call.Args[0].Type.NotNull())
		return &collect{limit: limit, cell: c, lists: state.NewLists(coValue + c.Words), t: call.Result}, err
	},
})

// limitOf returns the limit of a call, 0 for none.
func limitOf(args []*types.Expr) (int, error) {
	if len(args) < 2 || args[1] == nil || args[1].Value == nil {
		return 0, nil
	}
	n, ok := args[1].Value.(int64)
	if !ok || n < 1 || n > 1<<31-1 {
		return 0, errors.New("the limit must be a constant int above 0")
	}
	return int(n), nil
}

// mostElements is how many elements a list may have at all. One more is kept, so that the result fails; the others would only
// take memory until then.
const mostElements = vec.MaxValue / 8

// collect keeps the values of a group in a list, with event time and position.
type collect struct {
	limit int
	cell  state.Cell
	lists *state.Lists
	arena state.Arena
	t     types.Type
	flat  []uint64
	order []int
}

// Words of an entry.
const (
	coTime = iota
	coPos
	coValue
)

func (c *collect) Words() int { return state.ListWords }

func (c *collect) Add(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	for i, r := range rows {
		w := g.Words(i)
		if c.lists.Len(w) > mostElements {
			continue
		}
		e := c.lists.Append(w)
		t, p := in.Order(r)
		e[coTime], e[coPos] = uint64(t), p
		c.cell.Set(e[coValue:], &c.arena, in.Args[0], int(r))
		c.prune(w)
	}
}

// prune drops what the limit will never let through, once it is much.
func (c *collect) prune(w []uint64) {
	if c.limit == 0 || c.lists.Len(w) < 4*c.limit+64 {
		return
	}
	c.sorted(w)
	width := coValue + c.cell.Words
	c.lists.Free(w, nil)
	for k, at := range c.order {
		e := c.flat[at : at+width]
		if k < c.limit {
			copy(c.lists.Append(w), e)
		} else {
			c.cell.Free(e[coValue:], &c.arena)
		}
	}
}

// sorted fills flat with the entries of a list and order with where each begins, in order.
func (c *collect) sorted(w []uint64) {
	c.flat, c.order = c.flat[:0], c.order[:0]
	c.lists.Each(w, func(e []uint64) {
		c.order = append(c.order, len(c.flat))
		c.flat = append(c.flat, e...)
	})
	slices.SortStableFunc(c.order, func(x, y int) int {
		return cmp.Or(cmp.Compare(int64(c.flat[x]), int64(c.flat[y])), cmp.Compare(c.flat[x+1], c.flat[y+1]))
	})
}

func (c *collect) Merge(to, from spec.Groups) {
	width := coValue + c.cell.Words
	for i := range to.IDs {
		w := to.Words(i)
		c.flat = c.flat[:0]
		c.lists.Each(from.Words(i), func(e []uint64) { c.flat = append(c.flat, e...) })
		for at := 0; at < len(c.flat) && c.lists.Len(w) <= mostElements; at += width {
			e := c.lists.Append(w)
			f := c.flat[at : at+width]
			e[coTime], e[coPos] = f[coTime], f[coPos]
			c.cell.Move(e[coValue:], &c.arena, f[coValue:], &c.arena)
		}
		c.prune(w)
	}
}

func (c *collect) Result(g spec.Groups) *vec.Column {
	b := state.NewBuf(c.t)
	for i := range g.IDs {
		w := g.Words(i)
		if c.lists.Len(w) == 0 {
			b.Null()
			continue
		}
		c.sorted(w)
		if c.limit > 0 {
			c.order = c.order[:min(c.limit, len(c.order))]
		}
		elems := b.List(len(c.order))
		for _, at := range c.order {
			c.cell.AppendTo(elems, c.flat[at+coValue:], &c.arena)
		}
	}
	return b.Column()
}

func (c *collect) Free(g spec.Groups) {
	var drop func(e []uint64)
	if c.cell.Words > 1 {
		drop = func(e []uint64) { c.cell.Free(e[coValue:], &c.arena) }
	}
	for i := range g.IDs {
		c.lists.Free(g.Words(i), drop)
	}
}

func (c *collect) Save(w *checkpoint.Writer) {
	c.lists.Freeze(w)
	c.arena.Freeze(w)
}

func (c *collect) Load(r *checkpoint.Reader) error {
	c.lists.Load(r)
	return c.arena.Load(r)
}

func (c *collect) Adopt(g spec.Groups, other spec.Aggregate) {
	o := other.(*collect)
	for i := range g.IDs {
		c.lists.Adopt(g.Words(i), o.lists, func(e []uint64) { c.cell.Adopt(e[coValue:], &c.arena, &o.arena) })
	}
}
