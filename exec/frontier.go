package exec

import (
	"container/heap"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// frontier is what the inputs of a gate say of event time together. It is kept input by input: where each of hundreds of
// tasks tells hundreds of others something, to look at all inputs every time would take longer than the rows.
//
// The inputs behind the same sources are a strand. They tell of the same event time, one sooner than another: what comes of
// an input that has not been heard for long, idle or not, may be as old as its own watermark, however far the others of the
// strand have come. So the watermark of a strand is the lowest of its inputs, idle ones among them, and it is idle when all
// are, and when none behind some of its sources is awake: it only has not heard of that yet. An idle strand does not hold
// the others back.
type frontier struct {
	inputs  []gateInput // of the gate
	of      []int       // by input: its strand; -1: it does not count, or has ended
	awake   []bool      // by input: it is live and not idle
	lives   int         // inputs that count and have not ended
	strands []strand
	active  lowest // the strands that are not idle
}

// strand is the live inputs behind the same sources.
type strand struct {
	sources []int
	live    lowest
	awake   int   // inputs that are not idle, of it and of strands behind fewer of its sources
	wider   []int // the strands behind all of its sources, itself among them
}

// newFrontier looks at all inputs of a gate. It holds until other inputs count.
func newFrontier(g *Gate) *frontier {
	n := len(g.inputs)
	f := &frontier{inputs: g.inputs, of: slices.Repeat([]int{-1}, n), awake: make([]bool, n)}
	each := newLowest(n)
	for k := range g.groups {
		gr := &g.groups[k]
		s := slices.IndexFunc(f.strands, func(s strand) bool { return slices.Equal(s.sources, gr.sources) })
		if s < 0 {
			s = len(f.strands)
			f.strands = append(f.strands, strand{sources: gr.sources, live: each})
		}
		if len(gr.old) > 0 { // those of now do not count yet
			for _, i := range gr.old {
				f.of[i] = s
			}
			continue
		}
		for i := gr.first; i < gr.first+gr.n; i++ {
			f.of[i] = s
		}
	}
	for k := range f.strands {
		s := &f.strands[k]
		for w := range f.strands {
			if !slices.ContainsFunc(s.sources, func(x int) bool { return !slices.Contains(f.strands[w].sources, x) }) {
				s.wider = append(s.wider, w)
			}
		}
	}
	f.active = newLowest(len(f.strands))
	for i, s := range f.of {
		if s >= 0 {
			f.lives++
			f.heard(i)
		}
	}
	return f
}

// heard takes in what an input has said.
func (f *frontier) heard(i int) {
	n := f.of[i]
	if n < 0 {
		return
	}
	p, s := &f.inputs[i], &f.strands[n]
	switch {
	case p.ended:
		f.of[i] = -1
		f.lives--
		s.live.remove(i)
	case p.idle && fault.On("strand-lets-idle-go"):
		s.live.remove(i)
	default:
		s.live.put(i, p.w)
	}
	change := 0
	if awake := !p.ended && !p.idle; awake != f.awake[i] {
		if f.awake[i], change = awake, 1; !awake {
			change = -1
		}
	}
	for _, k := range s.wider {
		w := &f.strands[k]
		if w.awake += change; w.awake > 0 && w.live.Len() > 0 {
			f.active.put(k, w.live.first())
		} else {
			f.active.remove(k)
		}
	}
}

// now returns the watermark of all live inputs, and whether a strand holds event time back; if none does it is the highest of
// them, as far as those behind more sources have come there, too.
func (f *frontier) now() (w types.Instant, active bool) {
	if f.active.Len() > 0 {
		return f.active.first(), true
	}
	w = types.MinInstant
	for k := range f.strands {
		low := types.MaxInstant
		for _, at := range f.strands[k].wider {
			if s := &f.strands[at]; s.live.Len() > 0 {
				low = min(low, s.live.first())
			}
		}
		if f.strands[k].live.Len() > 0 {
			w = max(w, low)
		}
	}
	return w, false
}

// lowest finds the lowest of some watermarks: a heap of what they are of, which is numbered.
type lowest struct {
	w     []types.Instant // by number
	place []int           // by number: where it is in order, or -1
	order []int           // a heap
}

// newLowest returns an empty one for numbers below n. Copies of it share memory: no number may be in two of them.
func newLowest(n int) lowest {
	return lowest{w: make([]types.Instant, n), place: slices.Repeat([]int{-1}, n)}
}

// first returns the lowest watermark. There must be one.
func (l *lowest) first() types.Instant { return l.w[l.order[0]] }

// put adds a number, or changes its watermark.
func (l *lowest) put(i int, w types.Instant) {
	was := l.w[i]
	switch l.w[i] = w; {
	case l.place[i] < 0:
		heap.Push(l, i)
	case was != w:
		heap.Fix(l, l.place[i])
	}
}

// remove takes a number out, if it is in.
func (l *lowest) remove(i int) {
	if l.place[i] >= 0 {
		heap.Remove(l, l.place[i])
	}
}

// Len, Less, Swap, Push and Pop make it a heap.Interface.

func (l *lowest) Len() int { return len(l.order) }

func (l *lowest) Less(a, b int) bool {
	if fault.On("watermark-of-the-fastest") {
		a, b = b, a
	}
	return l.w[l.order[a]] < l.w[l.order[b]]
}

func (l *lowest) Swap(a, b int) {
	l.order[a], l.order[b] = l.order[b], l.order[a]
	l.place[l.order[a]], l.place[l.order[b]] = a, b
}

func (l *lowest) Push(x any) {
	i := x.(int)
	l.place[i] = len(l.order)
	l.order = append(l.order, i)
}

func (l *lowest) Pop() any {
	last := len(l.order) - 1
	i := l.order[last]
	l.order = l.order[:last]
	l.place[i] = -1
	return i
}
