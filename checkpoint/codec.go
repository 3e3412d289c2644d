package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Writer takes what one part of a task (a source, an operator, a sink) has to remember of a checkpoint. It belongs to
// the task during its snapshot step. What is written is a plain run of values without tags: Reader reads them in the
// same order.
type Writer struct {
	ID ID // the checkpoint
	// Parent is the checkpoint that a delta may build on; 0: everything must be written.
	Parent ID

	// Room is where the memory of pieces comes from; nil: fresh memory.
	Room *Room

	// Ahead, if not nil, takes what has been written for good as soon as it is much, in pieces that follow each other and what
	// was taken before; free gives their memory back. Pieces then returns the rest only.
	Ahead func(data [][]byte, free func())

	// AtOnce is about how many bytes are written at once: what is more goes by Later. Below 0 everything goes so, and as
	// a delta however large that is, for tests. Piece is how many a call of what
	// was given to Later writes: few enough that rows do not wait for it.
	AtOnce, Piece int

	buf     []byte
	parts   []*part  // what stands before buf
	size    int      // bytes in parts; Fits asks often, and there may be thousands of parts
	pending int      // those of the deferred parts that are done
	later   int      // bytes that deferred parts have announced
	memory  [][]byte // of the deferred parts
	last    *part    // whose chunk ends where the used part of the last memory ends
	flush   []func() error
	sealed  []Sealed
	delta   bool
	aborted bool
}

// part is a run of bytes; later, if not nil, writes more of it.
type part struct {
	chunks [][]byte
	later  func(*Writer) (more bool)
}

// Room is memory of pieces that have been stored, for those to come: fresh memory costs more than what is written to it.
// Its methods may be called from several goroutines.
type Room struct {
	mu   sync.Mutex
	free [][]byte
}

// memoryPieces is how many pieces have memory together: what is long is written to a file with less effort.
const memoryPieces = 8

// aheadMemories is how much is taken ahead: few pieces stay in the processor's cache until they are stored.
const aheadMemories = 2

// mostFree bounds what a Room keeps: 64 MiB.
const mostFree = 64

func (r *Room) take(size int) []byte {
	if r == nil {
		return make([]byte, 0, size)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := len(r.free) - 1; n >= 0; n-- {
		p := r.free[n]
		r.free = r.free[:n]
		if cap(p) >= size {
			return p[:0]
		}
	}
	return make([]byte, 0, size)
}

func (r *Room) give(p []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) < mostFree {
		r.free = append(r.free, p)
	}
}

// Sealed is a range of a file outside the store that belongs to a checkpoint: it must be durable when the checkpoint is
// published and must not change afterwards.
type Sealed struct {
	Path   string `cbor:"1,keyasint"`
	Offset int64  `cbor:"2,keyasint,omitempty"`
	Length int64  `cbor:"3,keyasint,omitempty"`
	Sum    uint64 `cbor:"4,keyasint,omitempty"` // xxh3 of the bytes
}

// NewWriter returns an empty writer.
func NewWriter(id, parent ID) *Writer {
	return &Writer{ID: id, Parent: parent, AtOnce: 512 << 10, Piece: 128 << 10}
}

// Uint writes a number; small ones take fewer bytes.
func (w *Writer) Uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }

// Int writes a number; those near 0 take fewer bytes.
func (w *Writer) Int(v int64) { w.buf = binary.AppendVarint(w.buf, v) }

// Float writes a number.
func (w *Writer) Float(v float64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(v))
}

// Bool writes a truth value.
func (w *Writer) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	w.buf = append(w.buf, b)
}

// Bytes writes bytes and their number.
func (w *Writer) Bytes(p []byte) {
	w.Uint(uint64(len(p)))
	w.buf = append(w.buf, p...)
}

// String writes a text and its length.
func (w *Writer) String(s string) {
	w.Uint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// Words writes words of eight bytes and their number.
func (w *Writer) Words(ws []uint64) {
	w.Uint(uint64(len(ws)))
	w.RawWords(ws)
}

// RawWords writes words of eight bytes; the reader must know how many.
func (w *Writer) RawWords(ws []uint64) {
	if littleEndian && len(ws) > 0 {
		w.buf = append(w.buf, unsafe.Slice((*byte)(unsafe.Pointer(&ws[0])), 8*len(ws))...)
		return
	}
	for _, x := range ws {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, x)
	}
}

// littleEndian tells that the machine holds words as they are written.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Append lets f append bytes of a format of its own; Reader.Rest or the format's reader must know where they end.
func (w *Writer) Append(f func(p []byte) []byte) { w.buf = f(w.buf) }

