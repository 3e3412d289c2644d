package conn

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Streams: what must be read from its start (a pipe, a compressed file, a dialect without parity) is read by a
// goroutine into a bounded queue, because a read may block and Poll must not.

const (
	readSize   = 64 << 10
	queueBytes = 2 << 20 // held between the reading goroutine and the task
	takeBytes  = 1 << 20 // decoded at once
)

// event is what the reading goroutine has to tell of a file.
type event struct {
	in   *input
	data []byte
	end  bool // nothing follows in this file
	err  error
}

// queue is a bounded line of events from one goroutine to one task.
type queue struct {
	mu     sync.Mutex
	room   sync.Cond
	events []event
	free   [][]byte
	bytes  int
	closed bool
	from   io.Closer // what is read into it
	wake   func()
}

func newQueue(wake func()) *queue {
	q := &queue{wake: wake}
	q.room.L = &q.mu
	return q
}

// buffer returns a buffer to read into.
func (q *queue) buffer() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		return b
	}
	return make([]byte, readSize)
}

// put waits for room and adds e; it reports false once the queue is closed.
func (q *queue) put(e event) bool {
	q.mu.Lock()
	for q.bytes >= queueBytes && !q.closed {
		q.room.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		return false
	}
	q.events = append(q.events, e)
	q.bytes += len(e.data)
	q.mu.Unlock()
	q.wake()
	return true
}

// take appends to into the events that are there, up to takeBytes, as long as they are of one file; an end or an error
// is the last.
func (q *queue) take(into []event) []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.events) && (n == 0 || q.events[n].in == q.events[0].in && size < takeBytes) {
		e := q.events[n]
		size += len(e.data)
		n++
		if e.end || e.err != nil {
			break
		}
	}
	into = append(into, q.events[:n]...)
	rest := copy(q.events, q.events[n:])
	clear(q.events[rest:])
	q.events = q.events[:rest]
	q.bytes -= size
	q.room.Broadcast()
	return into
}

// recycle gives the buffers of taken events back.
func (q *queue) recycle(events []event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range events {
		if cap(e.data) >= readSize && len(q.free) < queueBytes/readSize {
			q.free = append(q.free, e.data[:readSize])
		}
	}
}

// reads notes what is read into the queue: it is closed with it, for a read may wait for ever.
func (q *queue) reads(from io.Closer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.from = from; q.closed {
		from.Close()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed = true; q.from != nil {
		q.from.Close()
	}
	q.room.Broadcast()
}

// pump reads a file from its start into the queue, in a goroutine of its own: even opening a pipe may block.
func (s *scan) pump(in *input, q *queue) {
	raw, err := in.raw(s.Env, false)
	if err != nil {
		q.put(event{in: in, err: err})
		return
	}
	q.reads(raw)
	src, err := in.unpack(raw, s.pack, func(n int) {
		if s.Env.Stats != nil {
			s.Env.Stats.BytesIn.Add(int64(n))
		}
	})
	if err != nil {
		q.put(event{in: in, err: err})
		return
	}
	defer src.Close()
	for {
		b := q.buffer()
		n, err := src.Read(b)
		if n > 0 && !q.put(event{in: in, data: b[:n]}) {
			return
		}
		if err != nil {
			e := event{in: in, end: true}
			if err != io.EOF {
				e.err = err
			}
			src.Close() // whoever hears of the end of a pipe may write into it anew
			q.put(e)
			return
		}
	}
}

// feed turns the bytes of one file, as they come, into pieces.
type feed struct {
	s     *scan
	in    *input
	form  layout
	dec   decoder
	text  []byte // not decoded yet; with slack behind it once dec is there
	need  int    // decode again when there is so much text
	more  [][]byte
	held  int // bytes of more
	begun bool
	at    place
	ready []piece
	sent  int
	rows  int64  // emitted, failed ones included
	total *int64 // adds them up over files
	from  int64  // lines before the text that ready was decoded from
	last  []byte
	off   int64  // of text in the file
	head  []byte // first bytes of the file
	over  bool   // nothing follows in the file
}

func newFeed(s *scan, in *input, total *int64) *feed {
	return &feed{s: s, in: in, at: start(), total: total}
}

// push takes the next bytes, and decodes what is whole of them. All pieces must have been sent before.
func (f *feed) push(events []event, final bool) error {
	f.ready, f.sent = f.ready[:0], 0
	f.over = final
	for _, e := range events {
		f.held += len(e.data)
		if n := identity - len(f.head); n > 0 {
			f.head = append(f.head, e.data[:min(n, len(e.data))]...)
		}
	}
	if len(f.text)+f.held < f.need && !final {
		for _, e := range events {
			f.more = append(f.more, bytes.Clone(e.data))
		}
		return nil
	}
	buf := make([]byte, 0, len(f.text)+f.held+slack)
	buf = append(buf, f.text...)
	for _, m := range f.more {
		buf = append(buf, m...)
	}
	for _, e := range events {
		buf = append(buf, e.data...)
	}
	f.text, f.more, f.held, f.need = buf, nil, 0, 0
	if !f.begun {
		if ok, err := f.begin(final); err != nil || !ok {
			return err
		}
	}
	var ps parts
	used, err := 0, error(nil)
	if len(f.text) > 0 || final {
		used, err = f.dec.decode(f.text, final, &ps)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.in.name, err)
	}
	if final && used < len(f.text) {
		return fmt.Errorf("%s: %d bytes are left over", f.in.name, len(f.text)-used)
	}
	f.last, f.from = f.text[:used], f.at.lines
	f.ready = f.s.pieces(f.form, f.last, ps.list, f.ready)
	f.at.lines += int64(bytes.Count(f.last, []byte{'\n'}))
	f.text = f.text[used:]
	f.off += int64(used)
	if len(f.text) > maxRecord {
		return fmt.Errorf("%s: the record at line %d is longer than %d MiB; is a quote never closed?", f.in.name, f.at.lines+1, maxRecord>>20)
	}
	if len(f.text) >= takeBytes && used == 0 { // a long record: do not look at it from the start each time
		f.need = 2 * len(f.text)
	}
	return nil
}

