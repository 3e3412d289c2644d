package conn

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// csvFormat is CSV as a format of the file framework.
type csvFormat struct {
	csvDialect
	columns []types.Field // all columns of the source
	wanted  []int         // of columns, those to decode
	change  bool          // take the kind of change from the column _change
	guess   *csvGuess     // what decided the types of columns; nil if the script did
}

// csvLayout is where the columns lie in one file.
type csvLayout struct {
	*csvFormat
	fields int   // of a row
	at     []int // for each of columns, its field
	kind   int   // field of the column _change, or -1
	bytes  int   // of the header and what stands before it
	lines  int
}

// open reads the header, or the first row where there is none.
func (f *csvFormat) open(path string, head []byte, final bool) (layout, error) {
	l := &csvLayout{csvFormat: f, kind: -1}
	names, used, err := f.first(path, head, final)
	if err != nil {
		return nil, err
	}
	if f.header {
		l.bytes, l.lines = used, bytes.Count(head[:used], []byte{'\n'})
	}
	l.fields = len(names)
	switch {
	case names == nil: // an empty file has no rows
		l.fields = len(f.columns)
		l.at = make([]int, len(f.columns))
		for i := range l.at {
			l.at[i] = i
		}
		return l, nil
	case f.header:
		return l, l.byName(path, names)
	}
	want := len(f.columns)
	if f.change {
		want++
	}
	if len(names) < want {
		return nil, fmt.Errorf("%s has %s, the schema names %d: %s", path, count(len(names), "column"), want, f.names())
	}
	k := 0
	if f.change {
		l.kind, k = 0, 1
	}
	for i := range f.columns {
		l.at = append(l.at, i+k)
	}
	return l, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (f *csvFormat) names() string {
	s := types.Schema{Fields: f.columns}
	return strings.Join(s.Names(), ", ")
}

// byName finds the columns in a header.
func (l *csvLayout) byName(path string, names []string) error {
	for i, n := range names {
		if j := slices.Index(names, n); j < i {
			return fmt.Errorf("%s: the header has the column %s twice (fields %d and %d); rename one, or read with header: false", path, types.QuoteName(n), j+1, i+1)
		}
	}
	find := func(name string) (int, error) {
		if i := slices.Index(names, name); i >= 0 {
			return i, nil
		}
		quoted := make([]string, len(names))
		for i, n := range names {
			quoted[i] = types.QuoteName(n)
		}
		have, mean := strings.Join(quoted, ", "), ""
		if s := nearest(name, names); s != "" {
			mean = fmt.Sprintf("; did you mean %s?", types.QuoteName(s))
		} else if len(names) == 1 {
			for _, d := range []string{";", "\t", "|", ","} {
				if d[0] != l.delim && strings.Contains(names[0], d) {
					mean = fmt.Sprintf("; is the delimiter %q? Then say delimiter: %q", d, d)
				}
			}
		}
		return 0, fmt.Errorf("%s has no column %s%s It has %s", path, types.QuoteName(name), dot(mean), have)
	}
	for _, c := range l.columns {
		i, err := find(c.Name)
		if err != nil {
			return err
		}
		l.at = append(l.at, i)
	}
	if l.change {
		i, err := find(changeColumn)
		if err != nil {
			return err
		}
		l.kind = i
	}
	return nil
}

// dot ends a sentence.
func dot(s string) string {
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// first returns the fields of the first record, nil if there is none, and how many bytes it and what stands before it
// take. Names are trimmed, and nameless ones get one.
func (f *csvFormat) first(path string, head []byte, final bool) (names []string, used int, err error) {
	s := csvSplitter{csvDialect: f.csvDialect}
	for {
		p, skipped, whole := s.blank(head, used)
		if !whole && !final {
			return nil, 0, errShort
		}
		if !skipped {
			break
		}
		used = p
	}
	if used >= len(head) {
		if !final {
			return nil, 0, errShort
		}
		return nil, used, nil
	}
	end, whole, why := s.split(head, used, final)
	if !whole {
		return nil, 0, errShort
	}
	what, all := "the header", f.header
	if !f.header {
		what, all = "the first row", final && end == len(head)
	}
	if why != "" {
		return nil, 0, fmt.Errorf("%s: %s: %s", path, what, why)
	}
	for i := range s.spans {
		text, quoted := s.text(head, i)
		n := string(text)
		if !quoted {
			n = strings.TrimSpace(n)
			if all && strings.Contains(n, "\r") { // else the whole file would be one row
				return nil, 0, fmt.Errorf("%s: %s has a carriage return without a newline: lines end in \\n or \\r\\n; convert the file first: tr '\\r' '\\n'", path, what)
			}
		}
		if n == "" {
			n = fmt.Sprintf("column%d", i+1)
		}
		names = append(names, n)
	}
	if !f.header {
		for i := range names {
			names[i] = fmt.Sprintf("column%d", i+1)
		}
		end = 0
	}
	return names, end, nil
}

func (l *csvLayout) skip() (int, int) { return l.bytes, l.lines }

func (l *csvLayout) chunks() bool { return !l.lazy && l.comment == 0 }

func (l *csvLayout) odd(text []byte) bool {
	return l.quote != 0 && bytes.Count(text, []byte{l.quote})&1 == 1
}

func (l *csvLayout) trim(record []byte) []byte { return trimLineEnds(record) }

func (l *csvLayout) next(text []byte, odd bool) int { return l.csvDialect.next(text, odd) }

// next returns what follows the first newline before which an even number of quotes stand, one more if odd; -1 if
// there is none.
func (d *csvDialect) next(text []byte, odd bool) int {
	for p := 0; ; {
		i := bytes.IndexByte(text[p:], '\n')
		if i < 0 {
			return -1
		}
		if d.quote != 0 && bytes.Count(text[p:p+i], []byte{d.quote})&1 == 1 {
			odd = !odd
		}
		p += i + 1
		if !odd {
			return p
		}
	}
}
