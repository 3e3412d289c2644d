package agg

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// handles keeps values that do not fit into words, one a group; the word holds the number of the value plus 1.
type handles[T any] struct {
	held []*T
	free []uint64
}

// at returns the value of the group whose word w is, a new one if it has none.
func (h *handles[T]) at(w *uint64) *T {
	if *w == 0 {
		if n := len(h.free); n > 0 {
			*w = h.free[n-1]
			h.free = h.free[:n-1]
			h.held[*w-1] = new(T)
		} else {
			h.held = append(h.held, new(T))
			*w = uint64(len(h.held))
		}
	}
	return h.held[*w-1]
}

// get returns the value of a word that is not zero.
func (h *handles[T]) get(w uint64) *T { return h.held[w-1] }

// freeAll forgets the values of the groups.
func (h *handles[T]) freeAll(g spec.Groups) {
	for i := range g.IDs {
		if w := g.Words(i); w[0] != 0 {
			h.held[w[0]-1] = nil
			h.free = append(h.free, w[0])
			w[0] = 0
		}
	}
}

// column returns the encoded values of the groups, null where there is none.
func (h *handles[T]) column(g spec.Groups, encode func(*T, []byte) []byte) *vec.Column {
	b := state.NewBuf(types.T(types.Bytes).Null())
	var p []byte
	for i := range g.IDs {
		if w := g.Words(i)[0]; w != 0 {
			p = encode(h.get(w), p[:0])
			b.Bytes(p)
		} else {
			b.Null()
		}
	}
	return b.Column()
}

// must panics on an error that only a broken partial result of this program itself could give.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// save writes the values, one by one.
func (h *handles[T]) save(w *checkpoint.Writer, one func(*T, *checkpoint.Writer)) {
	w.Uint(uint64(len(h.held)))
	for _, v := range h.held {
		if w.Bool(v != nil); v != nil {
			one(v, w)
		}
	}
}

// load reads what save wrote.
func (h *handles[T]) load(r *checkpoint.Reader, one func(*T, *checkpoint.Reader)) error {
	*h = handles[T]{}
	for range r.Count(1) {
		var v *T
		if r.Bool() {
			v = new(T)
			one(v, r)
		} else {
			h.free = append(h.free, uint64(len(h.held)+1))
		}
		h.held = append(h.held, v)
	}
	if r.Err() != nil {
		*h = handles[T]{}
	}
	return r.Err()
}

// adopt takes over the groups whose words were copied from groups of other.
func (h *handles[T]) adopt(g spec.Groups, other *handles[T], clone func(*T) *T) {
	for i := range g.IDs {
		if w := g.Words(i); w[0] != 0 {
			v := clone(other.get(w[0]))
			w[0] = 0
			h.at(&w[0])
			h.held[w[0]-1] = v
		}
	}
}
