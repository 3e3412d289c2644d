package eval

import (
	"math/bits"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
)

// noRow ends a selection that is merged with another.
const noRow = ^uint32(0)

// asBytes views bools as bytes of 0 and 1, for loops without branches.
func asBytes(b []bool) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// trueRows appends the rows of sel that are true and valid to out[:0].
func trueRows(b []bool, valid vec.Bitmap, sel, out []uint32) []uint32 {
	v := asBytes(b)
	k := 0
	if sel == nil {
		out = out[:len(v)]
		for i, x := range v {
			out[k] = uint32(i)
			k += int(x)
		}
	} else {
		out = out[:len(sel)]
		for _, i := range sel {
			out[k] = i
			k += int(v[i])
		}
	}
	return validRows(valid, out[:k], out)
}

// validRows appends the rows of sel (not nil) that are valid to out[:0].
func validRows(valid vec.Bitmap, sel, out []uint32) []uint32 {
	out = out[:len(sel)]
	if valid == nil {
		if len(sel) > 0 && &out[0] != &sel[0] {
			copy(out, sel)
		}
		return out
	}
	k := 0
	for _, i := range sel {
		out[k] = i
		k += int(valid[i>>6] >> (i & 63) & 1)
	}
	return out[:k]
}

// nullRows appends the rows of sel (not nil) that are not valid to out[:0].
func nullRows(valid vec.Bitmap, sel, out []uint32) []uint32 {
	if valid == nil {
		return out[:0]
	}
	out = out[:len(sel)]
	k := 0
	for _, i := range sel {
		out[k] = i
		k += int(^valid[i>>6] >> (i & 63) & 1)
	}
	return out[:k]
}

// without removes the rows of drop, a subset, from sel, in place. drop has room for one more element.
func without(sel, drop []uint32) []uint32 {
	if len(drop) == 0 {
		return sel
	}
	if len(drop) == len(sel) {
		return sel[:0]
	}
	drop = append(drop, noRow)
	j, k := 0, 0
	for _, i := range sel {
		same := int(truth(drop[j] == i))
		sel[k] = i
		j += same
		k += 1 - same
	}
	return sel[:k]
}

// merge appends the rows of two disjoint selections, in order, to out[:0]. Both have room for one more element.
func merge(a, b, out []uint32) []uint32 {
	n := len(a) + len(b)
	a, b = append(a, noRow), append(b, noRow)
	out = out[:n]
	i, j := 0, 0
	for k := range out {
		x, y := a[i], b[j]
		first := int(truth(x < y))
		out[k] = min(x, y)
		i += first
		j += 1 - first
	}
	return out
}

// setBits makes b the bitmap of the bytes, 0 or 1.
func setBits(v []uint8, b vec.Bitmap) {
	for w := range b {
		var word uint64
		part := v[w*64:]
		for i, x := range part[:min(64, len(part))] {
			word |= uint64(x) << uint(i)
		}
		b[w] = word
	}
}

// clearInvalid zeroes the bytes of rows that are not valid.
func clearInvalid(v []uint8, valid vec.Bitmap) {
	eachNull(valid, len(v), func(i int) { v[i] = 0 })
}

// eachNull calls f for each of the rows 0 to n-1 that is not valid.
func eachNull(valid vec.Bitmap, n int, f func(i int)) {
	for w, word := range valid {
		for word = ^word; word != 0; word &= word - 1 {
			i := w*64 + bits.TrailingZeros64(word)
			if i >= n {
				return
			}
			f(i)
		}
	}
}

// allValid reports whether the rows of sel (nil: all n) are valid.
func allValid(valid vec.Bitmap, sel []uint32, n int) bool {
	if valid == nil {
		return true
	}
	if sel != nil {
		var nulls uint64
		for _, i := range sel {
			nulls |= ^valid[i>>6] >> (i & 63) & 1
		}
		return nulls == 0
	}
	for _, w := range valid[:n/64] {
		if w != ^uint64(0) {
			return false
		}
	}
	rest := uint64(1)<<(uint(n)&63) - 1
	return rest == 0 || valid[n/64]&rest == rest
}
