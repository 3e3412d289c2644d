package conn

import "unsafe"

// digits reads values of one to sixteen digits, with or without a minus, times unit, as long as there are no others and
// none is more than most. Leading zeros are others, too, if strict. It returns how many it has read.
func (x *plainRun) digits(to []int64, from int, v between, unit int64, most uint64, strict bool) int {
	if !machine || len(to) == 0 {
		return x.digitsPortable(to, from, v, unit, most, strict)
	}
	k := x.signs[from*x.each : (from+len(to)-1)*x.each+v.to+1]
	return digitsMachine(&to[0], len(to), unsafe.SliceData(x.text), &k[v.from], &k[v.to], x.each, v.start, v.end, unit, most, strict)
}

// alike reports whether all records hold, at bytes before their sign of the number, the bytes of want where mask has ones.
func (x *plainRun) alike(sign, at int, want, mask *[slack]byte) bool {
	if !machine {
		return x.alikePortable(sign, at, want, mask)
	}
	k := x.signs[sign : (x.rows-1)*x.each+sign+1]
	return alikeMachine(unsafe.SliceData(x.text), &k[0], x.each, x.rows, at, want, mask)
}

// have reports whether the signs from the number on are want, which has some.
func (x *plainRun) have(sign int, want []byte) bool {
	if !machine {
		return x.havePortable(sign, want)
	}
	k := x.signs[sign : sign+len(want)]
	return haveMachine(unsafe.SliceData(x.text), &k[0], &want[0], len(want))
}

//go:noescape
func digitsMachine(to *int64, rows int, text *byte, from, upto *int32, each, start, end int, unit int64, most uint64, strict bool) int

//go:noescape
func alikeMachine(text *byte, places *int32, each, rows, at int, want, mask *[slack]byte) bool

//go:noescape
func haveMachine(text *byte, places *int32, want *byte, n int) bool
