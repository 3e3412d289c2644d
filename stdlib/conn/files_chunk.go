package conn

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Chunks: a regular file is cut at multiples of the chunk size, and a record belongs to the chunk in which it starts.
// The chunks of all files are numbered; task t reads chunks t, t+N, … Each task finds the records of its chunk, decodes
// them and computes their event times without knowing anything of the text before, guessing that no quote is open.
// What it cannot know (whether a quote was open, how many rows and which event time came before) is passed from chunk
// to chunk in a relay; a task passes it on as soon as it has it and only then sends its rows. After a wrong guess the
// chunk is decoded again.

const (
	chunkSize = 512 << 10
	lookahead = 4 << 10   // read behind a chunk at first, for the end of its last record
	maxRecord = 256 << 20 // longest record
	// Blocks begin this much before their chunk: a byte of it is needed, and where a block in memory lies to cache lines
	// as it does in the file, some processors copy it out of the page cache four times as fast.
	before = 64
)

// openFiles opens the files of a scan in a format. exts are the endings of the format's files.
func openFiles(sc *spec.Scan, form format, exts []string) ([]exec.Source, error) {
	return openChunked(sc, form, exts, cmp.Or(sc.Env.Chunk, chunkSize))
}

func openChunked(sc *spec.Scan, form format, exts []string, chunk int64) ([]exec.Source, error) {
	s := &scan{Scan: sc, form: form, pack: optString(sc.Args, "compression"), chunk: chunk}
	if _, err := detect(s.pack, nil); err != nil {
		return nil, err
	}
	if s.follow = optBool(sc.Args, "follow"); s.follow {
		src, err := openFollow(s, exts)
		if err != nil {
			return nil, err
		}
		return []exec.Source{src}, nil
	}
	var saved *savedScan
	var err error
	if sc.Restore != nil {
		saved, err = s.load(sc.Restore)
	} else {
		s.files, err = listFiles(sc.Args, sc.Env, exts)
	}
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for i, in := range s.files {
		in.first = total
		if saved != nil {
			err = s.again(in, saved.seen[i])
		} else {
			err = s.inspect(in)
			in.pieces = s.cut(in)
		}
		if err != nil {
			return nil, err
		}
		total += in.pieces
		if sc.Env.Splits != nil {
			sc.Env.Splits.Name(sc.Ordinal, in.number, in.name)
		}
		switch {
		case sc.Env.Stats == nil:
		case in.size < 0:
			sc.Env.Stats.SizeUnknown.Store(true)
		default:
			sc.Env.Stats.BytesTotal.Add(in.size)
		}
	}
	s.tasks = max(1, min(int64(sc.Width), total))
	if sc.OneSplit {
		s.tasks = 1
	}
	s.relay = newRelay(int(s.tasks))
	if saved != nil {
		if err := s.resume(saved); err != nil {
			return nil, err
		}
	}
	out := make([]exec.Source, s.tasks)
	for t := range out {
		failures := &exec.Failures{}
		if sc.Failures != nil {
			failures = sc.Failures()
		}
		x := &chunkTask{scan: s, next: int64(t), failures: failures, w: types.MinInstant, wake: s.wake(int64(t)), told: -1, now: s.begunOf(int64(t))}
		if saved != nil {
			x.resume(saved)
		}
		out[t] = x
	}
	return out, nil
}

// cut returns into how many chunks a file is cut.
func (s *scan) cut(in *input) int64 {
	if in.layout != nil && in.layout.chunks() {
		return (in.size + s.chunk - 1) / s.chunk
	}
	return 1
}

// wake returns what wakes task t.
func (s *scan) wake(t int64) func() {
	if int(t) < len(s.Hosts) && s.Hosts[t] != nil && s.Hosts[t].Wake != nil {
		return s.Hosts[t].Wake
	}
	return func() {}
}

