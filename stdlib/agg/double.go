package agg

import "math"

// double is a number of twice the precision: hi is the nearest float64, lo what is missing. Sums in it lose nothing that
// shows, so that what was added can be taken away again.
type double struct{ hi, lo float64 }

// doubleOf returns a+b, exactly.
func doubleOf(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// square returns x*x, exactly.
func square(x float64) double {
	p := x * x
	return double{p, math.FMA(x, x, -p)}
}

func (x double) plus(y double) double {
	s := doubleOf(x.hi, y.hi)
	t := doubleOf(x.lo, y.lo)
	s = doubleOf(s.hi, s.lo+t.hi)
	return doubleOf(s.hi, s.lo+t.lo)
}

func (x double) minus(y double) double { return x.plus(double{-y.hi, -y.lo}) }

func (x double) squared() double {
	p := square(x.hi)
	return doubleOf(p.hi, p.lo+2*x.hi*x.lo)
}

// by returns x divided by n.
func (x double) by(n float64) double {
	q := x.hi / n
	p := q * n
	rest := (x.hi - p) - math.FMA(q, n, -p) + x.lo
	return doubleOf(q, rest/n)
}

func loadDouble(w []uint64) double {
	return double{math.Float64frombits(w[0]), math.Float64frombits(w[1])}
}

func (x double) store(w []uint64) {
	w[0], w[1] = math.Float64bits(x.hi), math.Float64bits(x.lo)
}
