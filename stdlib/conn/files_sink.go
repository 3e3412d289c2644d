package conn

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/klauspost/compress/gzip"
)

// Writing files: encoders make blocks of text in parallel, the sink only writes them. A file is written under a hidden
// temporary name beside its own and takes its place when the run is finished.

// OutputError is an output that cannot be written. Its text names the file.
type OutputError struct {
	Path string
	Err  error
}

func (e *OutputError) Error() string {
	path := e.Path
	if path == "-" {
		path = "standard output"
	}
	return fmt.Sprintf("cannot write %s: %v", path, cause(e.Err))
}

// Unwrap returns the error of the system.
func (e *OutputError) Unwrap() error { return e.Err }

func outputError(path string, err error) error {
	if _, known := errors.AsType[*OutputError](err); err == nil || known || errors.Is(err, exec.ErrReaderGone) {
		return err
	}
	return &OutputError{path, err}
}

// fileSink writes the lines of encoded batches to one file or, with partition_by, to a file for each partition.
type fileSink struct {
	env    *exec.Env
	path   string // file, or folder of the partitions
	ext    string // of partition files
	header []byte
	pack   string
	keep   bool     // append
	parts  []string // names of the parts, nil for one file

	files  map[string]*outFile // by partition; "" for one file
	order  []*outFile
	open   int
	clock  int64
	zips   []*gzip.Writer // for the next file
	made   []string       // folders
	swept  bool           // what a killed run left was removed, or a checkpoint still needs it
	unlock func()
	done   bool
	held   bool // the run takes checkpoints: what is written becomes visible by Commit only
	// settled is the newest checkpoint of which it is known to be durable that it was published.
	settled checkpoint.ID

	// In a run that takes checkpoints, from the first one on; see files_stage.go and files_commit.go.
	stage   *stage
	others  []otherFile
	mu      sync.Mutex  // guards the following, done, and changes of files
	sealed  []*interval // that a checkpoint may need, ascending
	spares  []spare     // oldest first
	loaded  []otherFile // the outputs at the checkpoint that the run goes on from; nil: it began afresh
	resumed bool        // and they are so again
	cleared bool        // files of an earlier run were removed
	temps   []string    // names of temporary files
	broken  error       // of the first flush that failed
	rooted  atomic.Bool // the folders above path are durable
}

// maxOpen is how many partition files are open at a time.
const maxOpen = 64

