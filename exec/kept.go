package exec

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
)

// A Kept is the state of an operator in one task of a run, as Load takes it.
type Kept struct {
	Node, Fit string
	Task      int // index in its group
	Data      []byte
}

// ErrTooLarge is the error of state that is more than one may look at.
var ErrTooLarge = fmt.Errorf("the state is too large")

// lookID is the id under which state is saved that nobody keeps: no checkpoint builds on it.
const lookID = ^checkpoint.ID(0)

// Kept returns the state of operators, by their stable names, of all their tasks, as it is between two steps of each: of a
// run that is paused, at one moment. Each task stands still for as long as it takes; one whose state is more than so many
// bytes refuses with ErrTooLarge. Sinks are not asked: they would seal what they hold.
func (j *Job) Kept(nodes []string, most int) ([]Kept, error) {
	var mu sync.Mutex
	var out []Kept
	var failed error
	done := j.Between(func(t *Task) {
		for _, n := range t.nodes {
			if n.sink || !slices.Contains(nodes, n.id) {
				continue
			}
			data, err := saved(n.op, most)
			mu.Lock()
			if err != nil && failed == nil {
				failed = err
			}
			if len(data) > 0 {
				out = append(out, Kept{Node: n.id, Fit: n.fit, Task: t.index, Data: data})
			}
			mu.Unlock()
		}
	})
	select {
	case <-done:
	case <-j.gone:
		return nil, ErrRunOver
	}
	slices.SortStableFunc(out, func(a, b Kept) int { return a.Task - b.Task })
	return out, failed
}

func saved(op Operator, most int) ([]byte, error) {
	s, ok := op.(Saver)
	if !ok {
		return nil, nil
	}
	w := checkpoint.NewWriter(lookID, 0)
	w.AtOnce = most // nothing is frozen that fits
	if err := s.Save(w); err != nil {
		return nil, err
	}
	for w.Pending() {
		if w.Len() > most {
			w.Abort()
			return nil, ErrTooLarge
		}
		w.Continue()
	}
	if w.Len() > most {
		return nil, ErrTooLarge
	}
	data, _, _ := w.Output()
	return data, nil
}
