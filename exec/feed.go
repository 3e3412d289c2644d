package exec

import (
	"math"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
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

	// read is how many rows the source has emitted since the job began, over restarts at one width; -1: not known.
	read  int64
	until *Until // nil: as many as there are
	cut   bool   // there were more
	told  bool   // what until knows of event time was told

	watch Watch // nil: nobody watches
	line  *Line
}

// Until says how far a task lets its source read.
type Until struct {
	Rows int64         // that it has emitted then, as a checkpoint counts them
	W    types.Instant // how far event time has come then, as far as that is known
	Idle bool          // whether it has nothing to say about event time then
}

// fed is an item with the port it was emitted to; of a signal, allPorts.
type fed struct {
	port int
	Item
}

const allPorts = -1

func (f *feed) push(port int, it Item) {
	if f.cut || f.until != nil && f.ahead(it) {
		return
	}
	if it.Kind == Rows && f.read >= 0 {
		n := it.Batch.Rows()
		if f.until != nil && f.read+int64(n) > f.until.Rows {
			n = int(f.until.Rows - f.read)
			it.Batch, f.cut = it.Batch.Slice(0, n), true
		}
		if f.read += int64(n); n == 0 {
			return
		}
	}
	if it.Kind != ChunkEnd && it.Kind != End {
		it.N = f.chunk
	}
	f.pushed(it)
	f.items = append(f.items, fed{port, it})
}

// held reports whether the source is not to be polled any more: it had more rows than it was to give. Up to then it is
// polled, for what it says without rows belongs to those before.
func (f *feed) held() bool {
	if f.cut {
		f.tell()
	}
	return f.cut
}

// ahead reports whether an item says of event time what the source had not said at the checkpoint that it reads up to: that it
// waits takes other times here than it took there.
func (f *feed) ahead(it Item) bool {
	return it.Kind == WentIdle && f.atUntil() || it.Kind == Watermark && f.until.W != types.MinInstant && it.W > f.until.W
}

// atUntil reports whether the source has given what it was to give.
func (f *feed) atUntil() bool { return f.until != nil && f.read >= f.until.Rows }

// tell tells, once, what is known of event time after the rows that the source was to give.
func (f *feed) tell() {
	if f.until == nil || f.told {
		return
	}
	f.told = true
	if w := f.until.W; w != types.MinInstant {
		f.items = append(f.items, fed{allPorts, Item{Kind: Watermark, W: w, N: f.chunk}})
	}
	if f.until.Idle {
		f.items = append(f.items, fed{allPorts, Item{Kind: WentIdle, N: f.chunk}})
	}
}

// again puts back what waited when the run was killed, at the same width. Rows of chunks ahead of the one at hand were
// put back before, at another width: they wait for the source to come to them once more. taken is the chunk of what was
// processed last.
func (f *feed) again(waited []fed, taken int64) {
	at := taken // what is not behind it has its place among the signals
	for _, x := range waited {
		if x.Kind != Rows && x.Kind != ChunkEnd && x.Kind != End {
			at = max(at, x.N)
		}
	}
	ahead := func(x fed) bool { return (x.Kind == Rows || x.Kind == ChunkEnd) && x.N > at }
	if slices.ContainsFunc(waited, ahead) {
		f.watch = nil // as at another width; before anything is pushed, so that nobody watches a part
	}
	for _, x := range waited {
		switch {
		case x.Kind == End && len(f.old) > 0:
			f.last = &x
		case ahead(x):
			f.old = append(f.old, x)
		default:
			f.pushed(x.Item)
			f.items = append(f.items, x)
		}
	}
}

// arrange sorts what was put back.
func (f *feed) arrange(ended bool) {
	if !fault.On("feed-unsorted") {
		slices.SortStableFunc(f.old, func(a, b fed) int { return int(a.N - b.N) })
	}
	if ended && f.last != nil {
		f.old = append(f.old, *f.last)
		f.chunk = math.MaxInt64
	}
	f.last = nil
}

// ready reports whether there is something to take before the source is polled again.
func (f *feed) ready() bool {
	return f.next < len(f.items) || len(f.old) > 0 && (f.old[0].N <= f.chunk || f.old[0].Kind == End)
}

// reached returns the chunk of what is taken next: what belongs to one before it is complete.
func (f *feed) reached() int64 {
	if !f.ready() {
		return f.chunk
	}
	if x, _ := f.first(); x.Kind != End {
		return x.N
	}
	return math.MaxInt64
}

// first returns the item that is taken next, and whether it is an old one. There must be one.
func (f *feed) first() (x *fed, old bool) {
	if len(f.old) > 0 && (f.next == len(f.items) || f.before(&f.items[f.next])) {
		return &f.old[0], true
	}
	return &f.items[f.next], false
}

// take returns the first item or, of a batch, at most its first max rows.
func (f *feed) take(max int) fed {
	x, fromOld := f.first()
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

// waiting returns what is not taken yet, in the order in which it will be taken.
func (f *feed) waiting() []fed {
	first := 0
	for f.next < len(f.items) && first < len(f.old) && f.old[first].N <= f.chunk {
		first++
	}
	out := append(f.old[:first:first], f.items[f.next:]...)
	return append(out, f.old[first:]...)
}
