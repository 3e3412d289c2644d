package conn

import (
	"bytes"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// From the parts of a decoder to the rows of a source.

// scan is one source in a run, shared by its tasks.
type scan struct {
	*spec.Scan
	form   format
	files  []*input
	pack   string // option
	follow bool
	chunk  int64 // bytes
	tasks  int64
	relay  *relay
	done   progress     // chunks that were finished before a restart
	begun  []begun      // and those of which rows were emitted
	stop   atomic.Int64 // > 0: number of the first chunk that nobody wants, see Scan.Limit
}

// enough says that no rows are wanted from a chunk on.
func (s *scan) enough(chunk int64) {
	s.stop.Store(chunk)
	for t := range s.tasks {
		s.wake(t)()
	}
}

// unwanted reports whether the rows of a chunk are not wanted.
func (s *scan) unwanted(chunk int64) bool {
	stop := s.stop.Load()
	return stop > 0 && chunk >= stop
}

// trimLineEnds is layout.trim for records that line ends separate.
func trimLineEnds(record []byte) []byte { return bytes.TrimRight(record, "\r\n") }

// piece is a part whose event times are known.
type piece struct {
	batch *vec.Batch
	first int64         // number of its first row in the text
	high  types.Instant // highest event time
	fails []pieceError
	pos   []uint64 // room for positions, may be nil
}

type pieceError struct {
	row int // of the batch
	off int // of the record in the text
	raw string
	err error
}

// view is text as a string that shares its bytes.
func view(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return unsafe.String(&text[0], len(text))
}

// pieces computes event times and takes failed rows out. text is what the parts were decoded from.
func (s *scan) pieces(l layout, text []byte, list []part, into []piece) []piece {
	first := int64(0)
	for k := range list {
		p := &list[k]
		b := &vec.Batch{N: p.n, Cols: p.cols, Change: p.change}
		x := piece{batch: b, first: first, high: types.MinInstant}
		first += int64(p.n)
		end := func(row int) int {
			switch {
			case row+1 < p.n:
				return int(p.starts[row+1])
			case k+1 < len(list):
				return int(list[k+1].starts[0])
			}
			return len(text)
		}
		fail := func(row int, err error) {
			from := int(p.starts[row])
			x.fails = append(x.fails, pieceError{row, from, view(l.trim(text[from:end(row)])), err})
		}
		for _, f := range p.failed {
			fail(f.row, f.err)
		}
		b.Sel = without(b.N, nil, x.fails)
		if s.Time != nil && b.Rows() > 0 {
			n := len(x.fails)
			s.Time(b, fail)
			if len(x.fails) > n {
				b.Sel = without(b.N, b.Sel, x.fails[n:])
				sortFails(x.fails)
			}
			for i := range b.Rows() {
				x.high = max(x.high, b.Time[b.Row(i)])
			}
		}
		into = append(into, x)
	}
	return into
}

// without returns the rows of sel that are not among fails.
func without(n int, sel []uint32, fails []pieceError) []uint32 {
	if len(fails) == 0 {
		return sel
	}
	bad := vec.NewBitmap(n)
	for _, f := range fails {
		bad.Set(f.row)
	}
	out := make([]uint32, 0, n)
	for i := range n {
		if sel == nil && !bad.Get(i) {
			out = append(out, uint32(i))
		}
	}
	for _, r := range sel {
		if !bad.Get(int(r)) {
			out = append(out, r)
		}
	}
	return out
}

func sortFails(f []pieceError) {
	for i := 1; i < len(f); i++ { // two ascending runs, few of them: insertion is enough
		for j := i; j > 0 && f[j].row < f[j-1].row; j-- {
			f[j], f[j-1] = f[j-1], f[j]
		}
	}
}

// skip takes the first n rows out, which were emitted before a restart, and returns the highest event time up to them.
func (x *piece) skip(n int, high types.Instant) types.Instant {
	b := x.batch
	sel := make([]uint32, 0, b.Rows())
	for i := range b.Rows() {
		r := b.Row(i)
		switch {
		case r >= n:
			sel = append(sel, uint32(r))
		case b.Time != nil:
			high = max(high, b.Time[r])
		}
	}
	b.Sel = sel
	x.fails = slices.DeleteFunc(x.fails, func(f pieceError) bool { return f.row < n })
	return high
}

// rows returns how many rows are sent with the piece, failed ones included.
func (x *piece) rows() int64 { return int64(x.batch.Rows() + len(x.fails)) }

// send emits one piece whose text began at place at, and reports its failures. It returns the highest event time of the
// file so far. line tells the line of an offset of the text.
func (s *scan) send(x *piece, in *input, at place, out *exec.Out, failures *exec.Failures, line func(off int) int64) (types.Instant, error) {
	b := x.batch
	b.Pos = extend(nil, x.pos, b.N)
	pos := vec.Position(s.Ordinal, in.number, at.rows+x.first)
	for i := range b.Pos {
		b.Pos[i] = pos + uint64(i)
	}
	high := at.high
	if b.Time != nil {
		b.Mark = marks(b, high, s.Lag)
		high = max(high, x.high)
	}
	if s.Env.Stats != nil {
		s.Env.Stats.RowsIn.Add(int64(b.Rows()))
	}
	if len(x.fails) == 0 {
		out.Emit(b)
		return high, nil
	}
	errs := make([]*exec.RowError, len(x.fails))
	for i, f := range x.fails {
		errs[i] = &exec.RowError{Stage: s.Name, Source: in.name, Row: at.rows + x.first + int64(f.row) + 1, Raw: f.raw, Err: f.err}
	}
	if stops(failures) {
		errs = errs[:1]
		errs[0].Line = line(x.fails[0].off)
	}
	if err := failures.Add(out, errs); err != nil { // and none of the rows beside the failed one, whatever the schedule
		return high, err
	}
	out.Emit(b)
	return high, nil
}

// stops reports whether a failed row ends the run.
func stops(f *exec.Failures) bool { return f.Mode == "" || f.Mode == "fail" }
