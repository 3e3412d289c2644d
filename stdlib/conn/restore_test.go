package conn

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// A source that is restarted again and again, at any parallelism, from checkpoints for which its tasks save at different
// moments, gives the rows of an undisturbed run: what each task emitted before it saved, and then what follows.

// emission is a row that a source has emitted, by its position.
type emission struct {
	pos  uint64
	text string // values and, of late rows, the mark
}

// restarts drives a source through restarts.
type restarts struct {
	t    testing.TB
	rnd  *rand.Rand
	open func(restore []*checkpoint.Reader, width int) ([]exec.Source, error)
	now  func(n int64) // lets time pass; may be nil
	// reached is the connector's, see spec.Conn.
	reached func([]*checkpoint.Reader) (spec.Reached, error)

	id   checkpoint.ID
	rows []emission
	errs []string
	high types.Instant // highest watermark
}

// widths are the numbers of tasks that are tried.
var widths = []int{1, 2, 3, 5}

// run restarts n times and then reads to the end.
func (r *restarts) run(n int) error {
	var saved []*checkpoint.Reader
	r.high = types.MinInstant
	for left := n; ; left-- {
		sources, err := r.open(saved, widths[r.rnd.IntN(len(widths))])
		if err != nil {
			return err
		}
		parts, err := r.drive(sources, left > 0)
		for _, s := range sources {
			s.Close()
		}
		if err != nil || parts == nil {
			return err
		}
		saved = parts
		if err := r.told(saved); err != nil {
			return err
		}
	}
}

// told checks that what was saved says how many rows were emitted.
func (r *restarts) told(saved []*checkpoint.Reader) error {
	copies := make([]*checkpoint.Reader, len(saved))
	for i, x := range saved {
		c := *x
		copies[i] = &c
	}
	at, err := r.reached(copies)
	if n := len(r.rows) + len(r.errs); err == nil && (at.Rows != int64(n) || at.Text == "") {
		err = fmt.Errorf("%d rows were emitted, the source says %+v", n, at)
	}
	return err
}

// drive polls the sources in any order; with stop it saves at some moment and returns what was saved, nil once all ended.
func (r *restarts) drive(sources []exec.Source, stop bool) ([]*checkpoint.Reader, error) {
	type saver interface {
		Save(w *checkpoint.Writer) error
	}
	n := len(sources)
	saved := make([]*checkpoint.Reader, n)
	outs := make([]*exec.Out, n)
	for i := range sources {
		w := types.MinInstant
		outs[i] = exec.NewTap(func(port int, it exec.Item) {
			if it.Kind == exec.Rows && port == 0 {
				r.check(it.Batch, w)
			}
			if it.Kind == exec.Watermark {
				if it.W < w {
					r.t.Fatalf("the watermark goes back from %d to %d", w, it.W)
				}
				w = it.W
			}
			if saved[i] == nil {
				r.take(port, it)
			}
		})
	}
	save := func(i int) error {
		w := checkpoint.NewWriter(r.id, 0)
		if err := sources[i].(saver).Save(w); err != nil {
			return err
		}
		data, _, _ := w.Output()
		saved[i] = checkpoint.NewReader(r.id, data)
		return nil
	}
	done := make([]bool, n)
	left := n
	begin := r.rnd.IntN(200)
	if r.rnd.IntN(3) == 0 {
		begin = r.rnd.IntN(8)
	}
	missing := n
	stalled := time.Now()
	for k := 0; left > 0 || stop; k++ {
		i := r.rnd.IntN(n)
		switch {
		case stop && (k == begin || left == 0 && k < begin): // a new checkpoint, perhaps aborted before all have saved
			r.id++
			begin = k
			if r.rnd.IntN(3) == 0 {
				for range r.rnd.IntN(n) {
					w := checkpoint.NewWriter(r.id, 0)
					if err := sources[r.rnd.IntN(n)].(saver).Save(w); err != nil {
						return nil, err
					}
				}
				r.id++
			}
		case stop && k > begin && saved[i] == nil && (r.rnd.IntN(8) == 0 || left == 0):
			if err := save(i); err != nil {
				return nil, err
			}
			if missing--; missing == 0 {
				return saved, nil
			}
		}
		if done[i] {
			continue
		}
		st, err := sources[i].Poll(outs[i])
		if err != nil {
			return nil, err
		}
		if r.now != nil {
			r.now(int64(r.rnd.IntN(2e6)))
		}
		switch st {
		case exec.Done:
			done[i] = true
			left--
		case exec.Idle:
			if time.Since(stalled) > 20*time.Second {
				r.t.Fatal("no progress")
			}
			if k%64 == 0 {
				time.Sleep(10 * time.Microsecond)
			}
			continue
		}
		stalled = time.Now()
	}
	return nil, nil
}

// check checks that no row is made late by a watermark that its own mark does not know of.
func (r *restarts) check(b *vec.Batch, w types.Instant) {
	for i := range b.Rows() {
		row := b.Row(i)
		if b.Time != nil && b.Time[row] < w && (b.Mark == nil || b.Mark[row] < w) {
			r.t.Fatalf("a row of %d comes behind the watermark %d", b.Time[row], w)
		}
	}
}

// take notes what was emitted before its task saved.
func (r *restarts) take(port int, it exec.Item) {
	switch {
	case it.Kind == exec.Watermark:
		r.high = max(r.high, it.W)
	case it.Kind == exec.Rows && port == 1:
		for i := range it.Batch.Rows() {
			b := it.Batch
			r.errs = append(r.errs, fmt.Sprintf("%s %d: %s | %s", b.Cols[3].Strs[i], b.Cols[4].Ints[i], b.Cols[0].Strs[i], b.Cols[2].Strs[i]))
		}
	case it.Kind == exec.Rows:
		r.rows = append(r.rows, emissions(it.Batch)...)
	}
}

func emissions(b *vec.Batch) []emission {
	var out []emission
	for i := range b.Rows() {
		row := b.Row(i)
		var v []any
		for _, c := range b.Cols {
			v = append(v, c.Value(row))
		}
		e := emission{b.Pos[row], fmt.Sprintf("%#v", v)}
		if b.Mark != nil && b.Time[row] < b.Mark[row] {
			e.text += fmt.Sprintf(" late for %d", b.Mark[row])
		}
		out = append(out, e)
	}
	return out
}

// sorted returns what was emitted in the order of the source.
func (r *restarts) sorted() ([]emission, []string) {
	sort.Slice(r.rows, func(i, j int) bool { return r.rows[i].pos < r.rows[j].pos })
	sort.Strings(r.errs)
	return r.rows, r.errs
}

// again makes restarts of files that are read with a format's opener.
func (r read) again(t testing.TB, env *exec.Env, seed uint64, open func(*spec.Scan) ([]exec.Source, error)) *restarts {
	return &restarts{t: t, rnd: rand.New(rand.NewPCG(2, seed)), reached: filesReached, open: func(restore []*checkpoint.Reader, width int) ([]exec.Source, error) {
		r.width = width
		s := r.scanOf(env)
		s.Restore = restore
		return open(s)
	}}
}
