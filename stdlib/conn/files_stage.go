package conn

import (
	"bufio"
	"path/filepath"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/zeebo/xxh3"
)

// Once a run takes checkpoints, what it writes between two of them, an interval, is held back until the second one is
// durable: in memory as long as it is little, else in one hidden file for all outputs. Saving seals the interval, that
// is, says where in which output each of its bytes belongs.

// inlineBytes are held in memory; they ride in the checkpoint if they do not become more. Once there is a file it gets pieces of
// spills times as many, and is copied in pieces of copies times as many: with 32 KiB it would take a third more.
const (
	inlineBytes = 64 << 10
	spills      = 16
	copies      = 4
)

func (s *fileSink) inlineBytes() int {
	if s.env.Inline > 0 {
		return s.env.Inline
	}
	return inlineBytes
}

// interval is what was written between two checkpoints.
type interval struct {
	id      checkpoint.ID // the checkpoint that ends it
	file    string        // hidden file that holds it; "" if it is in memory
	size    int64         // of the file
	sum     uint64        // of the file, once summed
	summed  bool
	whole   bool // the file takes the place of the output
	extents []extent

	durable  atomic.Bool   // the file has been flushed
	again    bool          // read from a checkpoint: some of it may be in the outputs, and its file may be gone
	applied  bool          // it is in the outputs
	names    []string      // folders that must be flushed, too
	flushed  bool          // and they are durable
	named    checkpoint.ID // the newest checkpoint that names the file
	followed checkpoint.ID // the first checkpoint that includes this flush: with it the interval is not needed any more
}

// extent is a run of bytes that belongs into an output.
type extent struct {
	out  *outFile
	at   int64 // in the output
	size int64
	tail uint64 // sum of its last bytes
	data []byte // in memory
	off  int64  // in the file of the interval
}

// tailSum is the fingerprint of the end of a run of bytes.
func tailSum(b []byte) uint64 { return xxh3.Hash(b[max(0, len(b)-glance):]) }

// stage takes an interval. It belongs to the task.
type stage struct {
	s       *fileSink
	outs    []*outFile // that hold bytes, in the order in which they came
	held    int
	name    string // of the file
	f       exec.File
	w       *bufio.Writer
	sum     *xxh3.Hasher
	size    int64
	begun   int64 // the system was told to bring the bytes before to the disk
	extents []extent
}

// staged writes to an output by way of the stage.
type staged struct {
	g *stage
	o *outFile
}

func (w staged) Write(b []byte) (int, error) { return len(b), w.g.write(w.o, b) }

func (g *stage) write(o *outFile, b []byte) error {
	limit := g.s.inlineBytes()
	if g.f != nil {
		limit *= spills
	}
	if g.held+len(b) > limit {
		if err := g.spill(); err != nil {
			return err
		}
		if len(b) >= g.s.inlineBytes() {
			return g.put(o, b)
		}
	}
	if len(o.held) == 0 {
		g.outs = append(g.outs, o)
	}
	o.held = append(o.held, b...)
	g.held += len(b)
	return nil
}

// spill moves to the file what is in memory.
func (g *stage) spill() error {
	for _, o := range g.outs {
		if err := g.put(o, o.held); err != nil {
			return err
		}
		o.held = o.held[:0]
	}
	g.outs, g.held = g.outs[:0], 0
	return nil
}

// put writes to the file.
func (g *stage) put(o *outFile, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if g.f == nil {
		var err error
		if g.name, g.f, err = g.s.hidden(); err != nil {
			g.f = nil
			return err
		}
		g.w, g.sum = bufio.NewWriterSize(g.f, 256<<10), xxh3.New()
	}
	if _, err := g.w.Write(b); err != nil {
		return err
	}
	g.sum.Write(b)
	off := g.size
	g.size += int64(len(b))
	g.begun = disk.Begin(g.f, g.begun, g.size-int64(g.w.Buffered()))
	if n := len(g.extents); n > 0 && g.extents[n-1].out == o && len(b) >= glance {
		e := &g.extents[n-1]
		e.size += int64(len(b))
		e.tail = tailSum(b)
		return nil
	}
	g.extents = append(g.extents, extent{out: o, off: off, size: int64(len(b)), tail: tailSum(b)})
	return nil
}