// Len returns how many bytes have been written, those that were taken ahead included.
func (w *Writer) Len() int {
	return w.size + len(w.buf)
}

// Fits reports whether n more bytes may be written at once.
func (w *Writer) Fits(n int) bool { return w.Len()+n <= w.AtOnce }

// Weight returns about how many bytes were written or deferred, before anything of the latter is done.
func (w *Writer) Weight() int { return w.Len() + w.later }

// Later defers a large part of about so many bytes, which takes its place between what was written before and what will be:
// f is called by the task between its steps until it returns false, and writes about Piece bytes a call, those of the writer
// that it is given, to that writer. It must write the state as it was when Later was called, or nothing more once Aborted.
func (w *Writer) Later(size int, f func(*Writer) (more bool)) {
	w.later += size
	w.parts = append(w.parts, &part{chunks: [][]byte{w.buf}}, &part{later: f})
	w.size += len(w.buf)
	w.buf = nil
}

// Continue does a piece of what was deferred and reports whether there is more. The task calls it. Pieces share memory,
// those of different parts, too: there may be thousands of small ones.
func (w *Writer) Continue() bool {
	p := w.deferred()
	if p == nil {
		return false
	}
	slack := w.Piece / 8 // by which pieces become too long
	n := len(w.memory) - 1
	if n < 0 || cap(w.memory[n])-len(w.memory[n]) <= w.Piece/2+slack {
		if w.Ahead != nil && len(w.memory) == aheadMemories {
			w.goAhead()
			n = -1
		}
		w.memory, w.last = append(w.memory, w.Room.take(memoryPieces*w.Piece+slack)), nil
		n++
	}
	room := w.memory[n]
	used, free := len(room), cap(room)-len(room)
	x := Writer{ID: w.ID, Parent: w.Parent, AtOnce: w.AtOnce, Piece: min(w.Piece, free-slack), buf: room[used:]}
	if !p.later(&x) {
		p.later = nil
	}
	size := len(x.buf)
	switch {
	case size > free: // it lies elsewhere
		p.chunks, w.last = append(p.chunks, x.buf), nil
	case w.last == p:
		c := &p.chunks[len(p.chunks)-1]
		from := used - len(*c)
		*c = room[from : used+size : used+size]
		w.memory[n] = room[:used+size]
	case size > 0:
		p.chunks = append(p.chunks, room[used:used+size:used+size])
		w.memory[n], w.last = room[:used+size], p
	}
	w.size += size
	w.flush, w.sealed, w.delta = append(w.flush, x.flush...), append(w.sealed, x.sealed...), w.delta || x.delta
	return w.Pending()
}

// goAhead has Ahead take what was written so far: all before the first part that is not done, and what there is of that.
func (w *Writer) goAhead() {
	var data [][]byte
	for _, p := range w.parts[:w.pending+1] {
		data, p.chunks = append(data, p.chunks...), nil
	}
	memory := w.memory
	w.memory, w.last = nil, nil
	w.Ahead(data, func() { w.free(memory) })
}

// deferred returns the first part that is not done.
func (w *Writer) deferred() *part {
	for ; w.pending < len(w.parts); w.pending++ {
		if p := w.parts[w.pending]; p.later != nil {
			return p
		}
	}
	return nil
}

// Pending reports whether something was deferred that is not written yet.
func (w *Writer) Pending() bool { return w.deferred() != nil }

// Abort tells that nobody wants what was written, nor the rest. The task calls it.
func (w *Writer) Abort() { w.aborted, w.parts = true, nil }

// Aborted reports whether Abort was called.
func (w *Writer) Aborted() bool { return w.aborted }

// Delta tells that what was written needs the block of Parent.
func (w *Writer) Delta() { w.delta = true }

// IsDelta reports whether Delta was called.
func (w *Writer) IsDelta() bool { return w.delta }

// Seal names a range of a file that belongs to the checkpoint, and what makes it durable; flush may be nil if it is so
// already. flush is called by another goroutine, before the checkpoint is published; ranges of one file may share one.
func (w *Writer) Seal(s Sealed, flush func() error) {
	w.sealed = append(w.sealed, s)
	if flush != nil {
		w.flush = append(w.flush, flush)
	}
}

// Output returns what was written, what must be flushed, and the sealed ranges.
func (w *Writer) Output() (data []byte, flush []func() error, sealed []Sealed) {
	pieces, flush, sealed := w.Pieces()
	if len(pieces) == 1 {
		return pieces[0], flush, sealed
	}
	data = make([]byte, 0, w.Len())
	for _, p := range pieces {
		data = append(data, p...)
	}
	return data, flush, sealed
}

