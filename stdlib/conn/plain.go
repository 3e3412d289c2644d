package conn

import (
	"encoding/binary"
	"unsafe"
)

// Plain records, those whose signs follow one pattern, are read some at a time: where their signs are is listed first,
// and then each column is read for all of them, in a loop that knows its type. What one value costs does not wait for the
// value before it, and branches are foreseen.

// plainRows is how many plain records are read at a time at most: their text stays in the nearest cache.
const plainRows = 32

// plainRun are plain records, one behind the other.
type plainRun struct {
	text  []byte  // with slack behind it
	signs []int32 // of all records; the first is what stands before them
	each  int     // signs of a record; the last is its line end
	rows  int
}

// start returns where record r starts.
func (x *plainRun) start(r int) int { return int(x.signs[r*x.each]) + 1 }

// between says where a value of a record lies: so many bytes behind two of its signs. The sign before a record is its 0th.
type between struct{ from, start, to, end int }

// at returns where the value of record r lies.
func (x *plainRun) at(r int, v between) (p, end int) {
	k := r * x.each
	return int(x.signs[k+v.from]) + v.start, int(x.signs[k+v.to]) + v.end
}

// texts makes strings of the values; empty tells that some have no bytes.
func (x *plainRun) texts(to []string, v between) (empty bool) {
	b := x.text
	for r := range to {
		if p, end := x.at(r, v); end > p {
			to[r] = unsafe.String(&b[p], end-p)
		} else {
			to[r], empty = "", true
		}
	}
	return empty
}

// digitsPortable is digits in Go.
func (x *plainRun) digitsPortable(to []int64, from int, v between, unit int64, most uint64, strict bool) int {
	b, signs, each := x.text, x.signs, x.each
	i, j, start, stop := from*each+v.from, from*each+v.to, v.start, v.end
	for r := range to {
		p, end := int(signs[i])+start, int(signs[j])+stop
		neg := 0
		if b[p] == '-' {
			neg = 1
		}
		p += neg
		// Up to eight digits are one word, up to sixteen two.
		w := wordAt(b, p) ^ '0'*lowBits
		n := uint(end - p)
		high := uint64(0)
		if strict && w&0xff == 0 && n > 1 {
			return r
		}
		if n > 8 {
			if n > 16 {
				return r
			}
			w <<= (128 - 8*n) & 63
			if (w+0x76*lowBits|w)&highBits != 0 {
				return r
			}
			high = foldDigits(w) * 1e8
			w = wordAt(b, end-8) ^ '0'*lowBits
		} else {
			if n == 0 {
				return r
			}
			w <<= (64 - 8*n) & 63
		}
		u := high + foldDigits(w)
		if (w+0x76*lowBits|w)&highBits != 0 || u > most {
			return r
		}
		to[r] = (int64(u)*unit ^ -int64(neg)) + int64(neg)
		i += each
		j += each
	}
	return len(to)
}

// alikePortable is alike in Go.
func (x *plainRun) alikePortable(sign, at int, want, mask *[slack]byte) bool {
	odd := uint64(0)
	for k := 0; k < slack && mask[k] != 0; k += 8 {
		w, m := wordAt(want[:], k), wordAt(mask[:], k)
		b, next := x.text[:len(x.text)+slack], sign
		for range x.rows {
			odd |= (wordAt(b, int(x.signs[next])-at+k) ^ w) & m
			next += x.each
		}
	}
	return odd == 0
}

// havePortable is have in Go.
func (x *plainRun) havePortable(sign int, want []byte) bool {
	odd := byte(0)
	for i, p := range x.signs[sign : sign+len(want)] {
		odd |= x.text[p] ^ want[i]
	}
	return odd == 0
}

// wordAt returns the eight bytes at p of a text with slack.
func wordAt(text []byte, p int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Pointer(&text[p]))[:])
}

// plainTries is how many plain records are tried at a time: one where they were found not to be plain after all, and ever
// more behind it.
type plainTries int

func (n *plainTries) most() int { return int(*n) + 1 }

func (n *plainTries) done(all bool) {
	if *n = min(2**n+1, plainRows-1); !all {
		*n = 0
	}
}