// begin finds the layout and skips the header; false: there is not enough text.
func (f *feed) begin(final bool) (bool, error) {
	if len(f.text) < readSize && bytes.IndexByte(f.text, '\n') < 0 && !final {
		return false, nil
	}
	head := trimMark(f.text)
	l, err := openLayout(f.s.form, f.in.name, head, final)
	if err == errShort {
		if len(f.text) >= takeBytes {
			f.need = 2 * len(f.text)
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	skip, lines := l.skip()
	f.form, f.dec, f.begun = l, l.decoder(), true
	f.off = int64(len(f.text) - len(head) + skip)
	f.text, f.at.lines = head[skip:], int64(lines)
	return true, nil
}

// pending reports whether pieces wait to be sent.
func (f *feed) pending() bool { return f.sent < len(f.ready) }

// next sends one piece.
func (f *feed) next(out *exec.Out, failures *exec.Failures) error {
	x := &f.ready[f.sent]
	first := f.at.rows + x.first
	end := first + int64(x.batch.N)
	if f.rows > first && f.rows < end {
		f.at.high = x.skip(int(f.rows-first), f.at.high)
	}
	if f.rows >= end { // emitted before a restart
		f.at.high = max(f.at.high, x.high)
	} else {
		f.rows = end
		*f.total += x.rows()
		high, err := f.s.send(x, f.in, f.at, out, failures, func(off int) int64 {
			return f.from + int64(bytes.Count(f.last[:off], []byte{'\n'})) + 1
		})
		if err != nil {
			return err
		}
		f.at.high = high
	}
	f.sent++
	if !f.pending() {
		for i := range f.ready {
			f.at.rows += int64(f.ready[i].batch.N)
			f.at.good += int64(f.ready[i].batch.Rows())
		}
		clear(f.ready)
		f.ready, f.sent = f.ready[:0], 0
	}
	return nil
}

// place returns what is known up to the last row that was sent.
func (f *feed) place() place {
	at := f.at
	at.rows, at.lines = f.rows, f.from
	for _, x := range f.ready[:f.sent] {
		at.good += int64(x.batch.Rows())
	}
	return at
}

// flow is a file that a chunkTask reads as a stream: one chunk.
type flow struct {
	q      *queue
	feed   *feed
	ended  bool
	events []event
	idle   bool
	since  types.Instant // the last rows
}

// streamed is Poll for a file that is read as a stream.
func (t *chunkTask) streamed(in *input, out *exec.Out) (exec.Status, error) {
	if t.flow == nil {
		t.flow = &flow{q: newQueue(t.wake), feed: newFeed(t.scan, in, &t.rows), since: t.Env.Clock(), idle: t.now.idle}
		t.flow.feed.rows = t.now.rows
		if in.pipe && t.now.rows > 0 { // it goes on where it is
			t.flow.feed.at = t.now.at
		}
		go t.pump(in, t.flow.q)
	}
	w := t.flow
	if w.feed.pending() {
		t.tell(out)
		if err := w.feed.next(out, t.failures); err != nil {
			return exec.Done, err
		}
		t.now.rows = w.feed.rows
		t.advance(w.feed.at.high, out)
		return exec.More, nil
	}
	if t.Limit > 0 && w.feed.at.good >= t.Limit {
		t.enough(t.next + 1)
		w.ended = true
	}
	if w.ended {
		w.q.close()
		t.flow = nil
		t.tell(out)
		out.ChunkEnd(t.next)
		t.step()
		return exec.More, nil
	}
	w.events = w.q.take(w.events[:0])
	if len(w.events) == 0 {
		if t.Idle > 0 && !w.idle && t.file == len(t.files)-1 && t.Env.Clock()-w.since >= t.Idle {
			w.idle = true
			out.Idle(true)
		}
		return exec.Idle, nil
	}
	last := w.events[len(w.events)-1]
	if last.err != nil {
		return exec.Done, last.err
	}
	w.ended = last.end
	if err := w.feed.push(w.events, w.ended); err != nil {
		return exec.Done, err
	}
	w.q.recycle(w.events)
	if w.feed.pending() {
		w.since = t.Env.Clock()
		if w.idle {
			w.idle = false
			out.Idle(false)
		}
	}
	return exec.More, nil
}
