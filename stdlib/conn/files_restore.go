package conn

import (
	"fmt"
	"math"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/zeebo/xxh3"
)

// Going on with files after a restart. Each task saves its chunk and how many rows of it were emitted; the first one
// saves what they share, too: the files and how they were cut. Chunk c then goes to task c mod M of the new tasks, the
// finished ones are left out. The files are read as far as they went when the run began, so that the rows are those of
// an undisturbed run.

// savedChunks and its like begin what a source has saved.
const (
	savedChunks = 1
	savedMade   = 2
	savedFollow = 3
)

// fingerprint tells whether a file still holds what was read of it.
type fingerprint struct {
	file     int
	from, to int64
	sum      uint64 // xxh3 of these bytes; of the last of what was read
}

// glance is how many bytes are enough to tell texts apart.
const glance = 4 << 10

// headSum is the fingerprint of the start of a file.
func headSum(head []byte) uint64 { return xxh3.Hash(head[:min(len(head), glance)]) }

// fingerprint returns that of the end of the chunk.
func (b *block) fingerprint(file int) fingerprint {
	from := max(b.from, b.hi-glance)
	return fingerprint{file, from, b.hi, xxh3.Hash(b.buf[from-b.from : b.hi-b.from])}
}

// Save writes what the task needs to go on.
func (t *chunkTask) Save(w *checkpoint.Writer) error {
	task := t.next % t.tasks
	w.Uint(savedChunks)
	w.Uint(uint64(t.tasks))
	if task == 0 {
		t.scan.save(w)
	}
	w.Int(t.next)
	w.Int(t.w)
	w.Int(t.rows)
	now := t.now
	if t.flow != nil {
		now.idle, now.at = t.flow.idle, t.flow.feed.place()
	}
	now.chunk = t.next
	all := []begun{}
	if (now.rows > 0 || now.idle) && !fault.On("rows-again") {
		all = append(all, now)
	}
	for _, b := range t.scan.begun {
		if b.chunk > t.next && b.chunk%t.tasks == task {
			all = append(all, b)
		}
	}
	w.Uint(uint64(len(all)))
	for _, b := range all {
		b.save(w)
	}
	seen := t.seen
	if t.has {
		seen = t.block.fingerprint(t.file)
	}
	w.Uint(uint64(seen.file))
	w.Int(seen.from)
	w.Int(seen.to)
	w.Uint(seen.sum)
	var own *placed
	if t.passed && t.next > t.files[t.file].first {
		own = &placed{t.next, t.begin}
	}
	t.relay.save(int(task), own, w)
	w.Int(t.stop.Load()) // behind the places: whoever stopped had passed them
	return nil
}

// save writes what the tasks share.
func (s *scan) save(w *checkpoint.Writer) {
	w.Int(s.chunk)
	w.Uint(uint64(len(s.files)))
	for _, in := range s.files {
		w.String(in.name)
		w.Bool(in.stdin)
		w.Int(in.size)
		w.Int(in.pieces)
		w.Uint(in.head)
	}
	s.done.save(w)
}

// begun is a chunk of which rows were emitted, failed ones included.
type begun struct {
	chunk, rows int64
	idle        bool  // a stream that has told so
	at          place // of a stream
}

func (b *begun) save(w *checkpoint.Writer) {
	w.Int(b.chunk)
	w.Int(b.rows)
	w.Bool(b.idle)
	b.at.save(w)
}

func loadBegun(r *checkpoint.Reader) []begun {
	list := make([]begun, r.Count(8))
	for i := range list {
		list[i] = begun{r.Int(), r.Int(), r.Bool(), loadPlace(r)}
		if list[i].chunk < 0 || list[i].rows < 0 {
			r.Fail("row %d of chunk %d", list[i].rows, list[i].chunk)
		}
	}
	return list
}

