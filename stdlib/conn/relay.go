package conn

import (
	"math"
	"slices"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// A source deals its chunks to its tasks, chunk c to task c mod N. What a chunk must know of those before it is passed
// from chunk to chunk, in order, from task to task.

// place is what is known of a split up to a record.
type place struct {
	odd   bool          // an odd number of quotes stand before it
	rows  int64         // data rows before it
	good  int64         // those of them that did not fail
	high  types.Instant // highest event time before it
	lines int64         // lines before it; only kept where a file is read in one stream
}

func start() place { return place{high: types.MinInstant} }

func (p place) save(w *checkpoint.Writer) {
	w.Bool(p.odd)
	w.Int(p.rows)
	w.Int(p.good)
	w.Int(p.high)
	w.Int(p.lines)
}

func loadPlace(r *checkpoint.Reader) place {
	return place{odd: r.Bool(), rows: r.Int(), good: r.Int(), high: r.Int(), lines: r.Int()}
}

// placed is the place at the start of a chunk.
type placed struct {
	chunk int64
	at    place
}

// relay passes places on: one at a time for each split, for chunk c by the task of chunk c-1 to the task of chunk c.
//
// The tasks of a source save at different moments, and yet what they save together must tell the place at the start of
// every chunk that is not finished while the one before it is: nobody will pass it on any more. The place of chunk c
// was passed before the task of c-1 saved. If the task of c saved later than that, it had the place or found it
// waiting. If it saved earlier, the place was passed after the first task had saved, and so it stands in the log, which
// the task of c-1 saves. Hence each task saves the place of its own chunk, what waits, and what was passed since the
// first task saved for the same checkpoint.
type relay struct {
	mu      sync.Mutex
	waiting []placed        // passed and not taken yet
	last    placed          // the one that was passed last
	gone    int64           // from this chunk on places may not come: a task gave up
	log     []placed        // passed since the first save of the oldest checkpoint that is open
	open    []saving        // checkpoints that not all tasks have saved for, ascending
	saved   []checkpoint.ID // by task: the newest checkpoint it has saved for
}

// saving is a checkpoint that is being saved.
type saving struct {
	id   checkpoint.ID
	from int // of the log
}

func newRelay(tasks int) *relay {
	return &relay{gone: math.MaxInt64, saved: make([]checkpoint.ID, tasks)}
}

// pass passes the place at the start of a chunk on.
func (r *relay) pass(chunk int64, at place) {
	r.mu.Lock()
	r.last = placed{chunk, at}
	r.waiting = append(r.waiting, r.last)
	if len(r.open) > 0 {
		r.log = append(r.log, r.last)
	}
	r.mu.Unlock()
}

// take returns the place at the start of a chunk, once; ok is false as long as it is not known, and gone tells that it
// will never be.
func (r *relay) take(chunk int64) (at place, ok, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, x := range r.waiting {
		if x.chunk == chunk {
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			return x.at, true, false
		}
	}
	return place{}, false, chunk >= r.gone
}

// reached returns the highest event time that is known of the chunks before one.
func (r *relay) reached(chunk int64) types.Instant {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.chunk > chunk { // after a restart some chunks may have been ahead
		return types.MinInstant
	}
	return r.last.at.high
}

// giveUp tells that a task does not pass on the places of the chunks from one on.
func (r *relay) giveUp(chunk int64) {
	r.mu.Lock()
	r.gone = min(r.gone, chunk)
	r.mu.Unlock()
}

// save writes what a task knows of places for w.ID; own is the place of the task's chunk, nil if it has none. Tasks save
// in order of the ids; one that all have saved for, or that is older than that, is over, finished or not.
func (r *relay) save(task int, own *placed, w *checkpoint.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := slices.IndexFunc(r.open, func(s saving) bool { return s.id == w.ID })
	if k < 0 {
		k = len(r.open)
		r.open = append(r.open, saving{w.ID, len(r.log)})
	}
	since := r.log[r.open[k].from:]
	if fault.On("forget-batons") {
		since = nil
	}
	n := len(r.waiting) + len(since)
	if own != nil {
		n++
	}
	w.Uint(uint64(n))
	if own != nil {
		own.save(w)
	}
	for _, list := range [][]placed{r.waiting, since} {
		for _, x := range list {
			x.save(w)
		}
	}
	r.saved[task] = max(r.saved[task], w.ID)
	r.forget()
}

// forget drops the log of checkpoints that are over.
func (r *relay) forget() {
	over := slices.Min(r.saved)
	r.open = slices.DeleteFunc(r.open, func(s saving) bool { return s.id <= over })
	from := len(r.log)
	if len(r.open) > 0 {
		from = r.open[0].from
	}
	r.log = append(r.log[:0:0], r.log[from:]...)
	for i := range r.open {
		r.open[i].from -= from
	}
}

func (p placed) save(w *checkpoint.Writer) {
	w.Int(p.chunk)
	p.at.save(w)
}

// loadPlaces reads what save wrote.
func loadPlaces(r *checkpoint.Reader) []placed {
	list := make([]placed, r.Count(6))
	for i := range list {
		list[i] = placed{r.Int(), loadPlace(r)}
	}
	return list
}

// restore takes over what all tasks have saved. A place that will be passed on again is left out; one that is missing is
// an error. first tells the chunks that begin a split, which need none, and stop the first chunk that nobody wants.
func (r *relay) restore(list []placed, done progress, first func(chunk int64) bool, stop int64, in *checkpoint.Reader) {
	known := map[int64]place{}
	for _, x := range list {
		known[x.chunk] = x.at
	}
	lo, hi := done.bounds()
	for c := lo; c <= hi && c < stop; c++ {
		if first(c) || done.finished(c) || !done.finished(c-1) {
			continue
		}
		at, ok := known[c]
		if !ok {
			in.Fail("it does not say what came before chunk %d", c)
			return
		}
		if r.waiting = append(r.waiting, placed{c, at}); len(r.waiting) == 1 {
			r.last = r.waiting[0]
		}
	}
}

// progress tells which chunks of a source are finished.
type progress []dealt

// dealt says so for one way of dealing: chunk c is finished if it comes before dealt[c mod len(dealt)], the chunk that
// this task had not finished.
type dealt []int64

// mostSpread bounds how many chunks a task can be ahead of another, so that damaged data keeps nobody busy for long.
const mostSpread = 1 << 26

func (p progress) finished(chunk int64) bool {
	if chunk < 0 {
		return true
	}
	for _, d := range p {
		if chunk < d[chunk%int64(len(d))] {
			return true
		}
	}
	return false
}

// bounds returns two chunks: all before lo are finished, all after hi are not.
func (p progress) bounds() (lo, hi int64) {
	for _, d := range p {
		lo, hi = max(lo, slices.Min(d)), max(hi, slices.Max(d))
	}
	return lo, hi
}

// next returns the first chunk from one on that is not finished, going on by step.
func (p progress) next(chunk, step int64) int64 {
	lo, _ := p.bounds()
	if chunk < lo {
		chunk += (lo - chunk + step - 1) / step * step
	}
	for p.finished(chunk) {
		chunk += step
	}
	return chunk
}

// add adds what was finished since under another dealing, and drops what that has outrun.
func (p progress) add(d dealt) progress {
	var out progress
	for _, old := range p {
		switch {
		case len(old) == len(d):
			for i := range d {
				d[i] = max(d[i], old[i])
			}
		case slices.Max(old) > slices.Min(d):
			out = append(out, old)
		}
	}
	return append(out, d)
}

func (p progress) save(w *checkpoint.Writer) {
	w.Uint(uint64(len(p)))
	for _, d := range p {
		w.Uint(uint64(len(d)))
		for _, c := range d {
			w.Int(c)
		}
	}
}

func loadProgress(r *checkpoint.Reader) progress {
	p := make(progress, r.Count(2))
	for i := range p {
		p[i] = make(dealt, r.Count(1))
		for k := range p[i] {
			p[i][k] = r.Int()
		}
		p[i].check(r)
	}
	return p
}

func (d dealt) check(r *checkpoint.Reader) {
	if len(d) == 0 || slices.Min(d) < 0 || slices.Max(d)-slices.Min(d) > mostSpread {
		r.Fail("the chunks that are finished make no sense")
	}
}
