package exec

import (
	"sync"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// A StageCount is what passed a source or an operator of a run, of all its tasks.
type StageCount struct {
	ID      string // stable name
	Source  bool
	Sink    bool
	In, Out int64         // rows since the run began; Out those of the main output
	Waiting int64         // rows in the channels that lead to it, now
	W       types.Instant // how far event time has come in its slowest task; MinInstant: not known
}

// Stages counts the sources and operators of the run, in its order. It may be called at any time.
func (r *Run) Stages() (out []StageCount) {
	at := map[string]int{}
	add := func(id string, in, gave int64, w types.Instant) {
		k, ok := at[id]
		if !ok {
			k = len(out)
			at[id] = k
			out = append(out, StageCount{ID: id, W: types.MaxInstant})
		}
		s := &out[k]
		s.In, s.Out, s.W = s.In+in, s.Out+gave, min(s.W, w)
	}
	for _, t := range r.tasks {
		if t.source != nil {
			add(t.group, 0, t.heads.gave.Load(), types.MinInstant)
			out[at[t.group]].Source = true
		}
		for i := len(t.nodes) - 1; i >= 0; i-- { // children stand before their parents
			n := t.nodes[i]
			w := n.told.Load()
			if w == 0 {
				w = types.MinInstant
			}
			add(n.id, n.took.Load(), n.out.gave.Load(), w)
			out[at[n.id]].Sink = n.sink
		}
		for _, in := range t.inputs {
			out[at[t.head.id]].Waiting += int64(in.ch.Rows())
		}
	}
	return out
}

// Weigh returns how many bytes of state the operators hold, by stable name and of all their tasks: about what a checkpoint
// would save of them now that builds on no other. Sinks are not asked. ok is false if the run has ended, or if a task is
// still in its step after so long.
func (j *Job) Weigh(patience time.Duration) (bytes map[string]int64, ok bool) {
	var mu sync.Mutex
	bytes = map[string]int64{}
	done := j.Between(func(t *Task) {
		for _, n := range t.nodes {
			s, saves := n.op.(Saver)
			if n.sink || !saves {
				continue
			}
			w := checkpoint.NewWriter(lookID, 0)
			err := s.Save(w)
			weight := w.Weight()
			w.Abort()
			if err == nil {
				mu.Lock()
				bytes[n.id] += int64(weight)
				mu.Unlock()
			}
		}
	})
	select {
	case <-done:
		return bytes, true
	case <-j.gone:
	case <-time.After(patience):
	}
	return nil, false
}

// InFlight returns how many rows wait in channels. It may be called at any time.
func (r *Run) InFlight() int64 {
	n := 0
	for _, t := range r.tasks {
		for _, in := range t.inputs {
			n += in.ch.Rows()
		}
	}
	return int64(n)
}

// Rows returns the number of rows that wait.
func (c *Channel) Rows() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows
}