// begunOf returns what was emitted of a chunk before a restart.
func (s *scan) begunOf(chunk int64) begun {
	for _, b := range s.begun {
		if b.chunk == chunk {
			return b
		}
	}
	return begun{at: start()}
}

// savedScan is what all tasks have saved together.
type savedScan struct {
	tasks  []savedTask
	seen   [][]fingerprint // by file
	places []placed
	done   progress
	stop   int64
	rows   int64              // that all tasks had sent
	in     *checkpoint.Reader // the first task's, to note errors
}

type savedTask struct {
	next int64
	w    types.Instant
	idle bool
}

// load reads what all tasks have saved: the files and the chunk size are taken over at once.
func (s *scan) load(parts []*checkpoint.Reader) (*savedScan, error) {
	v := &savedScan{stop: math.MaxInt64}
	tasks := 1
	for i := 0; i < tasks; i++ {
		if i >= len(parts) || parts[i] == nil {
			return nil, fmt.Errorf("source %s: the checkpoint has nothing of task %d", s.Name, i)
		}
		r := parts[i]
		if kind := r.Uint(); kind != savedChunks {
			return nil, s.otherwise(r)
		}
		n := r.Uint()
		if i == 0 {
			if n == 0 || n > uint64(len(parts)) {
				r.Fail("%d tasks", n)
			}
			tasks, v.in = int(n), r
			s.loadShared(r, v)
		} else if n != uint64(tasks) {
			r.Fail("%d tasks, not %d", n, tasks)
		}
		x := savedTask{next: r.Int(), w: r.Int()}
		v.tasks = append(v.tasks, x)
		v.rows = addRows(v.rows, r)
		s.begun = append(s.begun, loadBegun(r)...)
		f := fingerprint{int(r.Uint()), r.Int(), r.Int(), r.Uint()}
		if f.file < 0 || f.file >= len(s.files) || f.from < 0 || f.to < f.from || f.to-f.from > glance {
			r.Fail("a fingerprint makes no sense")
		} else if f.to > 0 {
			v.seen[f.file] = append(v.seen[f.file], f)
		}
		v.places = append(v.places, loadPlaces(r)...)
		if stop := r.Int(); stop > 0 {
			v.stop = min(v.stop, stop)
		}
		if x.next < 0 {
			r.Fail("chunk %d", x.next)
		}
		if err := r.Done(); err != nil {
			return nil, damaged(s.Name, err)
		}
	}
	d := make(dealt, len(v.tasks))
	for i, x := range v.tasks {
		d[i] = x.next
	}
	d.check(v.in)
	s.done = v.done.add(d)
	return v, nil
}

func (s *scan) loadShared(r *checkpoint.Reader, v *savedScan) {
	s.chunk = r.Int()
	n := r.Count(5)
	v.seen = make([][]fingerprint, n)
	total := int64(0)
	for i := range n {
		in := &input{name: r.String(), stdin: r.Bool(), number: i, size: r.Int(), pieces: r.Int(), head: r.Uint()}
		if in.pieces < 1 || in.pieces > mostSpread*16-total {
			r.Fail("%d chunks", in.pieces)
			in.pieces = 1
		}
		total += in.pieces
		s.files = append(s.files, in)
	}
	if s.chunk <= 0 || n == 0 {
		r.Fail("%d files in chunks of %d bytes", n, s.chunk)
	}
	v.done = loadProgress(r)
}

// damaged says that what a source has saved cannot be read.
func damaged(source string, err error) error {
	return fmt.Errorf("source %s: what the checkpoint says of it makes no sense: %w", source, err)
}

// addRows adds the rows that a task had sent to those of the tasks before it.
func addRows(before int64, r *checkpoint.Reader) int64 {
	n := r.Int()
	if n < 0 || n > math.MaxInt64-before {
		r.Fail("%d rows", n)
		return before
	}
	return before + n
}