// chunkTask reads every N-th chunk. It is an exec.Source.
type chunkTask struct {
	*scan
	next     int64 // number of the chunk at hand or to be read next
	file     int   // index of its file
	failures *exec.Failures
	w        types.Instant // the last watermark sent
	wake     func()
	now      begun       // what was emitted of the chunk at hand
	told     int64       // the chunk that the task was told of last
	seen     fingerprint // of what was read last
	again    bool        // after a restart: tell watermark and idleness once more
	rows     int64       // sent, also those of earlier runs

	f       exec.File // open file of files[file]
	fOf     int
	dec     decoder
	decOf   int
	block   block
	has     bool  // block is read
	decoded bool  // pieces are those of the block, under its odd
	passed  bool  // the place has come and was passed on
	begin   place // at the start of the chunk
	at      place // the same, but the highest event time is of what was sent
	ready   []piece
	sent    int
	parts   parts    // that the pieces were made from
	spare   []byte   // of a block that nobody reads any more
	pos     []uint64 // the same for positions

	flow *flow // the file at hand is read as a stream
}

// block is the text of a chunk.
type block struct {
	buf    []byte // from file offset from on, with slack
	from   int64
	lo, hi int64 // the chunk: records that start here
	end    bool  // buf reaches the end of the file
	odd    bool  // whether it was decoded as if a quote were open
	at     int64 // file offset of the first record
	quotes bool  // an odd number of quotes between lo and hi
	doubt  bool  // the guess is likely to be wrong: decide when the place is known
}

// Poll reads and decodes a chunk, or sends one piece of it.
func (t *chunkTask) Poll(out *exec.Out) (exec.Status, error) {
	if t.again {
		t.again = false
		out.Chunk(t.next)
		retell(t.w, t.now.idle, out)
	}
	for t.file < len(t.files) && t.next >= t.files[t.file].first+t.files[t.file].pieces {
		t.file++
	}
	if t.file == len(t.files) || t.unwanted(t.next) {
		return exec.Done, nil
	}
	in := t.files[t.file]
	if in.layout == nil || !in.layout.chunks() {
		return t.streamed(in, out)
	}
	if !t.has {
		if err := t.read(in, in.layout); err != nil {
			return exec.Done, err
		}
	}
	chunk := t.next - in.first
	if !t.passed {
		if st, err := t.join(in, chunk); err != nil || st != exec.More {
			return st, err
		}
	}
	if t.sent < len(t.ready) {
		return exec.More, t.sendNext(in, out)
	}
	t.tell(out)
	out.ChunkEnd(t.next)
	if t.Env.Stats != nil {
		t.Env.Stats.BytesIn.Add(t.block.hi - t.block.lo)
	}
	t.seen = t.block.fingerprint(t.file)
	t.step()
	t.recycle()
	t.has, t.decoded, t.passed, t.block, t.sent = false, false, false, block{}, 0
	clear(t.ready)
	t.ready = t.ready[:0]
	return exec.More, nil
}

// step goes on to the task's next chunk.
func (t *chunkTask) step() {
	t.next = t.done.next(t.next+t.tasks, t.tasks)
	t.now = t.begunOf(t.next)
}

// tell tells to which chunk the rows that follow belong.
func (t *chunkTask) tell(out *exec.Out) {
	if t.told != t.next {
		t.told = t.next
		out.Chunk(t.next)
	}
}

// recycle keeps the memory of the chunk for the next one, if nobody has views of it.
func (t *chunkTask) recycle() {
	if !t.Transient {
		return
	}
	for i := range t.ready {
		if len(t.ready[i].fails) > 0 { // error rows may hold some
			return
		}
	}
	for i := range t.parts.list {
		t.dec.recycle(&t.parts.list[i])
	}
	clear(t.parts.list)
	t.spare = t.block.buf
}

