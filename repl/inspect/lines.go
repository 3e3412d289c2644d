package inspect

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Lines reads the rows of an output file as lines: without the header of CSV, unpacked.
type Lines struct {
	file io.Closer
	more io.Closer
	in   *bufio.Reader
	line []byte
}

// OpenLines opens an output from byte `from` to byte `to`, which lie between rows; to < 0 is the end. One that is not there
// has no rows.
func OpenLines(path string, from, to int64) (*Lines, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lines{in: bufio.NewReader(strings.NewReader(""))}, nil
	}
	if err == nil {
		if info, e := f.Stat(); e == nil && info.IsDir() {
			f.Close()
			return nil, errors.New("it is a folder of partitions; only single files are compared")
		}
		_, err = f.Seek(from, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the output: %w", err)
	}
	var in io.Reader = f
	if to >= 0 {
		in = io.LimitReader(f, max(to-from, 0))
	}
	l := &Lines{file: f, in: bufio.NewReaderSize(in, 1<<16)}
	if _, err := l.in.Peek(1); err == io.EOF {
		return l, nil
	}
	switch {
	case strings.HasSuffix(path, ".gz"):
		z, err := gzip.NewReader(l.in)
		if err != nil {
			l.Close()
			return nil, err
		}
		l.in = bufio.NewReaderSize(z, 1<<16)
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(l.in)
		if err != nil {
			l.Close()
			return nil, err
		}
		l.more = z.IOReadCloser()
		l.in = bufio.NewReaderSize(z, 1<<16)
	}
	plain := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	if from == 0 && strings.HasSuffix(plain, ".csv") {
		if _, err := l.Next(); err != nil && err != io.EOF {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// Next returns a line, which is valid up to the next call; io.EOF at the end.
func (l *Lines) Next() ([]byte, error) {
	l.line = l.line[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		l.line = append(l.line, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.line) > 0:
			err = nil
		}
		if n := len(l.line); n > 0 && l.line[n-1] == '\n' {
			l.line = l.line[:n-1]
		}
		return l.line, err
	}
}

// Close closes the file.
func (l *Lines) Close() {
	if l.more != nil {
		l.more.Close()
	}
	if l.file != nil {
		l.file.Close()
	}
}