// otherwise says that a source was read in another way.
func (s *scan) otherwise(r *checkpoint.Reader) error {
	if err := r.Err(); err != nil {
		return damaged(s.Name, err)
	}
	return fmt.Errorf("source %s: the checkpoint was taken while it was read in another way; start anew with --fresh", s.Name)
}

// changed says that a file is not the one that was read.
func changed(name, how string) error {
	return fmt.Errorf("cannot go on with %s: %s. Start anew with --fresh, or go back with --from to a checkpoint from before it was read", name, how)
}

// again looks at a file that was read before: it must begin with what was read. One that was read to its end need not
// be there any more.
func (s *scan) again(in *input, seen []fingerprint) error {
	if in.stdin {
		in.pipe, in.key = true, stdio
		return nil
	}
	whole := true
	for c := in.first; c < in.first+in.pieces && whole; c++ {
		whole = s.done.finished(c)
	}
	info, err := s.Env.FS.Stat(in.name)
	if err != nil {
		if whole {
			return nil
		}
		return openError(in.name, s.Env.FS, err)
	}
	in.look(info)
	switch {
	case in.size < 0:
		return nil
	case in.pipe:
		return changed(in.name, "it is no file any more")
	case info.Size() < in.size:
		return changed(in.name, fmt.Sprintf("it has %d bytes; when the run began it had %d", info.Size(), in.size))
	}
	f, err := s.Env.FS.Open(in.name)
	if err != nil {
		return openError(in.name, s.Env.FS, err)
	}
	defer f.Close()
	seen = append(slices.Clip(seen), fingerprint{to: min(in.size, glance), sum: in.head})
	for _, p := range seen {
		b := make([]byte, p.to-p.from)
		if err := readAt(f, b, p.from, in.name); err != nil {
			return err
		}
		if xxh3.Hash(b) != p.sum {
			return changed(in.name, fmt.Sprintf("its bytes %d to %d are not those that were read", p.from, p.to))
		}
	}
	if whole {
		return nil
	}
	if err := s.inspect(in); err != nil {
		return err
	}
	if s.cut(in) != in.pieces {
		return fmt.Errorf("source %s: %s was read in another way when the checkpoint was taken; start anew with --fresh", s.Name, in.name)
	}
	return nil
}

// resume takes over what the tasks share once the files are known.
func (s *scan) resume(v *savedScan) error {
	if v.stop < math.MaxInt64 {
		s.stop.Store(v.stop)
	}
	first := map[int64]bool{}
	last := s.files[len(s.files)-1]
	for _, in := range s.files {
		first[in.first] = true
		if s.Env.Stats == nil || in.size < 0 {
			continue
		}
		for c := in.first; c < in.first+in.pieces; c++ {
			if s.done.finished(c) {
				s.Env.Stats.BytesIn.Add(min(s.chunk, in.size-(c-in.first)*s.chunk))
			}
		}
	}
	stop := min(v.stop, last.first+last.pieces)
	s.relay.restore(v.places, s.done, func(c int64) bool { return first[c] }, stop, v.in)
	if err := v.in.Err(); err != nil {
		return damaged(s.Name, err)
	}
	return nil
}

// resume makes the task go on where the old ones were.
func (t *chunkTask) resume(v *savedScan) {
	task := t.next
	if task == 0 {
		t.rows = v.rows
	}
	t.next = t.done.next(t.next, t.tasks)
	t.now, t.again = t.begunOf(t.next), true
	if len(v.tasks) == int(t.tasks) {
		t.w = v.tasks[task].w
		return
	}
	t.w = types.MaxInstant
	for _, x := range v.tasks {
		t.w = min(t.w, x.w)
	}
}

// retell tells what a task of a source had told before a restart: at another parallelism other tasks listen, though the source
// may have as many as before.
func retell(w types.Instant, idle bool, out *exec.Out) {
	if w > types.MinInstant {
		out.Watermark(w)
	}
	if idle {
		out.Idle(true)
	}
}
