package conn

import (
	"math"
	"math/bits"
)

// Random numbers that are a function of a seed and a row's number.

const (
	rowSalt    = 0x9e3779b97f4a7c15
	nullSalt   = 0xd1b54a32d192ed03
	secondSalt = 0x8cb92ba72f3d8dd7
)

// mix64 is the finaliser of splitmix64.
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw returns 64 random bits of a row.
func draw(seed uint64, row int64) uint64 { return mix64(seed + uint64(row)*rowSalt) }

// draws is a run of random numbers of one row: splitmix64.
type draws struct{ state uint64 }

func (d *draws) next() uint64 {
	d.state += rowSalt
	return mix64(d.state)
}

// within turns 64 random bits into a number below n; its bias is at most n in 2^64.
func within(bits64, n uint64) uint64 {
	hi, _ := bits.Mul64(bits64, n)
	return hi
}

// unit turns 64 random bits into a float from 0 to below 1.
func unit(bits64 uint64) float64 { return float64(bits64>>11) * (1.0 / (1 << 53)) }

// share returns p of 2^64.
func share(p float64) uint64 {
	if p >= 1 {
		return math.MaxUint64
	}
	return uint64(p * (1 << 64))
}

// genClock gives rows their event time.
type genClock struct {
	start, step    int64
	disorder       int64  // a row may be so much behind the one before it
	late           uint64 // share of rows that are later still, of 2^64
	lateBy         int64
	seed, lateSeed uint64
}

// at returns the event time of a row.
func (k *genClock) at(row int64) int64 {
	t := k.start + row*k.step
	if k.disorder > 0 {
		t -= int64(within(draw(k.seed, row), uint64(k.disorder)+1))
	}
	if k.late > 0 && draw(k.lateSeed, row) < k.late {
		t -= k.disorder + 1 + int64(within(draw(k.lateSeed^secondSalt, row), uint64(k.lateBy)))
	}
	return t
}
