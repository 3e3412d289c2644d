package conn

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Partitions: `partition_by` writes DIR/day=2026-01-31/part-0.csv. An encoder names the partition of each row as a
// path (day=2026-01-31), the sink finds the file.

// nullPart stands for a null value in the name of a partition.
const nullPart = "__null__"

// partNamer makes the paths of partitions. It belongs to one encoder.
type partNamer struct {
	w     *spec.Write
	known map[string]string // by the values' text
	key   []byte
	ends  []int
}

func newPartNamer(w *spec.Write) *partNamer {
	if w.Parts == nil {
		return nil
	}
	return &partNamer{w: w, known: map[string]string{}}
}

// column returns the partition of each physical row of b that is selected; text writes a value that is not null.
func (p *partNamer) column(b *vec.Batch, text func(dst []byte, c *vec.Column, row int) []byte) ([]string, error) {
	cols, names, err := p.w.Parts(b)
	if err != nil {
		return nil, err
	}
	if names == nil {
		names = p.w.PartNames
	}
	out := make([]string, b.Rows())
	for i := range out {
		r := b.Row(i)
		p.key, p.ends = p.key[:0], p.ends[:0]
		for _, c := range cols {
			if c.Null(r) {
				p.key = append(p.key, 0) // no value's text starts so, or it is told apart by the 1 below
			} else {
				p.key = append(p.key, 1)
				p.key = text(p.key, c, r)
			}
			p.ends = append(p.ends, len(p.key))
		}
		s, ok := p.known[string(p.key)]
		if !ok {
			s = p.path(names)
			if len(p.known) >= 1<<14 {
				clear(p.known)
			}
			p.known[string(p.key)] = s
		}
		out[i] = s
	}
	return out, nil
}

func (p *partNamer) path(names []string) string {
	var s strings.Builder
	from := 0
	for k, end := range p.ends {
		if k > 0 {
			s.WriteByte('/')
		}
		s.WriteString(escapePart(names[k]))
		s.WriteByte('=')
		if v := p.key[from:end]; v[0] == 0 {
			s.WriteString(nullPart)
		} else if t := escapePart(string(v[1:])); t == nullPart {
			s.WriteString("%5F" + nullPart[1:])
		} else {
			s.WriteString(t)
		}
		from = end
	}
	return s.String()
}

// escapePart percent-encodes what may not stand in the name of a folder everywhere.
func escapePart(s string) string {
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := range len(s) {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~'
		if plain && b == nil {
			continue
		}
		if b == nil {
			b = append(make([]byte, 0, len(s)+8), s[:i]...)
		}
		if plain {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	if b == nil {
		return s
	}
	return string(b)
}

// openFolder makes the folder of a partitioned output.
func (s *fileSink) openFolder() error {
	if s.path == stdio {
		return errors.New("standard output cannot be partitioned; give partition_by a folder")
	}
	info, err := s.env.FS.Stat(s.path)
	if err == nil && !info.IsDir() {
		return &OutputError{s.path, errors.New("it is a file, and partition_by writes a folder")}
	}
	return s.makeFolder(s.path)
}

// makeFolder makes a folder and remembers what it made.
func (s *fileSink) makeFolder(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := s.env.FS.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	if len(missing) == 0 {
		return nil
	}
	if err := s.env.FS.MkdirAll(dir); err != nil {
		return outputError(dir, err)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		s.made = append(s.made, missing[i])
	}
	return nil
}

// partition returns the file of a partition.
func (s *fileSink) partition(part string) (*outFile, error) {
	if o := s.files[part]; o != nil {
		return o, nil
	}
	dir := filepath.Join(s.path, filepath.FromSlash(part))
	if s.stage == nil {
		if err := s.makeFolder(dir); err != nil {
			return nil, err
		}
	}
	part = strings.Clone(part)
	o := &outFile{key: part, name: filepath.Join(dir, "part-0"+s.ext)}
	s.mu.Lock()
	s.files[part] = o
	s.mu.Unlock()
	s.order = append(s.order, o)
	return o, nil
}

// clearFolder removes the partition files of an earlier run: those that are not ours. That they are gone is durable.
func (s *fileSink) clearFolder(dir string, ours map[string]bool) error {
	changed, err := s.clearIn(dir, s.parts, ours)
	if err == nil && changed {
		err = outputError(dir, s.syncDir(dir))
	}
	return err
}

// clearIn clears a folder of the named parts. It reports whether a name in it has gone, which is not durable yet.
func (s *fileSink) clearIn(dir string, parts []string, ours map[string]bool) (changed bool, err error) {
	entries, err := s.env.FS.ReadDir(dir)
	if err != nil {
		return false, outputError(dir, err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case len(parts) > 0 && e.IsDir() && strings.HasPrefix(e.Name(), escapePart(parts[0])+"="):
			within, err := s.clearIn(name, parts[1:], ours)
			switch {
			case err != nil:
				return false, err
			case s.env.FS.Remove(name) == nil: // it is empty now
				changed = true
			case within:
				if err := s.syncDir(name); err != nil {
					return false, outputError(name, err)
				}
			}
		case len(parts) == 0 && e.Name() == "part-0"+s.ext && !ours[name]:
			if err := s.env.FS.Remove(name); err != nil {
				return false, outputError(name, fmt.Errorf("it is of an earlier run: %w", err))
			}
			changed = true
		}
	}
	return changed, nil
}
