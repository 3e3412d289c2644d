package agg

import (
	"encoding/binary"
	"math"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "approx_quantile", Group: "numbers", Signature: "approx_quantile(x: float | duration, p: float) -> float | duration",
		Text: "About `quantile(x, p)`: a value within 1 % of one that stands at that place, in little memory. The result does not depend on the order of the rows. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 100}, {a: 200}, {a: 400}]) |> aggregate ok = abs(approx_quantile(a, 0.5) - 200) <= 2`,
			Want: `{"ok":true}`}}},
	AggSig: types.AggSig{Params: quantileParams, Result: quantileType},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		p, err := part(call.Args[1])
		if err != nil {
			return nil, err
		}
		m, err := mapping.NewLogarithmicMapping(0.01)
		if err != nil {
			return nil, err
		}
		return &approxQuantile{p: p, mapping: m, t: call.Result}, nil
	},
})

// sketch is a quantile sketch, whose bins never merge, and the values that it cannot hold.
type sketch struct {
	dd            *ddsketch.DDSketch
	neg, pos, nan uint64 // below and above what the sketch takes, and NaN
}

// approxQuantile keeps sketches outside of the rows: one word, a handle.
type approxQuantile struct {
	p       float64
	mapping mapping.IndexMapping
	held    handles[sketch]
	t       types.Type
}

func (a *approxQuantile) Words() int { return 1 }

func (a *approxQuantile) at(w *uint64) *sketch {
	s := a.held.at(w)
	if s.dd == nil {
		s.dd = ddsketch.NewDDSketchFromStoreProvider(a.mapping, store.BufferedPaginatedStoreConstructor)
	}
	return s
}

func (a *approxQuantile) Add(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	col := in.Args[0]
	for i, r := range rows {
		var v float64
		if col.Ints != nil {
			v = float64(col.Ints[r])
		} else {
			v = col.Floats[r]
		}
		s := a.at(&g.Words(i)[0])
		if s.dd.Add(v) == nil {
			continue
		}
		switch {
		case v != v:
			s.nan++
		case v < 0:
			s.neg++
		default:
			s.pos++
		}
	}
}

func (s *sketch) merge(o *sketch) {
	must(s.dd.MergeWith(o.dd))
	s.neg += o.neg
	s.pos += o.pos
	s.nan += o.nan
}

func (a *approxQuantile) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		if f := from.Words(i)[0]; f != 0 {
			a.at(&to.Words(i)[0]).merge(a.held.get(f))
		}
	}
}

// value returns the value at the place p of -Inf, what the sketch holds, +Inf and NaN in a row.
func (a *approxQuantile) value(s *sketch) float64 {
	in := s.dd.GetCount()
	at := a.p*(float64(s.neg+s.pos+s.nan)+in-1) - float64(s.neg)
	switch {
	case at < 0:
		return math.Inf(-1)
	case at <= in-1 || at < in && s.pos+s.nan == 0:
		v, err := s.dd.GetValueAtQuantile(min(max(at/max(in-1, 1), 0), 1))
		must(err)
		return v
	case at <= in-1+float64(s.pos):
		return math.Inf(1)
	}
	return math.NaN()
}

func (a *approxQuantile) Result(g spec.Groups) *vec.Column {
	return vecOf(a.t, g, func(w []uint64) bool { return w[0] != 0 }, func(c *vec.Column, i int, w []uint64) {
		v := a.value(a.held.get(w[0]))
		if c.Floats != nil {
			c.Floats[i] = v
		} else {
			c.Ints[i] = int64(v)
		}
	})
}

func (a *approxQuantile) Free(g spec.Groups) { a.held.freeAll(g) }

func (a *approxQuantile) PartialTypes() []types.Type {
	return []types.Type{types.T(types.Bytes).Null()}
}

func (a *approxQuantile) Partial(g spec.Groups) []*vec.Column {
	return []*vec.Column{a.held.column(g, func(s *sketch, p []byte) []byte {
		for _, n := range []uint64{s.neg, s.pos, s.nan} {
			p = binary.LittleEndian.AppendUint64(p, n)
		}
		s.dd.Encode(&p, true)
		return p
	})}
}

func (a *approxQuantile) AddPartial(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	for i, r := range rows {
		p := []byte(in.Args[0].Strs[r])
		dd, err := ddsketch.DecodeDDSketch(p[24:], store.BufferedPaginatedStoreConstructor, a.mapping)
		must(err)
		a.at(&g.Words(i)[0]).merge(&sketch{dd: dd, neg: binary.LittleEndian.Uint64(p), pos: binary.LittleEndian.Uint64(p[8:]), nan: binary.LittleEndian.Uint64(p[16:])})
	}
}

func (a *approxQuantile) Save(w *checkpoint.Writer) {
	a.held.save(w, func(s *sketch, w *checkpoint.Writer) {
		for _, n := range []uint64{s.neg, s.pos, s.nan} {
			w.Uint(n)
		}
		w.Float(s.dd.GetZeroCount())
		for _, bins := range []store.Store{s.dd.GetPositiveValueStore(), s.dd.GetNegativeValueStore()} {
			n := 0
			bins.ForEach(func(int, float64) bool { n++; return false })
			w.Uint(uint64(n))
			bins.ForEach(func(i int, count float64) bool {
				w.Int(int64(i))
				w.Float(count)
				return false
			})
		}
	})
}

func (a *approxQuantile) Load(r *checkpoint.Reader) error {
	most := int64(a.mapping.Index(math.MaxFloat64)) + 1 // bins that there can be, on either side
	count := func() float64 {
		n := r.Float()
		if !(n >= 0 && n <= math.MaxInt64) {
			r.Fail("a count that cannot be")
			return 0
		}
		return n
	}
	return a.held.load(r, func(s *sketch, r *checkpoint.Reader) {
		s.neg, s.pos, s.nan = r.Uint(), r.Uint(), r.Uint()
		s.dd = ddsketch.NewDDSketchFromStoreProvider(a.mapping, store.BufferedPaginatedStoreConstructor)
		if n := count(); n > 0 {
			must(s.dd.AddWithCount(0, n))
		}
		for _, bins := range []store.Store{s.dd.GetPositiveValueStore(), s.dd.GetNegativeValueStore()} {
			for range r.Count(9) {
				i, n := r.Int(), count()
				if i < -most || i > most {
					r.Fail("a bin that cannot be")
				}
				if r.Err() != nil {
					return
				}
				bins.AddWithCount(int(i), n)
			}
		}
	})
}

func (a *approxQuantile) Adopt(g spec.Groups, other spec.Aggregate) {
	a.held.adopt(g, &other.(*approxQuantile).held, func(s *sketch) *sketch {
		own := *s
		own.dd = s.dd.Copy()
		return &own
	})
}