// join decodes the block as far as it can, takes the place before it, and passes the place behind it on. It returns
// More once that is done.
func (t *chunkTask) join(in *input, chunk int64) (exec.Status, error) {
	if !t.decoded && !t.block.doubt {
		if err := t.decode(in, false, false); err != nil {
			return exec.Done, err
		}
	}
	at, ok, gone := start(), true, false
	if chunk > 0 {
		at, ok, gone = t.relay.take(t.next)
	}
	switch {
	case !ok && gone:
		return exec.Done, nil
	case !ok:
		return exec.Idle, nil
	}
	if !t.decoded || at.odd != t.block.odd {
		if err := t.decode(in, at.odd, true); err != nil {
			return exec.Done, err
		}
	}
	t.begin, t.at, t.passed = at, at, true
	next := place{odd: at.odd != t.block.quotes, rows: at.rows, good: at.good, high: at.high}
	failed := false
	for i := range t.ready {
		x := &t.ready[i]
		next.rows += int64(x.batch.N)
		next.good += int64(x.batch.Rows())
		next.high = max(next.high, x.high)
		failed = failed || len(x.fails) > 0
	}
	if failed && stops(t.failures) {
		return exec.More, nil // the run ends here: no later row's error is to be told first
	}
	if t.Limit > 0 && next.good >= t.Limit {
		t.enough(t.next + 1)
		return exec.More, nil
	}
	t.pass(in, chunk, next)
	return exec.More, nil
}

func (t *chunkTask) pass(in *input, chunk int64, at place) {
	if chunk+1 < in.pieces && !t.done.finished(t.next+1) {
		t.relay.pass(t.next+1, at)
		if t.tasks > 1 {
			t.scan.wake((t.next + 1) % t.tasks)()
		}
	}
}

func (t *chunkTask) sendNext(in *input, out *exec.Out) error {
	x := &t.ready[t.sent]
	t.sent++
	end := x.first + int64(x.batch.N)
	if end <= t.now.rows {
		t.at.high = max(t.at.high, x.high)
		return nil
	}
	if x.first < t.now.rows {
		t.at.high = x.skip(int(t.now.rows-x.first), t.at.high)
	}
	t.now.rows = end
	t.tell(out)
	x.pos = t.pos
	t.rows += x.rows()
	high, err := t.send(x, in, t.at, out, t.failures, func(off int) int64 { return t.lineAt(in, t.block.at+int64(off)) })
	if err != nil {
		return err
	}
	if t.Transient {
		t.pos = x.batch.Pos
	}
	t.at.high = high
	t.advance(high, out)
	x.batch = nil
	return nil
}

// advance sends the watermark, if it has moved. Splits that are not read yet hold it back.
func (t *chunkTask) advance(high types.Instant, out *exec.Out) {
	if t.Time != nil && t.file < len(t.files) {
		t.Env.Splits.Report(t.Env.Now(), exec.SplitState{Source: t.Name, Name: t.files[t.file].name, High: high, Lag: t.Lag, IdleAfter: t.Idle, Unread: len(t.files) - 1 - t.file})
	}
	if t.Time == nil || high == types.MinInstant || t.file != len(t.files)-1 {
		return
	}
	if w := behind(high, t.Lag); w > t.w {
		t.w = w
		out.Watermark(w)
	}
}

// lineAt counts lines up to an offset: only done for a row that ends the run.
func (t *chunkTask) lineAt(in *input, off int64) int64 {
	buf := make([]byte, 1<<20)
	line := int64(1)
	for at := int64(0); at < off; at += int64(len(buf)) {
		b := buf[:min(int64(len(buf)), off-at)]
		if readAt(t.f, b, at, in.name) != nil {
			return 0
		}
		line += int64(bytes.Count(b, []byte{'\n'}))
	}
	return line
}

// read reads the chunk and a little more.
func (t *chunkTask) read(in *input, l layout) error {
	if t.f == nil || t.fOf != t.file {
		t.closeFile()
		f, err := t.Env.FS.Open(in.name)
		if err != nil {
			return openError(in.name, t.Env.FS, err)
		}
		t.f, t.fOf = f, t.file
	}
	if t.dec == nil || t.decOf != t.file {
		t.dec, t.decOf = l.decoder(), t.file
	}
	k := t.next - in.first
	b := &t.block
	*b = block{lo: k * t.chunk, hi: min((k+1)*t.chunk, in.size)}
	b.from = max(b.lo-before, 0)
	if err := t.fill(in, min(b.hi+lookahead, in.size)); err != nil {
		return err
	}
	b.quotes = l.odd(b.buf[b.lo-b.from : b.hi-b.from])
	t.has = true
	return nil
}

