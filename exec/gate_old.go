package exec

import (
	"github.com/ebb-lang/ebb/lang/types"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// Old inputs: when a run is restored at another width, what was in flight in the channels of before comes first, each
// channel by itself, and then what the channels of now bring. Until all old ones of an edge are empty, the edge's event
// time is theirs. An edge that keeps order goes by the numbers of the chunks: what is left of chunk k comes before what
// the source reads of it now.

// addOld adds an old input to a group.
func (g *Gate) addOld(group int, ch *Channel, in inputData) {
	gr := &g.groups[group]
	gr.old = append(gr.old, len(g.inputs))
	g.inputs = append(g.inputs, gateInput{ch: ch, in: g.inputs[gr.first].in, w: in.w, idle: in.idle, ended: in.ended, short: in.short, old: true, width: in.fromWidth})
	g.front = nil
}

// takeOld takes the next item of a group that has old inputs; Nothing may mean that there are none left.
func (g *Gate) takeOld(gr *gateGroup, rows int) (int, Item, Got) {
	for {
		left := false
		for _, i := range gr.old {
			p := &g.inputs[i]
			kind, n, ok := p.ch.peek()
			if !ok {
				continue
			}
			if left = true; !gr.inOrder || kind != Rows && kind != ChunkEnd || n <= gr.chunk {
				it, got := p.ch.Next(rows)
				if kind == ChunkEnd {
					gr.chunk = n + 1
				}
				return i, it, got
			}
		}
		if !left || fault.On("live-before-old") {
			g.retire(gr)
			return 0, Item{}, Nothing
		}
		// Only an edge that keeps order comes here: the chunk at hand is not among the old ones.
		i := gr.first + int(gr.chunk%int64(gr.stride))
		p := &g.inputs[i]
		if p.ended {
			gr.chunk++
			continue
		}
		kind, n, ok := p.ch.peek()
		if ok && (kind == Rows || kind == ChunkEnd) && n > gr.chunk {
			gr.chunk++
			continue
		}
		it, got := p.ch.Next(rows)
		if got == Taken && it.Kind == ChunkEnd {
			gr.chunk = it.N + 1
		}
		return i, it, got
	}
}

// retire lets the channels of now go on from where the old ones have come to.
func (g *Gate) retire(gr *gateGroup) {
	low, ended, all, short := types.MaxInstant, false, true, false
	for k, i := range gr.old {
		p := &g.inputs[i]
		if k > 0 && g.inputs[gr.old[k-1]].width != p.width {
			// Those of another run, which had taken over from that of the ones before. Once all producers of a run had ended,
			// those of later runs have nothing to say of it.
			ended, all = ended || all, true
		}
		if !p.ended {
			if low, all = min(low, p.w), false; fault.On("old-watermark-unmerged") {
				low = types.MaxInstant - 1
			}
		}
		short = short || p.short
		p.ended, p.gone = true, true
	}
	ended = ended || all
	gr.old = nil
	gr.turn = 0
	if gr.inOrder {
		gr.turn = int(gr.chunk % int64(gr.stride))
	}
	for i := gr.first; i < gr.first+gr.n; i++ {
		p := &g.inputs[i]
		if ended || fault.On("old-end-early") {
			p.ended, p.short = true, short
		} else if !p.ended {
			p.w = max(p.w, low)
		}
	}
	g.retired, g.front = true, nil
}
