package inspect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Export writes the states and the rows in flight of a checkpoint to files of a new folder, as jsonl or csv, and says to
// out what it wrote. What can be read is written; what cannot is said at the end.
func (f *Folder) Export(out io.Writer, m *checkpoint.Manifest, to, format string) error {
	to, err := filepath.Abs(to) // reading states changes the directory
	if err == nil {
		err = emptyFolder(to)
	}
	if err != nil {
		return &exec.OutputError{Err: fmt.Errorf("cannot export to %s: %w", to, err)}
	}
	x := &exporting{out: out, to: to, format: format}
	all, err := f.flights(m)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := x.file("inflight", e.edge, e.schema, e.rows); err != nil {
			return err
		}
	}
	var failed []error
	l, err := f.look(m)
	if err != nil {
		return err
	}
	stage := func(id string) bool {
		_, ok := l.c.Stateful(l.g, id)
		return ok
	}
	for _, id := range names([2]*checkpoint.Manifest{m, m}, func(m *checkpoint.Manifest, add func(string)) {
		for _, t := range m.Tasks {
			for _, n := range t.Nodes {
				if id := strings.TrimSuffix(n.ID, "/partial"); stage(id) {
					add(id)
				}
			}
		}
	}) {
		s, err := l.state(id)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err := x.file("state", id, s.Rows, s.batches); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	if x.files == 0 {
		fmt.Fprintln(out, "the checkpoint holds no rows, neither in flight nor in states")
	}
	return nil
}

func emptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return reason(err)
	}
	there, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return reason(err)
	case len(there) > 0:
		return errors.New("it is not empty; name a new folder")
	}
	return nil
}

type exporting struct {
	out        io.Writer
	to, format string
	taken      []string
	files      int
}

// file writes one file.
func (x *exporting) file(kind, name string, s types.Schema, batches []*vec.Batch) (err error) {
	dir := filepath.Join(x.to, kind)
	path := filepath.Join(dir, x.fileName(name)+"."+x.format)
	defer func() {
		if err != nil {
			err = &exec.OutputError{Err: fmt.Errorf("cannot write %s: %w", path, reason(err))}
		}
	}()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	err = (&Printer{Format: x.format, Out: out}).Rows(s, batches...)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	n := 0
	for _, b := range batches {
		n += b.Rows()
	}
	x.files++
	fmt.Fprintf(x.out, "%s: %d rows\n", path, n)
	return nil
}

// fileName makes a name that every file system takes, one of its own.
func (x *exporting) fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.', r == '#':
			return r
		case r == '>':
			return '-'
		case r == ' ':
			return -1
		}
		return '_'
	}, strings.TrimLeft(name, "."))
	if safe == "" {
		safe = "_"
	}
	unique := safe
	for n := 2; slices.Contains(x.taken, unique); n++ {
		unique = fmt.Sprintf("%s-%d", safe, n)
	}
	x.taken = append(x.taken, unique)
	return unique
}
