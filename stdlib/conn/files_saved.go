package conn

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
)

// What an output has saved: its files with their sizes, and the intervals that are not known to be in them for good.

const (
	savedFiles   = 1
	savedPassing = 2 // standard output, a pipe: nothing can be taken back
)

// savedOutput is what a fileSink has saved.
type savedOutput struct {
	path   string // file, or folder of partitions
	ext    string // of partition files
	folder bool
	keep   bool
	files  []*outFile // name, key, size, rows
	others []otherFile
	list   []*interval
}

// otherFile is a file with its size; one of savedOutput.others is a partition file that was there before the first checkpoint
// of a run that appends.
type otherFile struct {
	name string
	size int64
}

// saved returns what is to be saved. The caller holds mu.
func (s *fileSink) saved() *savedOutput {
	v := &savedOutput{path: s.path, ext: s.ext, folder: s.parts != nil, keep: s.keep, files: s.order, others: s.others, list: s.sealed}
	if !v.folder {
		v.path = s.order[0].name
	}
	return v
}

func (v *savedOutput) save(w *checkpoint.Writer) {
	w.Uint(savedFiles)
	w.String(v.path)
	w.String(v.ext)
	w.Bool(v.folder)
	w.Bool(v.keep)
	w.Uint(uint64(len(v.files)))
	number := make(map[*outFile]int, len(v.files))
	for i, o := range v.files {
		number[o] = i
		w.String(o.key)
		w.Int(o.size)
		w.Int(o.rows)
	}
	w.Uint(uint64(len(v.others)))
	for _, o := range v.others {
		w.String(o.name)
		w.Int(o.size)
	}
	w.Uint(uint64(len(v.list)))
	for _, in := range v.list {
		w.Uint(uint64(in.id))
		w.String(in.file)
		w.Int(in.size)
		w.Bool(in.whole)
		w.Uint(uint64(len(in.extents)))
		for _, e := range in.extents {
			w.Uint(uint64(number[e.out]))
			w.Int(e.at)
			w.Int(e.size)
			w.Uint(e.tail)
			w.Bool(e.data != nil)
			if e.data != nil {
				w.Bytes(e.data)
			} else {
				w.Int(e.off)
			}
		}
	}
}

// loadOutput reads what save wrote. passing is an output that cannot be taken back; its rows are counted.
func loadOutput(r *checkpoint.Reader) (v *savedOutput, passing int64, err error) {
	v = &savedOutput{}
	switch kind := r.Uint(); kind {
	case savedFiles:
	case savedPassing:
		passing = r.Int()
		return nil, passing, r.Done()
	default:
		r.Fail("an output of kind %d", kind)
		return nil, 0, r.Err()
	}
	v.path, v.ext, v.folder, v.keep = r.String(), r.String(), r.Bool(), r.Bool()
	v.files = make([]*outFile, r.Count(3))
	for i := range v.files {
		o := &outFile{key: r.String(), size: r.Int(), rows: r.Int(), name: v.path, begun: true}
		if v.folder {
			o.name = filepath.Join(v.path, filepath.FromSlash(o.key), "part-0"+v.ext)
		}
		if o.size < 0 {
			r.Fail("%d bytes of %s", o.size, o.name)
		}
		v.files[i] = o
	}
	if !v.folder && len(v.files) != 1 {
		r.Fail("%d files in one", len(v.files))
	}
	v.others = make([]otherFile, r.Count(2))
	for i := range v.others {
		v.others[i] = otherFile{r.String(), r.Int()}
	}
	v.list = make([]*interval, r.Count(5))
	for i := range v.list {
		in := &interval{again: true}
		v.list[i] = in
		in.id, in.file, in.size, in.whole = checkpoint.ID(r.Uint()), r.String(), r.Int(), r.Bool()
		in.extents = make([]extent, r.Count(6))
		for k := range in.extents {
			e := &in.extents[k]
			n := r.Uint()
			if n >= uint64(len(v.files)) {
				r.Fail("file %d of %d", n, len(v.files))
				return nil, 0, r.Err()
			}
			e.out, e.at, e.size, e.tail = v.files[n], r.Int(), r.Int(), r.Uint()
			if r.Bool() {
				e.data = append([]byte{}, r.Bytes()...)
			} else {
				e.off = r.Int()
			}
			if e.at < 0 || e.size < 0 || e.off < 0 || e.data != nil && int64(len(e.data)) != e.size || e.size > e.out.size || e.at > e.out.size-e.size {
				r.Fail("%d bytes at %d of %s", e.size, e.at, e.out.name)
			}
		}
		if len(in.extents) == 0 || in.whole && (len(in.extents) > 1 || in.file == "") {
			r.Fail("an interval of %d parts", len(in.extents))
		}
	}
	return v, 0, r.Done()
}

