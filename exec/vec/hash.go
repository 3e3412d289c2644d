package vec

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/zeebo/xxh3"
)

const nullHash = 0x9e3779b97f4a7c15

// mix folds the 128-bit product of two words: the finaliser of wyhash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// HashInt is the hash of one int key, as Hash gives it for a single Int column.
func HashInt(v int64) uint64 { return mix(uint64(v)^0xa0761d6478bd642f, 0xe7037ed1a0b428db) }

// Hash fills out[i] with the hash of the i-th selected row over the columns. The hash of a value depends only on the
// value: it is the same in every process and at every parallelism, and part of the checkpoint format.
func Hash(b *Batch, cols []*Column, out []uint64) {
	n := b.Rows()
	out = out[:n]
	if len(cols) == 0 {
		clear(out)
		return
	}
	for k, c := range cols {
		if c.Valid == nil && (c.Type.Kind == types.Int || c.Type.Kind == types.Time || c.Type.Kind == types.Duration) {
			hashInts(b.Sel, c.Ints, out, k == 0)
			continue
		}
		if c.Valid == nil && (c.Type.Kind == types.String || c.Type.Kind == types.Bytes) {
			hashTexts(b, c.Strs, out, k == 0)
			continue
		}
		for i := range out {
			h := c.HashRow(b.Row(i))
			if k > 0 {
				h = mix(out[i]^h, 0x8ebc6af09c88c6e3)
			}
			out[i] = h
		}
	}
}

func hashInts(sel []uint32, v []int64, out []uint64, first bool) {
	switch {
	case sel == nil && first:
		for i := range out {
			out[i] = HashInt(v[i])
		}
	case first:
		for i, r := range sel {
			out[i] = HashInt(v[r])
		}
	case sel == nil:
		for i := range out {
			out[i] = mix(out[i]^HashInt(v[i]), 0x8ebc6af09c88c6e3)
		}
	default:
		for i, r := range sel {
			out[i] = mix(out[i]^HashInt(v[r]), 0x8ebc6af09c88c6e3)
		}
	}
}

// hashTexts looks for texts that are the one of the row before, in the same memory: those of a function of few values are.
func hashTexts(b *Batch, v []string, out []uint64, first bool) {
	last, of := "", xxh3.HashString("")
	for i := range out {
		s := v[b.Row(i)]
		if len(s) != len(last) || unsafe.StringData(s) != unsafe.StringData(last) {
			last, of = s, xxh3.HashString(s)
		}
		if out[i] = mix(out[i]^of, 0x8ebc6af09c88c6e3); first {
			out[i] = of
		}
	}
}

// HashRow returns the hash of row i.
func (c *Column) HashRow(i int) uint64 {
	if c.Null(i) {
		return nullHash
	}
	switch c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		return HashInt(c.Ints[i])
	case types.Float:
		f := c.Floats[i]
		if f == 0 {
			f = 0 // -0 groups with 0
		}
		if math.IsNaN(f) {
			f = math.NaN()
		}
		return HashInt(int64(math.Float64bits(f)))
	case types.Bool:
		return HashInt(int64(boolInt(c.Bools[i])))
	case types.String, types.Bytes, types.Any:
		return xxh3.HashString(c.Strs[i])
	case types.List:
		h := uint64(c.Offs[i+1] - c.Offs[i])
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			h = mix(h^c.Kids[0].HashRow(int(j)), 0x8ebc6af09c88c6e3)
		}
		return h
	case types.Record:
		h := uint64(len(c.Kids))
		for _, k := range c.Kids {
			h = mix(h^k.HashRow(i), 0x8ebc6af09c88c6e3)
		}
		return h
	}
	return nullHash
}
