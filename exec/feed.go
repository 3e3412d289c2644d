package exec

import (
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// feed holds what a source has emitted and its task has not processed yet: the channel between a source and the
// operators behind it in the same task. The source is polled only when it is empty.
type feed struct {
	items []fed
	next  int
	chunk int64 // of the rows that the source emits

	// What was in flight when the run was restored at another width, by chunk: the rows of a chunk come before those that
	// the source reads of it now, and after those of the chunks before.
	old  []fed
	last *fed // the end, if some task of the source had come to it

	watch Watch // nil: nobody watches
	line  *Line
}

// fed is an item with the port it was emitted to; of a signal, allPorts.
type fed struct {
	port int
	Item
}

const allPorts = -1

func (f *feed) push(port int, it Item) {
	if it.Kind != ChunkEnd && it.Kind != End {
		it.N = f.chunk
	}
	f.pushed(it)
	f.items = append(f.items, fed{port, it})
}

// arrange sorts what was put back.
func (f *feed) arrange(ended bool) {
	if !fault.On("feed-unsorted") {
		slices.SortStableFunc(f.old, func(a, b fed) int { return int(a.N - b.N) })
	}
	if ended && f.last != nil {
		f.old = append(f.old, *f.last)
		f.chunk = 1<<63 - 1
	}
	f.last = nil
}

// ready reports whether there is something to take before the source is polled again.
func (f *feed) ready() bool {
	return f.next < len(f.items) || len(f.old) > 0 && (f.old[0].N <= f.chunk || f.old[0].Kind == End)
}

// take returns the first item or, of a batch, at most its first max rows.
func (f *feed) take(max int) fed {
	var x *fed
	fromOld := len(f.old) > 0 && (f.next == len(f.items) || f.before(&f.items[f.next]))
	if fromOld {
		x = &f.old[0]
	} else {
		x = &f.items[f.next]
	}
	it := *x
	if it.Kind == Rows {
		all := it.Batch.Rows()
		if n := piece(all, max); n < all {
			x.Batch = it.Batch.Slice(n, all)
			it.Batch = it.Batch.Slice(0, n)
			return it
		}
	}
	*x = fed{}
	if fromOld {
		f.old = f.old[1:]
		return it
	}
	f.next++
	if f.next == len(f.items) {
		f.items, f.next = f.items[:0], 0
	}
	return it
}

// before reports whether the first old item comes before x.
func (f *feed) before(x *fed) bool {
	return x.Kind == End || f.old[0].N <= x.N // a watermark, too, was told after the rows that were in flight
}

// waiting returns what is not taken yet.
func (f *feed) waiting() []fed { return append(f.old[:len(f.old):len(f.old)], f.items[f.next:]...) }
