package op

import (
	"github.com/ebb-lang/ebb/lang/types"
)

// grid lays out aligned windows in time: tumbling, hopping and cumulating ones. Time is cut into slices of which each
// window is a row; a window is known by its end.
type grid struct {
	kind       types.WindowKind
	size, step int64
	offset     int64
	slice      int64 // length of a slice; the last of a cumulating window may be shorter
}

func newGrid(w *types.Window) grid {
	g := grid{kind: w.Kind, size: w.Size, step: w.Step}
	between := w.Size // from the start of a window to the next other start
	switch w.Kind {
	case types.Tumbling:
		g.step, g.slice = w.Size, w.Size
	case types.Hopping:
		g.slice = gcd(w.Size, w.Step)
		between = w.Step
	case types.Cumulate:
		g.slice = w.Step
	}
	g.offset = floorMod(w.Offset, between)
	return g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// align returns the last point of the raster of length n that is not after t.
func (g *grid) align(t, n int64) int64 {
	return satSub(t, floorMod(satSub(t, g.offset), n))
}

// sliceOf returns the slice that t lies in.
func (g *grid) sliceOf(t int64) (start, end int64) {
	if g.kind != types.Cumulate {
		start = g.align(t, g.slice)
		return start, satAdd(start, g.slice)
	}
	base := g.align(t, g.size)
	start = base + (t-base)/g.step*g.step
	return start, min(satAdd(start, g.step), satAdd(base, g.size))
}

// first and last return the ends of the first and last window that a slice is part of; last < first if there is none.
func (g *grid) first(start int64) int64 {
	switch g.kind {
	case types.Tumbling:
		return satAdd(start, g.size)
	case types.Cumulate:
		_, end := g.sliceOf(start)
		return end
	}
	// The first window starts after start-size.
	return satAdd(g.align(satSub(start, g.size), g.step), g.step+g.size)
}

func (g *grid) last(start int64) int64 {
	switch g.kind {
	case types.Tumbling:
		return satAdd(start, g.size)
	case types.Cumulate:
		return satAdd(g.align(start, g.size), g.size)
	}
	return satAdd(g.align(start, g.step), g.size)
}

// next returns the end of the window after the one that ends at end, of those that share a slice.
func (g *grid) next(end int64) int64 {
	if g.kind == types.Cumulate {
		return min(satAdd(end, g.step), satAdd(g.start(end), g.size))
	}
	return satAdd(end, g.step)
}

// start returns where the window that ends at end starts.
func (g *grid) start(end int64) int64 {
	if g.kind == types.Cumulate {
		return g.align(end-1, g.size)
	}
	return satSub(end, g.size)
}

// firstOpen returns the end of the first window of a slice that ends after closed; ok is false if all have closed. A
// slice in a gap between windows has none.
func (g *grid) firstOpen(start, closed int64) (end int64, ok bool) {
	first, last := g.first(start), g.last(start)
	switch {
	case first > closed:
		return first, first <= last
	case last <= closed:
		return 0, false
	case g.kind == types.Hopping:
		return satAdd(g.align(satSub(closed, g.size), g.step), g.step+g.size), true
	}
	base := g.align(start, g.size)
	return min(base+((closed-base)/g.step+1)*g.step, last), true
}