// openSink opens the output of an encoder. header, if any, starts every file; ext is the ending of partition files.
func openSink(w *spec.Write, ext string, header []byte) (exec.Sink, error) {
	paths := optStrings(w.Args, "path")
	if len(paths) != 1 || paths[0] == "" {
		return nil, fmt.Errorf("an output needs one path; %d are given", len(paths))
	}
	s := &fileSink{env: w.Env, path: paths[0], header: header, keep: optBool(w.Args, "append"), files: map[string]*outFile{}}
	var err error
	if s.pack, err = packFor(optString(w.Args, "compression"), s.path); err != nil {
		return nil, err
	}
	s.ext = ext + packExt(s.pack)
	if w.Parts != nil {
		s.parts = w.PartNames
		if err := s.openFolder(); err != nil {
			return nil, err
		}
		return s, s.lock(filepath.Join(s.path, ".lock"))
	}
	o := &outFile{name: s.path, stdout: types.StandardOutput(s.path)}
	if !o.stdout {
		o.name = linked(s.path)
		info, err := s.env.FS.Stat(o.name)
		switch {
		case err == nil && info.IsDir():
			return nil, &OutputError{s.path, errors.New("it is a folder; name a file in it, or write one file for each value with partition_by")}
		case err == nil:
			o.direct = !info.Mode().IsRegular() || exec.OpenFile(o.name)
		}
		dir := filepath.Dir(o.name)
		info, err = s.env.FS.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return nil, &OutputError{s.path, fmt.Errorf("%s is a file, not a folder", dir)}
		case err != nil:
			return nil, &OutputError{s.path, fmt.Errorf("there is no folder %s; make it first", dir)}
		}
	}
	s.files[""], s.order = o, []*outFile{o}
	if !o.stdout && !o.direct {
		dir, base := filepath.Split(o.name)
		if err := s.lock(filepath.Join(dir, "."+base+".lock")); err != nil {
			return nil, err
		}
	}
	if err := s.openFile(o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// packExt is how names of files end that are compressed so.
func packExt(pack string) string {
	switch pack {
	case "gzip":
		return ".gz"
	case "zstd":
		return ".zst"
	}
	return ""
}

// packFor returns the compression of an output.
func packFor(option, path string) (string, error) {
	pack, err := detect(option, nil)
	if err == nil && (option == "" || option == "auto") {
		switch {
		case strings.HasSuffix(path, ".gz"):
			pack = "gzip"
		case strings.HasSuffix(path, ".zst"):
			pack = "zstd"
		}
	}
	return pack, err
}

// Write writes the lines of an encoded batch.
func (s *fileSink) Write(b *vec.Batch) error {
	s.sweepOnce()
	lines := b.Cols[0].Strs
	if b.Block == nil && b.N > 0 { // the batch was gathered on its way
		x := *b
		for _, l := range lines {
			x.Block = append(x.Block, l...)
		}
		b = &x
	}
	if s.parts == nil {
		o := s.order[0]
		if b.Sel == nil {
			err := s.put(o, b.Block)
			o.rows += int64(b.N)
			if b.Free != nil && err == nil {
				b.Free(b)
			}
			return err
		}
		return s.runs(b, lines, func(int) (*outFile, error) { return o, nil })
	}
	parts := b.Cols[1].Strs
	var last *outFile
	var of string
	return s.runs(b, lines, func(r int) (*outFile, error) {
		if last == nil || parts[r] != of {
			o, err := s.partition(parts[r])
			if err != nil {
				return nil, err
			}
			last, of = o, parts[r]
		}
		return last, nil
	})
}

// runs writes the selected lines; neighbours in the block that go to one file are written at once.
func (s *fileSink) runs(b *vec.Batch, lines []string, to func(row int) (*outFile, error)) error {
	at, ends := 0, 0 // offset of the row in the block
	var file *outFile
	from := 0
	row := 0
	for i := range b.Rows() {
		r := b.Row(i)
		for ; row < r; row++ {
			at += len(lines[row])
		}
		o, err := to(r)
		if err != nil {
			return err
		}
		if file == nil || o != file || at != ends {
			if file != nil {
				if err := s.put(file, b.Block[from:ends]); err != nil {
					return err
				}
			}
			file, from = o, at
		}
		ends = at + len(lines[r])
		o.rows++
	}
	if file == nil {
		return nil
	}
	return s.put(file, b.Block[from:ends])
}

// put writes to a file that may have to be opened again.
func (s *fileSink) put(o *outFile, b []byte) error {
	s.clock++
	o.used = s.clock
	if o.f == nil {
		if err := s.room(); err != nil {
			return err
		}
		if err := s.openFile(o); err != nil {
			return err
		}
	}
	return s.write(o, b)
}

// room closes the file that was not used for longest, if too many are open.
func (s *fileSink) room() error {
	if s.open < maxOpen {
		return nil
	}
	var oldest *outFile
	for _, o := range s.order {
		if o.f != nil && (oldest == nil || o.used < oldest.used) {
			oldest = o
		}
	}
	return s.shut(oldest)
}

// sweepOnce removes what a killed run left, unless the run goes on from a checkpoint.
func (s *fileSink) sweepOnce() {
	if s.swept {
		return
	}
	s.swept = true
	for _, o := range s.order {
		if !o.stdout && !o.direct {
			s.sweep(o.name)
		}
	}
	if s.parts != nil {
		s.sweep(s.stageName())
	}
}

// Finish ends all files, and gives them their names if the run takes no checkpoints.
func (s *fileSink) Finish() error {
	s.sweepOnce()
	for _, o := range s.order {
		if !o.begun {
			if err := s.put(o, nil); err != nil { // the header comes also without rows
				return err
			}
		}
		if err := s.shut(o); err != nil {
			return err
		}
	}
	if s.stage != nil || s.held {
		s.mu.Lock()
		s.done = true
		s.mu.Unlock()
		return nil
	}
	return s.show()
}

// show gives all files their names: of a run that came to its end without a checkpoint.
func (s *fileSink) show() error {
	for _, o := range s.order {
		if err := s.publish(o); err != nil {
			return err
		}
	}
	s.done, s.held = true, false
	if s.parts != nil && !s.keep {
		ours := map[string]bool{}
		for _, o := range s.order {
			ours[o.name] = true
		}
		if err := s.clearFolder(s.path, ours); err != nil {
			return err
		}
	}
	s.release()
	return nil
}

// Close removes what was not finished.
func (s *fileSink) Close() error {
	defer s.release()
	var first error
	for _, o := range s.order {
		if err := s.shut(o); err != nil && first == nil && o.stdout {
			first = err
		}
		if o.temp != "" {
			s.discard(o.temp)
			o.temp = ""
		}
	}
	if s.stage != nil {
		return s.closeStaged()
	}
	if !s.done || s.held {
		s.release()
		for i := len(s.made) - 1; i >= 0; i-- {
			s.env.FS.Remove(s.made[i]) // fails where it is not empty, and that is right
		}
	}
	return first
}
