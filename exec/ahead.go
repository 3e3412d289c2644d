package exec

import (
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// ahead is what is stored of a large state while the rest of it is still being written: few bytes wait in memory, and the
// disk has begun when the last of them come. That its checkpoint is never published does no harm: nothing names the blocks
// then.
type ahead struct {
	waiting atomic.Int32     // how often something was handed to the storage that is not stored yet
	blocks  []checkpoint.Ref // used by the storage alone, as is
	err     error            // the first; the store does nothing more then
}

// mostWaiting is how much may wait for the storage before the task writes no more of the state: memory that is used again
// soon is still in the processor's cache.
const mostWaiting = 3

// ahead returns a place for what w, a writer of task t, has stored ahead, and has w do so.
func (s *storage) ahead(t *Task, w *checkpoint.Writer) *ahead {
	a := &ahead{}
	w.Ahead = func(data [][]byte, free func()) {
		a.waiting.Add(1)
		s.post(func() error {
			a.add(s.store, data)
			free()
			if a.waiting.Add(-1) == mostWaiting-1 {
				t.Wake()
			}
			return nil
		})
	}
	return a
}

// full reports whether the task is to wait for the storage.
func (a *ahead) full() bool { return a.waiting.Load() >= mostWaiting }

func (a *ahead) add(store *checkpoint.Store, data [][]byte) {
	if a.err != nil {
		return
	}
	ref, err := store.Append(StateBlock, data...)
	if a.err = err; err == nil {
		a.blocks = append(a.blocks, ref)
	}
}

// rest stores what is left of a state and returns all of its blocks.
func (a *ahead) rest(store *checkpoint.Store, data [][]byte) ([]checkpoint.Ref, error) {
	if fault.On("forget-ahead") {
		a.blocks = nil
	}
	a.add(store, data)
	return a.blocks, a.err
}
