package exec

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// Gate merges the input channels of a task: it chooses what comes next and turns the watermarks, idleness and ends of
// the channels into those of the task. It alone knows how a snapshot waits for its marks; see wait.
type Gate struct {
	inputs  []gateInput
	groups  []gateGroup
	next    int           // group to look at first, so that none starves
	w       types.Instant // what the task has been told
	idle    bool
	untold  bool // a change of idle: the watermark that came with it went first
	ended   bool
	halted  bool      // a channel was stopped rather than ended
	retired bool      // old inputs of a group have become empty: what that changes has not been told
	over    int       // inputs before this one have ended
	front   *frontier // nil: other inputs count than before

	// Since when a snapshot waits for its marks.
	now   func() types.Instant
	waits checkpoint.ID
	since types.Instant
}

type gateInput struct {
	ch    *Channel
	in    int // input of the operator
	w     types.Instant
	idle  bool
	ended bool
	short bool // ended by a stop
	old   bool // see gate_old.go
	width int  // of the producers of an old one
	gone  bool // an old one that has been emptied
}

// A gateGroup is the channels of one edge, visited in turn: chunk by chunk if the edge keeps the source's order, else
// batch by batch.
type gateGroup struct {
	first, n int
	sources  []int // that lie before it, by number, ascending
	inOrder  bool
	turn     int
	cut      bool     // a channel was stopped short: what the others hold behind that place is dropped, so that no row is missing before the last
	stride   int      // chunk k comes by channel k mod stride
	chunk    int64    // in order: the chunk at hand
	ready    readySet // unless inOrder: those visited are in it
	old      []int    // inputs that hold what was in flight when the run was restored at another width; see gate_old.go
}

// NewGate returns a gate without inputs.
func NewGate() *Gate { return &Gate{w: types.MinInstant} }

// Add adds the channels of one edge, all of which feed input `in`, and the numbers of the sources that lie before it, ascending.
func (g *Gate) Add(in int, chans []*Channel, inOrder bool, sources []int) {
	gr := gateGroup{first: len(g.inputs), n: len(chans), inOrder: inOrder, sources: sources, stride: len(chans)}
	if !inOrder {
		gr.ready = newReadySet(len(chans))
	}
	for i, c := range chans {
		if !inOrder {
			c.tellReady(gr.ready, i)
		}
		g.inputs = append(g.inputs, gateInput{ch: c, in: in, w: types.MinInstant})
	}
	g.groups = append(g.groups, gr)
}

// Next returns the next rows (at most that many), watermark, idleness or end for the task, or ok = false if nothing waits. End
// comes once, its N is 1 if a channel was stopped rather than ended. A mark item tells that the task must take a snapshot
// before Next is called again.
func (g *Gate) Next(rows int) (in int, it Item, ok bool) {
	if g.untold {
		if it, ok := g.merged(); ok {
			return 0, it, true
		}
	}
	for !g.ended {
		i, it, ok := g.take(rows)
		if g.retired { // and nothing was taken
			g.retired = false
			if g.allEnded() {
				g.ended = true
				return 0, g.endItem(), true
			}
			if out, changed := g.merged(); changed {
				return 0, out, true
			}
			continue
		}
		if !ok {
			return 0, Item{}, false
		}
		p := &g.inputs[i]
		switch it.Kind {
		case Rows, markItem:
			return p.in, it, true
		case ChunkEnd:
			continue
		case Watermark:
			p.w = max(p.w, it.W)
		case WentIdle:
			p.idle = true
		case WentActive:
			p.idle = false
		case End:
			p.ended, p.short = true, it.N != 0
			p.idle = false
			g.halted = g.halted || it.N != 0
			if g.allEnded() {
				g.ended = true
				return 0, g.endItem(), true
			}
		}
		if g.front != nil {
			g.front.heard(i)
		}
		if out, ok := g.merged(); ok {
			return 0, out, true
		}
	}
	return 0, Item{}, false
}

func (g *Gate) endItem() Item {
	it := Item{Kind: End}
	if g.halted {
		it.N = 1
	}
	return it
}

