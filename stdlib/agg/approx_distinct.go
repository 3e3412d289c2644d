package agg

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/axiomhq/hyperloglog"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "approx_distinct", Group: "counting", Signature: "approx_distinct(x) -> int",
		Text: "About how many distinct values there are that are not null: exact up to a thousand, then within about 2 %, in 16 KiB a group. The result does not depend on the order of the rows. Over nothing it is 0.",
		Examples: []spec.Example{{
			Code: `rows([{a: "x"}, {a: "y"}, {a: "x"}]) |> aggregate n = approx_distinct(a)`,
			Want: `{"n":2}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x"}}, Result: always(types.T(types.Int)), Counts: true},
	New:    func(*types.AggCall) (spec.Aggregate, error) { return &approxDistinct{}, nil },
})

// exactHashes is up to how many distinct hashes a hashes keeps them all. That it depends on nothing but the set of
// values is what makes the result independent of the order of adding and merging: the library's own sparse form
// switches at a size that depends on it.
const exactHashes = 1024

// hashes is a set of hashes: all of them while they are few, else a sketch.
type hashes struct {
	few    []uint64
	sorted int // few[:sorted] is sorted and without duplicates
	sketch *hyperloglog.Sketch
}

func (h *hashes) add(x uint64) {
	if h.sketch != nil {
		h.sketch.InsertHash(x)
		return
	}
	if h.few = append(h.few, x); len(h.few) >= 2*exactHashes {
		h.tidy()
	}
}

func (h *hashes) tidy() {
	if h.sorted < len(h.few) {
		slices.Sort(h.few)
		h.few = slices.Compact(h.few)
		h.sorted = len(h.few)
	}
	if len(h.few) > exactHashes {
		h.sketch = hyperloglog.NewNoSparse()
		for _, x := range h.few {
			h.sketch.InsertHash(x)
		}
		h.few, h.sorted = nil, 0
	}
}

func (h *hashes) merge(o *hashes) error {
	if o.sketch == nil {
		for _, x := range o.few {
			h.add(x)
		}
		return nil
	}
	if h.sketch == nil {
		few := h.few
		h.few, h.sorted = nil, 0
		h.sketch = hyperloglog.NewNoSparse()
		for _, x := range few {
			h.sketch.InsertHash(x)
		}
	}
	return h.sketch.Merge(o.sketch)
}

func (h *hashes) count() int64 {
	if h.sketch == nil {
		h.tidy()
	}
	if h.sketch != nil {
		return int64(h.sketch.Estimate())
	}
	return int64(len(h.few))
}

// encode appends a first byte that says which form follows.
func (h *hashes) encode(p []byte) []byte {
	if h.sketch == nil {
		h.tidy()
	}
	if h.sketch != nil {
		q, err := h.sketch.AppendBinary(append(p, 1))
		if err != nil {
			panic(err) // a sketch of a valid precision can be written
		}
		return q
	}
	p = append(p, 0)
	for _, x := range h.few {
		p = binary.LittleEndian.AppendUint64(p, x)
	}
	return p
}

func (h *hashes) decode(s string) error {
	if s == "" {
		return errors.New("an empty set of hashes")
	}
	if s[0] == 0 {
		for p := []byte(s[1:]); len(p) >= 8; p = p[8:] {
			h.few = append(h.few, binary.LittleEndian.Uint64(p))
		}
		return nil
	}
	h.sketch = new(hyperloglog.Sketch)
	return h.sketch.UnmarshalBinary([]byte(s[1:]))
}

// approxDistinct keeps hashes outside of the rows: one word, a handle.
type approxDistinct struct {
	held handles[hashes]
	buf  []uint64
}

func (a *approxDistinct) Words() int { return 1 }

func (a *approxDistinct) Add(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	if len(rows) == 0 {
		return
	}
	if cap(a.buf) < len(rows) {
		a.buf = make([]uint64, len(rows))
	}
	hs := a.buf[:len(rows)]
	vec.Hash(&vec.Batch{N: in.N, Sel: rows}, in.Args, hs)
	for i, x := range hs {
		a.held.at(&g.Words(i)[0]).add(scatter(x))
	}
}

// scatter makes a hash random enough to be counted by: those of neighbouring ints are spread too evenly.
func scatter(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (a *approxDistinct) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		if f := from.Words(i)[0]; f != 0 {
			must(a.held.at(&to.Words(i)[0]).merge(a.held.get(f)))
		}
	}
}

func (a *approxDistinct) Result(g spec.Groups) *vec.Column {
	out := vec.New(types.T(types.Int), len(g.IDs))
	for i := range g.IDs {
		if w := g.Words(i)[0]; w != 0 {
			out.Ints[i] = a.held.get(w).count()
		}
	}
	return out
}

func (a *approxDistinct) Free(g spec.Groups) { a.held.freeAll(g) }

func (a *approxDistinct) PartialTypes() []types.Type {
	return []types.Type{types.T(types.Bytes).Null()}
}

func (a *approxDistinct) Partial(g spec.Groups) []*vec.Column {
	return []*vec.Column{a.held.column(g, (*hashes).encode)}
}

func (a *approxDistinct) AddPartial(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	for i, r := range rows {
		var h hashes
		must(h.decode(in.Args[0].Strs[r]))
		must(a.held.at(&g.Words(i)[0]).merge(&h))
	}
}

func (a *approxDistinct) Save(w *checkpoint.Writer) {
	a.held.save(w, func(h *hashes, w *checkpoint.Writer) { w.Bytes(h.encode(nil)) })
}

func (a *approxDistinct) Load(r *checkpoint.Reader) error {
	return a.held.load(r, func(h *hashes, r *checkpoint.Reader) {
		if err := h.decode(r.String()); err != nil {
			r.Fail("%w", err)
		}
	})
}

func (a *approxDistinct) Adopt(g spec.Groups, other spec.Aggregate) {
	a.held.adopt(g, &other.(*approxDistinct).held, func(h *hashes) *hashes {
		var own hashes
		must(own.merge(h))
		return &own
	})
}