// Pieces is Output with what was written in pieces that follow each other.
func (w *Writer) Pieces() (data [][]byte, flush []func() error, sealed []Sealed) {
	for _, p := range w.parts {
		data = append(data, p.chunks...)
	}
	if len(w.buf) > 0 {
		data = append(data, w.buf)
	}
	return data, w.flush, w.sealed
}

// Free gives the memory of Pieces back: it has been stored. The writer is not used any more.
func (w *Writer) Free() {
	w.free(w.memory)
	w.memory, w.parts, w.buf = nil, nil, nil
}

func (w *Writer) free(memory [][]byte) {
	for _, p := range memory {
		w.Room.give(p)
	}
}

// Reader reads what a Writer wrote. After an error all values are zero and Err tells the first one, so that a Load may
// check once, at its end; counts must be checked against Left before memory is made for them.
type Reader struct {
	ID   ID // the checkpoint
	buf  []byte
	more *stream // what follows buf; nil: nothing
	err  error
}

// NewReader reads data.
func NewReader(id ID, data []byte) *Reader { return &Reader{ID: id, buf: data} }

var errShort = errors.New("the data ends too early")

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.buf = nil
}

// Fail notes that the data makes no sense.
func (r *Reader) Fail(format string, args ...any) { r.fail(fmt.Errorf(format, args...)) }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Left returns how many bytes are left.
func (r *Reader) Left() int {
	if r.more == nil || r.err != nil {
		return len(r.buf)
	}
	return len(r.buf) + r.more.left()
}

// Done returns the first error; bytes that are left are one.
func (r *Reader) Done() error {
	if left := r.Left(); r.err == nil && left > 0 {
		return fmt.Errorf("%d bytes are left over", left)
	}
	return r.err
}

// Uint reads what Writer.Uint wrote.
func (r *Reader) Uint() uint64 {
	r.need(binary.MaxVarintLen64)
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

// Int reads what Writer.Int wrote.
func (r *Reader) Int() int64 {
	r.need(binary.MaxVarintLen64)
	v, n := binary.Varint(r.buf)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

// Float reads what Writer.Float wrote.
func (r *Reader) Float() float64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Bool reads what Writer.Bool wrote.
func (r *Reader) Bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// Bytes reads what Writer.Bytes wrote. It is a view of the data.
func (r *Reader) Bytes() []byte {
	p := r.bytes()
	r.lend()
	return p
}

func (r *Reader) bytes() []byte {
	n := r.Uint()
	if n > uint64(r.Left()) {
		r.fail(errShort)
		return nil
	}
	return r.take(int(n))
}

// Fill fills p with the bytes that follow; with zeros if there are not as many.
func (r *Reader) Fill(p []byte) {
	if len(p) > r.Left() {
		r.fail(errShort)
		clear(p)
		return
	}
	if len(p)-len(r.buf) < fillBytes {
		copy(p, r.take(len(p)))
	} else {
		n := copy(p, r.buf)
		r.buf = nil
		if err := r.more.read(p[n:]); err != nil {
			r.fail(err)
		}
	}
	if r.err != nil {
		clear(p)
	}
}

// String reads what Writer.String wrote.
func (r *Reader) String() string { return string(r.bytes()) }

// Words reads what Writer.Words wrote.
func (r *Reader) Words() []uint64 {
	n := r.Uint()
	if n > uint64(r.Left()/8) {
		r.fail(errShort)
		return nil
	}
	out := make([]uint64, n)
	r.RawWords(out)
	return out
}

// RawWords fills ws with what Writer.RawWords wrote; with zeros if there are not as many.
func (r *Reader) RawWords(ws []uint64) {
	if len(ws) == 0 {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&ws[0])), 8*len(ws))
	r.Fill(b)
	if !littleEndian {
		for i := range ws {
			ws[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
}

// Count reads a number of things that take at least size bytes each; one that cannot be is an error.
func (r *Reader) Count(size int) int {
	n := r.Uint()
	if n > uint64(r.Left()/max(size, 1)) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

// Rest hands the bytes that are left to f, which returns those behind what it read.
func (r *Reader) Rest(f func(p []byte) (rest []byte, err error)) {
	if r.err != nil {
		return
	}
	r.need(r.Left())
	r.lend()
	rest, err := f(r.buf)
	if err != nil {
		r.fail(err)
		return
	}
	r.buf = rest
}

func (r *Reader) take(n int) []byte {
	r.need(n)
	if n > len(r.buf) {
		r.fail(errShort)
		return nil
	}
	b := r.buf[:n:n]
	r.buf = r.buf[n:]
	return b
}