// fill reads the block up to file offset to; what is there already is kept.
func (t *chunkTask) fill(in *input, to int64) error {
	b := &t.block
	n := to - b.from
	buf := t.spare
	if t.spare = nil; int64(cap(buf)) < n+slack {
		buf = make([]byte, n+slack)
	}
	buf = buf[:n+slack]
	clear(buf[n:])
	have := copy(buf, b.buf)
	if err := readAt(t.f, buf[have:n], b.from+int64(have), in.name); err != nil {
		return err
	}
	b.buf, b.end = buf[:n], to == in.size
	return nil
}

// decode finds and decodes the records of the chunk as if a quote were open before it, or not. A guess is given up if
// the last record goes on for more than a chunk: it is likely to be wrong.
func (t *chunkTask) decode(in *input, odd, sure bool) error {
	b := &t.block
	b.odd = odd
	t.ready, t.decoded = t.ready[:0], false
	from, to, err := t.bounds(in, odd, sure)
	if err == errGuess {
		b.doubt = true
		return nil
	}
	if err != nil {
		return err
	}
	b.at = from
	text := b.buf[from-b.from : to-b.from]
	ps := parts{list: t.parts.list[:0], guess: !sure && b.lo > 0}
	if len(text) > 0 {
		used, err := t.dec.decode(text, true, &ps)
		if err == nil && used < len(text) {
			err = fmt.Errorf("%d bytes are left over", len(text)-used)
		}
		if err != nil {
			if !sure {
				b.doubt = true
				return nil
			}
			return fmt.Errorf("%s: %w", in.name, err)
		}
	}
	t.parts = ps
	t.ready = t.pieces(in.layout, text, ps.list, t.ready)
	t.decoded = true
	return nil
}

// bounds returns the file offsets between which the records of the chunk lie.
func (t *chunkTask) bounds(in *input, odd, sure bool) (from, to int64, err error) {
	b := &t.block
	skip, _ := in.layout.skip()
	head := in.bom + int64(skip)
	switch {
	case head >= b.hi:
		return b.from, b.from, nil
	case head >= b.lo:
		from = head
	case b.buf[b.lo-1-b.from] == '\n' && !odd:
		from = b.lo
	default:
		n := in.layout.next(b.buf[b.lo-b.from:b.hi-b.from], odd)
		if n < 0 || b.lo+int64(n) >= b.hi {
			return b.from, b.from, nil // a record of an earlier chunk covers this one
		}
		from = b.lo + int64(n)
	}
	if b.hi == in.size {
		return from, in.size, nil
	}
	odd = odd != b.quotes
	if b.buf[b.hi-1-b.from] == '\n' && !odd {
		return from, b.hi, nil
	}
	for {
		if n := in.layout.next(b.buf[b.hi-b.from:], odd); n >= 0 {
			return from, b.hi + int64(n), nil
		}
		if b.end {
			return from, in.size, nil
		}
		have := b.from + int64(len(b.buf))
		if !sure && have-b.hi >= t.chunk {
			return 0, 0, errGuess
		}
		if have-from > maxRecord {
			return 0, 0, fmt.Errorf("%s: the record near byte %d is longer than %d MiB; is a quote never closed?", in.name, b.hi, maxRecord>>20)
		}
		if err := t.fill(in, min(b.from+2*int64(len(b.buf)), in.size)); err != nil {
			return 0, 0, err
		}
	}
}

func (t *chunkTask) closeFile() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}

// Close closes the files. Tasks that wait for this one's chunk end, too.
func (t *chunkTask) Close() error {
	t.closeFile()
	if t.flow != nil {
		t.flow.q.close()
		t.flow = nil
	}
	if t.file < len(t.files) {
		t.relay.giveUp(t.next + 1)
		for k := range t.tasks {
			t.scan.wake(k)()
		}
	}
	return nil
}
