package exec

import (
	"slices"

	"github.com/ebb-lang/ebb/exec/vec"
)

// listener is who taps an output, for Out.
type listener = func(*vec.Batch)

// Tap hands f what a node or, by the name of its group, a source emits to its main output, until stop is called. f is called
// by the tasks in the middle of their work, by several at a time: it must be quick, and what it keeps it copies. A tap that
// nobody has costs a look at a pointer for each batch. ok is false if there is no such node or source.
func (r *Run) Tap(id string, f func(*vec.Batch)) (stop func(), ok bool) {
	var outs []*Out
	for _, t := range r.tasks {
		if t.source != nil && t.group == id {
			outs = append(outs, t.heads)
		}
		for _, n := range t.nodes {
			if n.id == id {
				outs = append(outs, n.out)
			}
		}
	}
	mine := &f
	change := func(edit func([]*listener) []*listener) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, o := range outs {
			var now []*listener
			if p := o.tapped.Load(); p != nil {
				now = *p
			}
			if now = edit(slices.Clone(now)); len(now) == 0 {
				o.tapped.Store(nil)
			} else {
				o.tapped.Store(&now)
			}
		}
	}
	change(func(l []*listener) []*listener { return append(l, mine) })
	return func() {
		change(func(l []*listener) []*listener {
			return slices.DeleteFunc(l, func(x *listener) bool { return x == mine })
		})
	}, len(outs) > 0
}
