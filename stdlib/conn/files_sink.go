package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
	if err == nil || errors.Is(err, exec.ErrReaderGone) {
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

	files map[string]*outFile // by partition; "" for one file
	order []*outFile
	open  int
	clock int64
	zips  []*gzip.Writer // for the next file
	made  []string       // folders
	done  bool
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
	s.ext = ext
	switch s.pack {
	case "gzip":
		s.ext += ".gz"
	case "zstd":
		s.ext += ".zst"
	}
	if w.Parts != nil {
		s.parts = w.PartNames
		return s, s.openFolder()
	}
	o := &outFile{name: s.path, stdout: s.path == stdio}
	if !o.stdout {
		o.name = linked(s.path)
		info, err := s.env.FS.Stat(o.name)
		switch {
		case err == nil && info.IsDir():
			return nil, &OutputError{s.path, errors.New("it is a folder; name a file in it, or write one file for each value with partition_by")}
		case err == nil:
			o.direct = !info.Mode().IsRegular() || systemFile(o.name)
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
	return s, s.openFile(o)
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

// systemFile reports whether a path names an open file, such as /dev/stdout or /proc/self/fd/3: whatever it leads to is
// written to, never replaced.
func systemFile(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

// linked returns what a path leads to if it is a symbolic link: that file is replaced, not the link.
func linked(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !systemFile(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	return path
}

// outFile is one file that is being written.
type outFile struct {
	name   string
	temp   string
	stdout bool
	direct bool      // a device or a named pipe: written as it is, without a temporary
	f      io.Writer // nil while it is not open
	close  []func() error
	begun  bool // its header is written or not wanted; that of standard output comes with the first rows
	used   int64
}

// temporaries tells the temporary files of one process apart.
var temporaries atomic.Int64

// openFile opens o, for the first time or again.
func (s *fileSink) openFile(o *outFile) error {
	switch {
	case o.stdout:
		o.f = pipe{s.env.Stdout}
	case o.direct:
		f, err := s.env.FS.Append(o.name)
		if err != nil {
			return outputError(o.name, err)
		}
		o.f, o.close = pipe{f}, append(o.close, f.Close)
	default:
		var f exec.File
		var err error
		if o.temp == "" {
			dir, base := filepath.Split(o.name)
			s.sweep(dir, base)
			o.temp = filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d-%d", base, os.Getpid(), temporaries.Add(1)))
			if err := s.adopt(o); err != nil {
				return err
			}
			f, err = s.env.FS.Create(o.temp)
		} else {
			f, err = s.env.FS.Append(o.temp)
		}
		if err != nil {
			return outputError(o.name, err)
		}
		o.f, o.close = f, append(o.close, f.Close)
	}
	switch s.pack {
	case "gzip":
		var z *gzip.Writer
		if n := len(s.zips); n > 0 {
			z, s.zips = s.zips[n-1], s.zips[:n-1]
			z.Reset(o.f)
		} else {
			z = gzip.NewWriter(o.f)
		}
		o.f, o.close = z, append(o.close, func() error {
			s.zips = append(s.zips, z)
			return z.Close()
		})
	case "zstd":
		z, err := zstd.NewWriter(o.f, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return outputError(o.name, err)
		}
		o.f, o.close = z, append(o.close, z.Close)
	}
	s.open++
	if o.begun || o.stdout {
		return nil
	}
	return s.begin(o)
}

// begin writes the header.
func (s *fileSink) begin(o *outFile) error {
	o.begun = true
	return s.write(o, s.header)
}

// adopt looks at the file that `append: true` adds to.
func (s *fileSink) adopt(o *outFile) error {
	if !s.keep {
		return nil
	}
	info, err := s.env.FS.Stat(o.name)
	if err != nil || info.Size() == 0 {
		return nil
	}
	o.begun = true
	if s.pack != "" || len(s.header) == 0 {
		return nil
	}
	f, err := s.env.FS.Open(o.name)
	if err != nil {
		return outputError(o.name, err)
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return outputError(o.name, err)
	}
	line, _, _ := bytes.Cut(trimMark(head[:n]), []byte{'\n'})
	want := bytes.TrimRight(s.header, "\r\n")
	if !bytes.Equal(bytes.TrimRight(line, "\r"), want) && len(s.header) < len(head) {
		return &OutputError{o.name, fmt.Errorf("the file has the header %q, the rows to append have %q", line, want)}
	}
	return nil
}

// sweep removes temporaries that a killed run left.
func (s *fileSink) sweep(dir, base string) {
	if dir == "" {
		dir = "."
	}
	entries, err := s.env.FS.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "."+base+".tmp-")
		pid, _, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(pid); ok && err == nil && !alive(n) {
			s.env.FS.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// alive reports whether a process may still run.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// shut closes o but keeps its temporary.
func (s *fileSink) shut(o *outFile) error {
	if o.f == nil {
		return nil
	}
	var first error
	for i := len(o.close) - 1; i >= 0; i-- {
		if err := o.close[i](); err != nil && first == nil {
			first = err
		}
	}
	o.f, o.close = nil, nil
	s.open--
	return outputError(o.name, first)
}

func (s *fileSink) write(o *outFile, b []byte) error {
	if !o.begun {
		if err := s.begin(o); err != nil {
			return err
		}
	}
	if len(b) == 0 {
		return nil
	}
	_, err := o.f.Write(b)
	return outputError(o.name, err)
}

// Write writes the lines of an encoded batch.
func (s *fileSink) Write(b *vec.Batch) error {
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
			err := s.write(o, b.Block)
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

// Finish gives all files their names.
func (s *fileSink) Finish() error {
	for _, o := range s.order {
		if err := s.write(o, nil); err != nil { // the header comes also without rows
			return err
		}
		if err := s.shut(o); err != nil {
			return err
		}
	}
	for _, o := range s.order {
		if err := s.publish(o); err != nil {
			return err
		}
	}
	s.done = true
	if s.parts != nil && !s.keep {
		return s.clearFolder(s.path, s.parts)
	}
	return nil
}

// publish gives a file its name, or adds it to the file that is there.
func (s *fileSink) publish(o *outFile) error {
	if o.stdout || o.temp == "" {
		return nil
	}
	info, err := s.env.FS.Stat(o.name)
	if !s.keep || err != nil || info.Size() == 0 {
		if err := s.env.FS.Rename(o.temp, o.name); err != nil {
			return outputError(o.name, err)
		}
		o.temp = ""
		return nil
	}
	if err := s.addTo(o, info); err != nil {
		return outputError(o.name, err)
	}
	err = s.env.FS.Remove(o.temp)
	o.temp = ""
	return outputError(o.name, err)
}

func (s *fileSink) addTo(o *outFile, info fs.FileInfo) (err error) {
	from, err := s.env.FS.Open(o.temp)
	if err != nil {
		return err
	}
	defer from.Close()
	old, err := s.env.FS.Open(o.name)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	_, err = old.ReadAt(last, info.Size()-1)
	old.Close()
	if err != nil {
		return err
	}
	to, err := s.env.FS.Append(o.name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			to.Truncate(info.Size())
		}
		if e := to.Close(); err == nil {
			err = e
		}
	}()
	if s.pack == "" && last[0] != '\n' {
		if _, err = to.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	_, err = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	return err
}

// Close removes what was not finished.
func (s *fileSink) Close() error {
	var first error
	for _, o := range s.order {
		if err := s.shut(o); err != nil && first == nil && o.stdout {
			first = err
		}
		if o.temp != "" {
			s.env.FS.Remove(o.temp)
			o.temp = ""
		}
	}
	if !s.done {
		for i := len(s.made) - 1; i >= 0; i-- {
			s.env.FS.Remove(s.made[i]) // fails where it is not empty, and that is right
		}
	}
	return first
}

// pipe is standard output, or a device or pipe with a name.
type pipe struct{ w io.Writer }

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = exec.ErrReaderGone
	}
	return n, err
}