// stageName is the name beside which hidden files for all outputs lie.
func (s *fileSink) stageName() string {
	if s.parts == nil {
		return s.order[0].name
	}
	return filepath.Join(s.path, "part-0"+s.ext)
}

// seal ends the interval and says where its bytes belong.
func (s *fileSink) seal(id checkpoint.ID) error {
	if s.pack != "" { // each interval is compressed by itself
		for _, o := range s.order {
			if err := s.shut(o); err != nil || fault.On("pack-first-only") {
				return err
			}
		}
	}
	g := s.stage
	in := &interval{id: id}
	if g.f != nil {
		if err := g.spill(); err != nil {
			return outputError(g.name, err)
		}
		if err := g.w.Flush(); err != nil {
			return outputError(g.name, err)
		}
		if err := g.f.Close(); err != nil {
			return outputError(g.name, err)
		}
		in.file, in.size, in.sum, in.summed = g.name, g.size, g.sum.Sum64(), true
		in.extents = g.extents
	}
	for _, o := range g.outs {
		in.extents = append(in.extents, extent{out: o, data: o.held, size: int64(len(o.held)), tail: tailSum(o.held)})
		o.held = nil
	}
	for i := range in.extents {
		e := &in.extents[i]
		e.at = e.out.size
		if e.out.size += e.size; fault.On("seal-short") {
			e.out.size--
		}
	}
	s.stage = &stage{s: s}
	for _, o := range s.order {
		if o.f != nil && s.pack == "" && !o.stdout && !o.direct {
			o.f = staged{s.stage, o}
		}
	}
	if len(in.extents) > 0 {
		s.mu.Lock()
		s.sealed = append(s.sealed, in)
		s.mu.Unlock()
	}
	return nil
}

// unstage seals what was written before the first checkpoint was asked for: of each output the temporary file.
func (s *fileSink) unstage(id checkpoint.ID) error {
	s.stage = &stage{s: s}
	if s.keep {
		var err error
		if s.others, err = (&savedOutput{path: s.path, ext: s.ext, folder: s.parts != nil}).partitions(s.env.FS); err != nil {
			return outputError(s.path, err)
		}
	}
	for _, o := range s.order {
		if o.stdout || o.direct {
			continue
		}
		if err := s.shut(o); err != nil {
			return err
		}
		in := &interval{id: id, file: o.temp}
		if err := s.unstageFile(o, in); err != nil {
			return outputError(o.name, err)
		}
		o.temp = ""
		s.mu.Lock()
		s.sealed = append(s.sealed, in)
		s.mu.Unlock()
	}
	return nil
}

func (s *fileSink) unstageFile(o *outFile, in *interval) error {
	f, err := s.env.FS.Open(o.temp)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in.size = info.Size()
	end := make([]byte, min(in.size, glance))
	if err := readAt(f, end, in.size-int64(len(end)), o.temp); err != nil {
		return err
	}
	size, first := int64(0), []byte(nil)
	if s.keep {
		if size, first, err = s.ending(o); err != nil {
			return err
		}
	}
	in.whole = size == 0
	if len(first) > 0 {
		in.extents = append(in.extents, extent{out: o, at: size, data: first, size: int64(len(first)), tail: tailSum(first)})
		size += int64(len(first))
	}
	in.extents = append(in.extents, extent{out: o, at: size, size: in.size, tail: tailSum(end)})
	o.size = size + in.size
	return nil
}

// folders returns the folders whose names must be durable for a file to be found again. That they are there says
// nothing: another run may have made them.
func (s *fileSink) folders(name string) []string {
	out := []string{filepath.Dir(name)}
	for d := out[0]; s.parts != nil && d != filepath.Dir(d); d = filepath.Dir(d) {
		if d == filepath.Clean(s.path) {
			if !s.rooted.Load() {
				for ; d != filepath.Dir(d); d = filepath.Dir(d) {
					out = append(out, filepath.Dir(d))
				}
			}
			break
		}
		out = append(out, filepath.Dir(d))
	}
	return out
}

// extend is for the first rows of an output that come after the first checkpoint: it may be there already.
func (s *fileSink) extend(o *outFile) error {
	if err := s.adopt(o); err != nil || !s.keep {
		return err
	}
	size, first, err := s.ending(o)
	if err != nil {
		return outputError(o.name, err)
	}
	o.size = size
	return outputError(o.name, s.stage.write(o, first))
}
