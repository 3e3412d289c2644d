package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ebb-lang/ebb/exec"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// linked returns what a path leads to if it is a symbolic link: that file is replaced, not the link.
func linked(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !exec.OpenFile(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	return path
}

// outFile is one file that is being written.
type outFile struct {
	key    string // partition; "" for one file
	name   string
	temp   string // under which it is written; "" in a run that takes checkpoints, once the first one was asked for
	stdout bool
	direct bool      // a device or a named pipe: written as it is, without a temporary
	f      io.Writer // nil while it is not open
	close  []func() error
	begun  bool // its header is written or not wanted; that of standard output comes with the first rows
	used   int64
	rows   int64 // written

	size int64  // of the file once all that was sealed is in it
	held []byte // written and neither sealed nor staged
}

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
	case s.stage != nil:
		o.f = staged{s.stage, o}
		if !o.begun {
			if err := s.extend(o); err != nil {
				return err
			}
		}
	default:
		f, err := s.openTemp(o)
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

// openTemp opens the temporary file of o.
func (s *fileSink) openTemp(o *outFile) (exec.File, error) {
	if o.temp != "" {
		return s.env.FS.Append(o.temp)
	}
	if s.swept {
		s.sweep(o.name)
	}
	if err := s.adopt(o); err != nil {
		return nil, err
	}
	var err error
	if o.temp, err = s.temporary(o.name); err != nil {
		return nil, err
	}
	return s.env.FS.Create(o.temp)
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

// ending returns the size of the file that rows are appended to, and what must be written first: its last line may have
// no end.
func (s *fileSink) ending(o *outFile) (size int64, first []byte, err error) {
	info, err := s.env.FS.Stat(o.name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil, nil
	}
	if err != nil || s.pack != "" {
		return info.Size(), nil, err
	}
	f, err := s.env.FS.Open(o.name)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	last := []byte{0}
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return 0, nil, err
	}
	if last[0] != '\n' {
		first = []byte{'\n'}
	}
	return info.Size(), first, nil
}

// shut closes o but keeps what was written.
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

// publish gives a file its name, or adds it to the file that is there.
func (s *fileSink) publish(o *outFile) error {
	if o.stdout || o.temp == "" {
		return nil
	}
	size, first := int64(0), []byte(nil)
	if s.keep {
		var err error
		if size, first, err = s.ending(o); err != nil {
			return outputError(o.name, err)
		}
	}
	if size == 0 {
		if err := s.env.FS.Rename(o.temp, o.name); err != nil {
			return outputError(o.name, err)
		}
		s.forgotten(o.temp)
		o.temp = ""
		return nil
	}
	if err := s.addTo(o, size, first); err != nil {
		return outputError(o.name, err)
	}
	err := s.discard(o.temp)
	o.temp = ""
	return outputError(o.name, err)
}

func (s *fileSink) addTo(o *outFile, size int64, first []byte) (err error) {
	from, err := s.env.FS.Open(o.temp)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := s.env.FS.Append(o.name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			to.Truncate(size)
		}
		if e := to.Close(); err == nil {
			err = e
		}
	}()
	if _, err = to.Write(first); err != nil {
		return err
	}
	_, err = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	return err
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
