package conn

import (
	"fmt"
	"math"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Going on with sources that make their rows. A chunk is emitted as a whole, so what a task must remember is its chunk.

// Save writes what the task needs to go on.
func (t *madeTask) Save(w *checkpoint.Writer) error {
	s := t.split
	task := t.chunk % int64(s.width)
	w.Uint(savedMade)
	w.Uint(uint64(s.width))
	if task == 0 {
		w.Int(s.made.chunk)
		s.done.save(w)
	}
	w.Int(t.chunk)
	if fault.On("forget-source-watermark") {
		t.marked = types.MinInstant
	}
	w.Int(t.marked)
	w.Bool(t.idle)
	w.Int(t.rows)
	elapsed := int64(0)
	if at := s.started.Load(); at != 0 {
		elapsed = s.scan.Env.Clock() - at
	}
	w.Int(elapsed)
	w.Uint(math.Float64bits(s.rate))
	s.relay.save(int(task), nil, w)
	return nil
}

// savedMaking is what all tasks have saved together.
type savedMaking struct {
	chunk   int64
	tasks   []savedTask
	places  []placed
	done    progress
	rows    int64 // that all tasks had sent
	elapsed int64 // wall time that the rate had to keep pace with
	rate    float64
	in      *checkpoint.Reader // the first task's, to note errors
}

func loadMaking(sc *spec.Scan) (*savedMaking, error) {
	v := &savedMaking{}
	tasks := 1
	for i := 0; i < tasks; i++ {
		if i >= len(sc.Restore) || sc.Restore[i] == nil {
			return nil, fmt.Errorf("source %s: the checkpoint has nothing of task %d", sc.Name, i)
		}
		r := sc.Restore[i]
		if kind := r.Uint(); kind != savedMade {
			r.Fail("it is not of a source that makes its rows, but of kind %d", kind)
		}
		n := r.Uint()
		if i == 0 {
			if n == 0 || n > uint64(len(sc.Restore)) {
				r.Fail("%d tasks", n)
			}
			tasks, v.in = int(n), r
			v.chunk, v.done = r.Int(), loadProgress(r)
			if v.chunk <= 0 {
				r.Fail("chunks of %d", v.chunk)
			}
		} else if n != uint64(tasks) {
			r.Fail("%d tasks, not %d", n, tasks)
		}
		x := savedTask{next: r.Int(), w: r.Int(), idle: r.Bool()}
		v.tasks = append(v.tasks, x)
		v.rows = addRows(v.rows, r)
		v.elapsed, v.rate = max(v.elapsed, r.Int()), math.Float64frombits(r.Uint())
		v.places = append(v.places, loadPlaces(r)...)
		if x.next < 0 || x.next > mostEvents {
			r.Fail("chunk %d", x.next)
		}
		if err := r.Done(); err != nil {
			return nil, damaged(sc.Name, err)
		}
	}
	d := make(dealt, len(v.tasks))
	for i, x := range v.tasks {
		d[i] = x.next
	}
	d.check(v.in)
	v.done = v.done.add(d)
	return v, nil
}

// resume takes over what the tasks share.
func (s *madeSplit) resume(v *savedMaking) error {
	s.done = v.done
	if v.elapsed > 0 && s.rate > 0 { // the pace goes on as if no time had passed since
		now := s.scan.Env.Clock()
		elapsed := v.elapsed
		if v.rate != s.rate { // and as if it had been this one
			lo, _ := s.done.bounds()
			elapsed = max(1, int64(float64(lo*s.made.chunk)/s.rate*1e9))
		}
		s.started.Store(now - elapsed)
		s.emitted.Store(now)
	}
	s.relay.waiting = nil
	stop := int64(math.MaxInt64)
	if s.ticks >= 0 {
		stop = (s.ticks + s.made.chunk - 1) / s.made.chunk
	}
	s.relay.restore(v.places, s.done, func(int64) bool { return false }, stop, v.in)
	if err := v.in.Err(); err != nil {
		return damaged(s.scan.Name, err)
	}
	return nil
}

// resume makes the task go on where the old ones were.
func (t *madeTask) resume(v *savedMaking) {
	task := int(t.chunk)
	if t.again = true; task == 0 {
		t.rows = v.rows
	}
	if t.chunk = t.split.done.next(t.chunk, int64(t.split.width)); fault.On("skip-chunk") {
		t.chunk += int64(t.split.width)
	}
	if len(v.tasks) == t.split.width {
		t.marked, t.idle = v.tasks[task].w, v.tasks[task].idle
		return
	}
	t.marked, t.idle = types.MaxInstant, true
	for _, x := range v.tasks {
		t.marked = min(t.marked, x.w)
		t.idle = t.idle && x.idle
	}
}

// madeReached tells how many rows were made.
func madeReached(saved []*checkpoint.Reader) (spec.Reached, error) {
	v, err := loadMaking(&spec.Scan{Restore: saved})
	if err != nil {
		return spec.Reached{}, err
	}
	return spec.Reached{Rows: v.rows, Text: fmt.Sprintf("row %d", v.rows)}, nil
}
