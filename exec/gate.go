package exec

import "github.com/ebb-lang/ebb/lang/types"

// Gate merges the input channels of a task: it chooses what comes next and turns the watermarks, idleness and ends of
// the channels into those of the task.
type Gate struct {
	inputs []gateInput
	groups []gateGroup
	next   int           // group to look at first, so that none starves
	w      types.Instant // what the task has been told
	idle   bool
	ended  bool
	halted bool // a channel was stopped rather than ended
}

type gateInput struct {
	ch    *Channel
	in    int // input of the operator
	w     types.Instant
	idle  bool
	ended bool
	short bool // ended by a stop
}

// A gateGroup is the channels of one edge, visited in turn: chunk by chunk if the edge keeps the source's order, else
// batch by batch.
type gateGroup struct {
	first, n int
	inOrder  bool
	turn     int
	cut      bool // a channel was stopped short: what the others hold behind that place is dropped, so that no row is missing before the last
}

// NewGate returns a gate without inputs.
func NewGate() *Gate { return &Gate{w: types.MinInstant} }

// Add adds the channels of one edge, all of which feed input `in`.
func (g *Gate) Add(in int, chans []*Channel, inOrder bool) {
	g.groups = append(g.groups, gateGroup{first: len(g.inputs), n: len(chans), inOrder: inOrder})
	for _, c := range chans {
		g.inputs = append(g.inputs, gateInput{ch: c, in: in, w: types.MinInstant})
	}
}

// Next returns the next rows, watermark, idleness or end for the task, or ok = false if nothing waits. End comes once,
// its N is 1 if a channel was stopped rather than ended.
func (g *Gate) Next() (in int, it Item, ok bool) {
	for !g.ended {
		i, it, ok := g.take()
		if !ok {
			return 0, Item{}, false
		}
		p := &g.inputs[i]
		switch it.Kind {
		case Rows:
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
				if g.halted {
					it.N = 1
				}
				return 0, it, true
			}
		}
		if out, ok := g.merged(); ok {
			return 0, out, true
		}
	}
	return 0, Item{}, false
}

// take takes the first item of the channel whose turn it is.
func (g *Gate) take() (input int, it Item, ok bool) {
	for range g.groups {
		gr := &g.groups[g.next]
		g.next = (g.next + 1) % len(g.groups)
		for range gr.n {
			i := gr.first + gr.turn
			p := &g.inputs[i]
			if p.ended {
				gr.cut = gr.cut || gr.inOrder && p.short
				gr.turn = (gr.turn + 1) % gr.n
				continue
			}
			it, ok := p.ch.Next()
			for ok && gr.cut && it.Kind != End {
				it, ok = p.ch.Next()
			}
			if ok {
				if !gr.inOrder && it.Kind == Rows || gr.inOrder && it.Kind == ChunkEnd {
					gr.turn = (gr.turn + 1) % gr.n
				}
				return i, it, true
			}
			if gr.inOrder {
				break
			}
			gr.turn = (gr.turn + 1) % gr.n
		}
	}
	return 0, Item{}, false
}

func (g *Gate) allEnded() bool {
	for i := range g.inputs {
		if !g.inputs[i].ended {
			return false
		}
	}
	return true
}

// merged returns what the task must be told after a channel's event time, idleness or end has changed.
func (g *Gate) merged() (Item, bool) {
	low, high := types.MaxInstant, types.MinInstant
	live, active := false, false
	for i := range g.inputs {
		p := &g.inputs[i]
		if p.ended {
			continue
		}
		live = true
		high = max(high, p.w)
		if !p.idle {
			active = true
			low = min(low, p.w)
		}
	}
	if !live {
		return Item{}, false
	}
	if !active {
		low = high
	}
	if low > g.w {
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