// partitions returns the partition files that are there.
func (v *savedOutput) partitions(fsys exec.FS) (files []otherFile, err error) {
	if !v.folder {
		return nil, nil
	}
	err = walk(v.path, fsys, func(name string) {
		if filepath.Base(name) != "part-0"+v.ext {
			return
		}
		if info, err := fsys.Stat(name); err == nil {
			files = append(files, otherFile{name, info.Size()})
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// savePassing notes what cannot be taken back. What is being compressed goes out now: it would be lost.
func (s *fileSink) savePassing(o *outFile, w *checkpoint.Writer) error {
	if s.pack != "" {
		if err := s.shut(o); err != nil {
			return err
		}
	}
	w.Uint(savedPassing)
	w.Int(o.rows)
	return nil
}

// Load takes back what was saved. The outputs change at the next Commit only: until then it may not be durable that there is
// such a checkpoint.
func (s *fileSink) Load(r *checkpoint.Reader) error {
	v, _, err := loadOutput(r)
	if err != nil {
		return fmt.Errorf("what the checkpoint says of the output %s makes no sense: %w", s.path, err)
	}
	one := s.files[""]
	path := s.path
	if one != nil {
		path = one.name
	}
	if v == nil || one != nil && (one.stdout || one.direct) {
		if v == nil && one != nil && (one.stdout || one.direct) {
			return nil
		}
		return &OutputError{s.path, fmt.Errorf("it was something else when the checkpoint was taken. %s", anew)}
	}
	if filepath.Clean(v.path) != filepath.Clean(path) || v.ext != s.ext || v.folder != (s.parts != nil) || v.keep != s.keep {
		return &OutputError{s.path, fmt.Errorf("the checkpoint was taken with the output %s. %s", v.path, anew)}
	}
	for _, o := range s.order { // made anew
		s.shut(o)
		if o.temp != "" {
			s.discard(o.temp)
		}
	}
	if err := v.complete(s); err != nil {
		return err
	}
	s.loaded = []otherFile{}
	for _, o := range v.files {
		s.loaded = append(s.loaded, otherFile{o.name, o.size})
	}
	s.stage, s.swept = &stage{s: s}, true
	s.files, s.order, s.sealed, s.others = map[string]*outFile{}, v.files, v.list, v.others
	for _, o := range v.files {
		s.files[o.key] = o
	}
	for _, in := range v.list {
		if in.file != "" && s.there(in.file) {
			inUse.Store(in.file, true)
			s.temps = append(s.temps, in.file)
		}
	}
	return nil
}

// complete checks that the outputs have lost nothing.
func (v *savedOutput) complete(s *fileSink) error {
	base := map[*outFile]int64{} // what must be there
	for _, o := range v.files {
		base[o] = o.size
	}
	for _, in := range v.list {
		for _, e := range in.extents {
			if in.file == "" || s.there(in.file) {
				base[e.out] = min(base[e.out], e.at)
			}
		}
	}
	for _, o := range v.files {
		if size := s.sizeOf(o.name); size < base[o] {
			return &OutputError{o.name, fmt.Errorf("it has %d bytes, %d had been written at the checkpoint; somebody else has changed it. %s", size, base[o], anew)}
		}
	}
	return nil
}

// sizeOf returns the size of a file, 0 if there is none.
func (s *fileSink) sizeOf(name string) int64 {
	info, err := s.env.FS.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// goOn takes off the outputs what was written after the checkpoint that was loaded, once.
func (s *fileSink) goOn() error {
	if s.resumed || s.loaded == nil {
		return nil
	}
	s.mu.Lock()
	list, needed := slices.Clone(s.sealed), slices.Clone(s.temps)
	s.mu.Unlock()
	for _, in := range list { // the checkpoint may be one that was being published when the process ended
		if in.again && in.file != "" && s.there(in.file) {
			if err := s.flushFile(in); err != nil {
				return err
			}
		}
	}
	for _, o := range s.loaded {
		if s.sizeOf(o.name) > o.size && !fault.On("no-cut") {
			if err := s.truncate(o.name, o.size); err != nil {
				return outputError(o.name, err)
			}
		}
	}
	s.sweep(s.stageName(), needed...)
	if s.parts != nil {
		for _, o := range s.loaded {
			s.sweep(o.name, needed...)
		}
	}
	s.resumed = true
	return nil
}

func (s *fileSink) truncate(name string, size int64) error {
	f, err := s.env.FS.Edit(name)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