// take takes the first item of the channel whose turn it is.
func (g *Gate) take(rows int) (input int, it Item, ok bool) {
	held := checkpoint.ID(0) // a snapshot that waits for its marks
	for range g.groups {
		gr := &g.groups[g.next]
		g.next = (g.next + 1) % len(g.groups)
		if len(gr.old) > 0 {
			i, it, got := g.takeOld(gr, rows)
			switch {
			case got == Taken, got == AtMark && !it.Aligned:
				return i, it, true
			case got == AtMark:
				held = g.hold(held, it)
			case g.retired:
				return 0, Item{}, false
			}
			continue
		}
		if gr.inOrder && !fault.On("skip-no-chunk") {
			g.turnTo(gr)
		}
		for start, passed := gr.turn, 0; ; {
			if !gr.inOrder {
				i, ok := gr.ready.next(gr.turn)
				if passed += (i - gr.turn + gr.n) % gr.n; !ok || passed >= gr.n {
					gr.turn = start
					break
				}
				gr.turn = i
			} else if passed == gr.n { // all have ended
				break
			}
			i := gr.first + gr.turn
			p := &g.inputs[i]
			if p.ended {
				gr.turn = (gr.turn + 1) % gr.n
				passed++
				continue
			}
			it, got := p.ch.Next(rows)
			for got == Taken && gr.cut && it.Kind != End {
				it, got = p.ch.Next(rows)
			}
			if got == AtMark {
				if !it.Aligned {
					return i, it, true
				}
				held = g.hold(held, it)
			}
			if got == Taken {
				if !gr.inOrder && it.Kind == Rows || gr.inOrder && it.Kind == ChunkEnd {
					gr.turn = (gr.turn + 1) % gr.n
				}
				if it.Kind == ChunkEnd {
					gr.chunk = it.N + 1
				}
				return i, it, true
			}
			if gr.inOrder {
				if i, it, ok := g.overhear(gr); ok {
					return i, it, true
				}
				break
			}
			gr.turn = (gr.turn + 1) % gr.n
			passed++
		}
	}
	if held != 0 && (g.aligned(held) && !fault.On("never-aligned")) {
		return 0, Item{Kind: markItem, Aligned: true, N: int64(held)}, true
	}
	return 0, Item{}, false
}

// overhear takes what another channel of an edge in order says of event time, though it is not its turn: the one at turn is
// idle, and its turn may last.
func (g *Gate) overhear(gr *gateGroup) (input int, it Item, ok bool) {
	if !g.inputs[gr.first+gr.turn].idle {
		return 0, Item{}, false
	}
	for i := gr.first; i < gr.first+gr.n; i++ {
		p := &g.inputs[i]
		if kind, _, ok := p.ch.peek(); !p.ended && ok && (kind == Watermark || kind == WentIdle || kind == WentActive) {
			if it, got := p.ch.Next(1); got == Taken {
				return i, it, true
			}
		}
	}
	return 0, Item{}, false
}

// turnTo goes on to the channel with the next chunk. Chunks may be missing: a channel has ended, or the chunk was over
// when the run was restored, at a width at which nothing was in flight here.
func (g *Gate) turnTo(gr *gateGroup) {
	for ended := 0; ended < gr.n; {
		p := &g.inputs[gr.first+gr.turn]
		if p.ended {
			gr.cut = gr.cut || p.short
			ended++
		} else {
			kind, n, ok := p.ch.peek()
			if !ok || kind != Rows && kind != ChunkEnd || n <= gr.chunk {
				return
			}
			ended = 0
		}
		gr.turn = (gr.turn + 1) % gr.n
		gr.chunk++
	}
}

// hold returns the older one of a snapshot that waits already, 0 if there is none, and that of a mark.
func (g *Gate) hold(held checkpoint.ID, mark Item) checkpoint.ID {
	id := checkpoint.ID(mark.N)
	if id > g.waits {
		g.waits = id
		if g.now != nil {
			g.since = g.now()
		}
	}
	if held == 0 || id < held {
		return id
	}
	return held
}

// waited returns how long a snapshot has been waiting for its marks.
func (g *Gate) waited(id checkpoint.ID, now types.Instant) int64 {
	if g == nil || g.waits != id || g.since == 0 {
		return 0
	}
	return now - g.since
}

// aligned reports whether all that lies before the marks of a snapshot has been taken. An input that the gate itself
// holds back, because it is not its turn, counts as being at its mark: what it holds is in flight.
func (g *Gate) aligned(id checkpoint.ID) bool {
	for k := range g.groups {
		gr := &g.groups[k]
		if len(gr.old) > 0 {
			continue
		}
		if gr.inOrder {
			// The channel at turn may have ended: then the next one that has not is at turn.
			for n := range gr.n {
				p := &g.inputs[gr.first+(gr.turn+n)%gr.n]
				if p.ended {
					continue
				}
				if !p.ch.Reached(id) {
					return false
				}
				break
			}
			continue
		}
		for i := gr.first; i < gr.first+gr.n; i++ {
			// What comes behind an end is nothing: a producer that was restored at another width may end once more.
			if p := &g.inputs[i]; !p.ended && !p.ch.Reached(id) {
				return false
			}
		}
	}
	return true
}

// allEnded reports whether no input is left.
func (g *Gate) allEnded() bool {
	for g.over < len(g.inputs) && g.inputs[g.over].ended {
		g.over++
	}
	return g.over == len(g.inputs)
}

// merged returns what the task must be told after a channel's event time, idleness or end has changed.
func (g *Gate) merged() (Item, bool) {
	if g.front == nil {
		g.front = newFrontier(g)
	}
	if g.front.lives == 0 {
		return Item{}, false
	}
	low, active := g.front.now()
	if g.untold = low > g.w && g.idle == active; low > g.w {
		g.w = low
		return Item{Kind: Watermark, W: low}, true
	}
	if g.idle == active {
		g.idle = !active
		if g.idle {
			return Item{Kind: WentIdle}, true
		}
		return Item{Kind: WentActive}, true
	}
	return Item{}, false
}

// close tells the producers that the task wants nothing more.
func (g *Gate) close() {
	g.ended = true
	for i := range g.inputs {
		g.inputs[i].ch.Close()
	}
}
