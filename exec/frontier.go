package exec

import (
	"container/heap"

	"github.com/ebb-lang/ebb/lang/types"
)

// frontier is what the inputs of a gate say of event time together. It is kept input by input: where each of hundreds of
// tasks tells hundreds of others something, to look at all inputs every time would take longer than the rows.
type frontier struct {
	inputs []gateInput // of the gate
	live   []bool      // by input: it counts and has not ended
	lives  int
	active []int // the live inputs that hold event time back, the one with the lowest watermark first: a heap
	place  []int // by input: where it is in active, or -1
}

// newFrontier looks at all inputs of a gate. It holds until other inputs count.
func newFrontier(g *Gate) *frontier {
	n := len(g.inputs)
	f := &frontier{inputs: g.inputs, live: make([]bool, n), place: make([]int, n)}
	for i := range f.live {
		f.live[i], f.place[i] = true, -1
	}
	for k := range g.groups {
		if gr := &g.groups[k]; len(gr.old) > 0 { // those of now do not count yet
			for i := gr.first; i < gr.first+gr.n; i++ {
				f.live[i] = false
			}
		}
	}
	for i := range f.live {
		if f.live[i] {
			f.lives++
			f.heard(i)
		}
	}
	return f
}

// heard takes in what an input has said.
func (f *frontier) heard(i int) {
	if !f.live[i] {
		return
	}
	p, at := &f.inputs[i], f.place[i]
	if p.ended {
		f.live[i] = false
		f.lives--
	}
	switch holds := !p.ended && !p.idle; {
	case holds && at < 0:
		heap.Push(f, i)
	case holds:
		heap.Fix(f, at)
	case at >= 0:
		heap.Remove(f, at)
	}
}

// now returns the watermark of all live inputs, and whether one of them holds event time back; if none does it is the highest.
func (f *frontier) now() (w types.Instant, active bool) {
	if len(f.active) > 0 {
		return f.inputs[f.active[0]].w, true
	}
	return f.highest(), false
}

func (f *frontier) highest() types.Instant {
	w := types.MinInstant
	for i := range f.inputs {
		if f.live[i] {
			w = max(w, f.inputs[i].w)
		}
	}
	return w
}

// Len, Less, Swap, Push and Pop make active a heap.Interface.

func (f *frontier) Len() int           { return len(f.active) }
func (f *frontier) Less(a, b int) bool { return f.inputs[f.active[a]].w < f.inputs[f.active[b]].w }
func (f *frontier) Swap(a, b int) {
	f.active[a], f.active[b] = f.active[b], f.active[a]
	f.place[f.active[a]], f.place[f.active[b]] = a, b
}

func (f *frontier) Push(x any) {
	i := x.(int)
	f.place[i] = len(f.active)
	f.active = append(f.active, i)
}

func (f *frontier) Pop() any {
	last := len(f.active) - 1
	i := f.active[last]
	f.active = f.active[:last]
	f.place[i] = -1
	return i
}
