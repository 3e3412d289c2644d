package job

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/vec"
)

// Tap hands f what a stage or source of the run emits, by its stable name, until stop is called or over is closed: the run has
// ended. See exec.Run.Tap for what f may do.
func (j *Job) Tap(id string, f func(*vec.Batch)) (stop func(), over <-chan struct{}, err error) {
	r, state := j.now()
	if state.Over() {
		return nil, nil, fmt.Errorf("the job is %s; nothing flows", state)
	}
	stop, ok := r.exec.Tap(id, f)
	if !ok {
		return nil, nil, fmt.Errorf("the job has no stage %s", id)
	}
	return stop, r.exec.Done(), nil
}
